package diff

import (
	"bufio"
	"crypto/sha256"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize/english"
)

// mostInAtom bounds the entries of a feed: readers load all of it.
const mostInAtom = 500

// atomEntry is a change as an entry of a feed (RFC 4287).
type atomEntry struct {
	XMLName xml.Name   `xml:"entry"`
	ID      string     `xml:"id"`
	Title   string     `xml:"title"`
	Updated string     `xml:"updated"`
	Link    *atomLink  `xml:"link,omitempty"`
	Content atomMarkup `xml:"content"`
}

type atomLink struct {
	Href string `xml:"href,attr"`
}

type atomMarkup struct {
	Type string `xml:"type,attr"`
	Text string `xml:",chardata"`
}

// writeAtom writes a feed of one report.
func writeAtom(to io.Writer, r *Report, style Style) error { return Feed(to, style, r) }

// Feed writes reports as one Atom feed, an entry for each change. Give the latest first. An entry
// has the same id whenever its report is written, and the feed has one id for all comparisons of
// jobs of one name.
func Feed(to io.Writer, style Style, reports ...*Report) error {
	t, err := templates()
	if err != nil {
		return err
	}
	w := bufio.NewWriter(to)
	limit := mostInAtom
	if style.Limit > 0 {
		limit = style.Limit
	}
	name, updated := "weft diff", time.Time{}
	for _, r := range reports {
		if at := r.Summary.at(); at.After(updated) {
			updated = at
		}
	}
	if len(reports) > 0 {
		name = filepath.Base(reports[0].Summary.New.Path)
	}
	w.WriteString(xml.Header + `<feed xmlns="http://www.w3.org/2005/Atom">` + "\n")
	element := func(name, text string) error {
		err := xml.NewEncoder(w).EncodeElement(xmlText(text), xml.StartElement{Name: xml.Name{Local: name}})
		w.WriteString("\n")
		return err
	}
	for _, one := range [][2]string{{"id", urn("feed", name)}, {"title", "Changes of " + strings.TrimSuffix(name, ".weft")}, {"updated", updated.Format(time.RFC3339)}} {
		if err := element(one[0], one[1]); err != nil {
			return err
		}
	}
	w.WriteString("<author><name>Weft</name></author>\n<generator>Weft</generator>\n")
	n := 0
	for _, r := range reports {
		for c, err := range r.Changes() {
			if err != nil {
				return err
			}
			if c.Kind == NotCompared {
				continue
			}
			if n++; n > limit {
				break
			}
			inside, err := htmlOf(t, c)
			if err != nil {
				return err
			}
			if err := xml.NewEncoder(w).Encode(r.Summary.entry(c, inside)); err != nil {
				return err
			}
			w.WriteString("\n")
		}
	}
	w.WriteString("</feed>\n")
	return w.Flush()
}

// at is the time of a comparison: that of the last response of the new side.
func (s *Summary) at() time.Time {
	if s.New.To.IsZero() {
		return time.Unix(0, 0).UTC()
	}
	return s.New.To.UTC().Truncate(time.Second)
}

func (s *Summary) entry(c *Change, inside string) *atomEntry {
	at := s.at().Format(time.RFC3339)
	text, _ := json.Marshal(c) // strings and numbers
	e := &atomEntry{ID: urn(at, string(text)), Title: xmlText(c.headline()), Updated: at, Content: atomMarkup{"html", xmlText(inside)}}
	url := c.URL
	if c.Kind == Shared && len(c.Examples) > 0 {
		url = c.Examples[0]
	}
	if href(url) != "" {
		e.Link = &atomLink{xmlText(url)}
	}
	return e
}

// headline is a change in one line.
func (c *Change) headline() string {
	title := firstOf(oneLine(c.Title), c.URL)
	switch c.Kind {
	case Shared:
		title = english.Plural(c.Pages, "page", "") + " of " + c.URL
		if len(c.Details) > 0 {
			title += ": " + c.Details[0].label()
		}
		return title
	case New:
		return "New: " + title
	case Gone:
		return "Gone: " + title
	case Moved:
		return "Moved: " + title
	}
	return "Changed: " + title
}

// urn is a UUID (version 8, RFC 9562) of texts.
func urn(texts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(texts, "\x00")))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[0:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
}

// xmlText replaces characters that XML does not have.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r == utf8.RuneError || r < ' ' && r != '\n' && r != '\t' || r == 0xfffe || r == 0xffff {
			return '\uFFFD'
		}
		return r
	}, s)
}
