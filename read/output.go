package read

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Lines writes the texts of a job as lines of JSON. Earlier is what was written so before, or nil:
// then each line says what has changed since, and pages that are no longer there have a line, too.
func Lines(ctx context.Context, dir string, out io.Writer, earlier io.Reader, o Options) (Counts, error) {
	w := bufio.NewWriterSize(out, 256<<10)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	var c Counts
	before := newEarlier(earlier, func(p *Page) error {
		c.Gone++
		return enc.Encode(Page{URL: p.URL, Change: Gone})
	})
	err := each(ctx, dir, "", o, &c, func(_ *entry, p *Page) error {
		if earlier != nil {
			was, err := before.upTo(p.URL)
			if err != nil {
				return err
			}
			p.Change = c.compared(was, p)
		}
		c.Pages++
		return enc.Encode(p)
	})
	if err == nil {
		err = before.end()
	}
	return c, errors.Join(err, w.Flush())
}

// Document writes the texts of a job into one document. Each has what is known of its page in
// front, as in the files of Folder.
func Document(ctx context.Context, dir string, out io.Writer, o Options) (Counts, error) {
	w := bufio.NewWriterSize(out, 256<<10)
	var c Counts
	err := each(ctx, dir, "", o, &c, func(_ *entry, p *Page) error {
		c.Pages++
		text := strings.TrimRight(p.front()+p.Markdown+p.Text, "\n")
		_, err := w.WriteString(text + "\n\n")
		return err
	})
	return c, errors.Join(err, w.Flush())
}

// compared counts a page and says what has become of it since.
func (c *Counts) compared(was *Page, is *Page) Change {
	switch {
	case was == nil:
		c.New++
		return New
	case was.Hash != is.Hash:
		c.Changed++
		return Changed
	}
	c.Unchanged++
	return Unchanged
}

// earlier reads what was written before, in the same order.
type earlier struct {
	dec  *json.Decoder // nil: nothing is left
	next *Page
	gone func(*Page) error
}

func newEarlier(in io.Reader, gone func(*Page) error) *earlier {
	e := &earlier{gone: gone}
	if in != nil {
		e.dec = json.NewDecoder(bufio.NewReaderSize(in, 64<<10))
		e.advance()
	}
	return e
}

// advance reads the next page. What is damaged, or not in order, ends the list.
func (e *earlier) advance() {
	was := e.next
	for e.next = nil; e.dec != nil; {
		var p Page
		if err := e.dec.Decode(&p); err != nil || was != nil && compare(was.URL, p.URL) >= 0 {
			e.dec = nil
			return
		}
		if p.Change != Gone {
			e.next = &p
			return
		}
		was = &p
	}
}

// upTo passes what comes before a page to gone, and returns what the page was, or nil.
func (e *earlier) upTo(url string) (*Page, error) {
	for e.next != nil {
		switch c := compare(e.next.URL, url); {
		case c > 0:
			return nil, nil
		case c == 0:
			was := e.next
			e.advance()
			return was, nil
		}
		if err := e.gone(e.next); err != nil {
			return nil, err
		}
		e.advance()
	}
	return nil, nil
}

// end passes all that is left to gone.
func (e *earlier) end() error {
	for e.next != nil {
		if err := e.gone(e.next); err != nil {
			return err
		}
		e.advance()
	}
	return nil
}
