package wacz

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/extsort"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/warc"
)

// page is a line of pages.jsonl.
type page struct {
	ID    string `json:"id"`
	URL   string `json:"url"`
	Date  string `json:"ts"`
	Title string `json:"title,omitempty"`
}

// pagesHead is the first line.
const pagesHead = `{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}`

// pageList finds the pages that have a capture. Sorted together, the captures of a URL come right
// before its pages.
type pageList struct {
	found *extsort.Sorter // URL, NUL; behind it, for a page, its number and its JSON
	n     int
	line  []byte
}

func newPageList() *pageList { return &pageList{found: extsort.New("")} }

func (l *pageList) close() { l.found.Close() }

func (l *pageList) capture(url string) error {
	if strings.Contains(url, "\x00") {
		return nil // no URL has it, and the lines of the list are put together with it
	}
	l.line = append(append(l.line[:0], url...), 0)
	return l.found.Add(l.line)
}

// add adds a page.
func (l *pageList) add(url string, at time.Time, title string) error {
	if strings.Contains(url, "\x00") {
		return nil
	}
	date := at.UTC().Format("2006-01-02T15:04:05Z")
	id := sha256.Sum256([]byte(url + "\n" + date))
	var about bytes.Buffer
	enc := json.NewEncoder(&about)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(page{hex.EncodeToString(id[:10]), url, date, title}); err != nil {
		return err
	}
	l.n++
	l.line = fmt.Appendf(l.line[:0], "%s\x00%016x%s", url, l.n, bytes.TrimSpace(about.Bytes()))
	return l.found.Add(l.line)
}

// numberSize is the length of a page's number.
const numberSize = 16

// write writes the pages in the order in which they were added, and returns the first.
func (l *pageList) write(w io.Writer) (first page, err error) {
	pages := extsort.New("") // number, JSON
	defer pages.Close()
	var captured []byte // the last URL with a capture
	err = l.found.Each(func(line []byte) error {
		url, about, _ := bytes.Cut(line, []byte{0})
		if len(about) == 0 {
			captured = append(captured[:0], url...)
			return nil
		}
		if !bytes.Equal(url, captured) {
			return nil
		}
		return pages.Add(about)
	})
	if err != nil {
		return page{}, err
	}
	err = writeLines(w, func(use func([]byte) error) error {
		if err := use([]byte(pagesHead)); err != nil {
			return err
		}
		return pages.Each(func(line []byte) error {
			about := line[numberSize:]
			if first.URL == "" {
				if err := json.Unmarshal(about, &first); err != nil {
					return err
				}
			}
			return use(about)
		})
	})
	return first, err
}

// mostTitle is the most bytes of a page that are read for its title.
const mostTitle = 256 << 10

// titleOf returns the title of a page, or "".
func titleOf(m *warc.Message) string {
	body, err := m.Body()
	if err != nil {
		return ""
	}
	start, _ := io.ReadAll(io.LimitReader(body, mostTitle)) // of a damaged page, what can be read
	is := m.Header.Get("Content-Type")
	text, name := charset.UTF8(is, start)
	e := links.Extractor{}
	return e.Extract(links.Document{ContentType: is, Body: text, Charset: name}, func(links.Link) bool { return true }).Title
}

func writeLines(w io.Writer, all lines) error {
	out := bufio.NewWriter(w)
	err := all(func(line []byte) error {
		out.Write(line)
		return out.WriteByte('\n')
	})
	return errors.Join(err, out.Flush())
}
