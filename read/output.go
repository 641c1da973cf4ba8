package read

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// Lines writes the texts of a job as lines of JSON, with Options.Chunk a line a chunk. Earlier is
// what was written so before, or nil: then each line says what has changed since, and what is no
// longer there has a line, too.
func Lines(ctx context.Context, dir string, out io.Writer, earlier io.Reader, o Options) (Counts, error) {
	if o.Chunk > 0 {
		return chunkLines(ctx, dir, out, earlier, o)
	}
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
		err = o.matched(&c, before)
	}
	if err == nil {
		err = before.end()
	}
	return c, errors.Join(err, w.Flush())
}

// chunkLines writes the chunks of a job as lines of JSON. They are compared page by page, so those
// of a page are all that is in memory.
func chunkLines(ctx context.Context, dir string, out io.Writer, earlier io.Reader, o Options) (Counts, error) {
	w := bufio.NewWriterSize(out, 256<<10)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	var c Counts
	gone := func(url, id string) error {
		c.Gone++
		return enc.Encode(goneChunk{url, id, Gone})
	}
	before := newEarlier(earlier, func(p *Page) error {
		for i := range p.Chunks {
			if err := gone(p.URL, p.Chunks[i].ID); err != nil {
				return err
			}
		}
		return nil
	})
	err := each(ctx, dir, "", o, &c, func(_ *entry, p *Page) error {
		was, err := before.upTo(p.URL)
		if err != nil {
			return err
		}
		c.Pages++
		left := make(map[string]bool) // chunks that the page had, and has not any more
		if was != nil {
			for i := range was.Chunks {
				left[was.Chunks[i].ID] = true
			}
		}
		for i := range p.Chunks {
			one := &p.Chunks[i]
			c.Chunks++
			switch {
			case earlier == nil:
			case left[one.ID]:
				one.Change = Unchanged
				c.Unchanged++
			default:
				one.Change = New
				c.New++
			}
			delete(left, one.ID)
			if err := enc.Encode(one); err != nil {
				return err
			}
		}
		for i := 0; len(left) > 0; i++ {
			if id := was.Chunks[i].ID; left[id] {
				delete(left, id)
				if err := gone(p.URL, id); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err == nil {
		err = o.matched(&c, before)
	}
	if err == nil {
		err = before.end()
	}
	return c, errors.Join(err, w.Flush())
}

// goneChunk is the line of a chunk that is no longer there.
type goneChunk struct {
	URL    string `json:"url"`
	ID     string `json:"id"`
	Change Change `json:"change"`
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
	if err == nil {
		err = o.matched(&c, newEarlier(nil, nil))
	}
	return c, errors.Join(err, w.Flush())
}

// ErrNoMatch is returned when no page of a job matches what Options select, as by a mistyped
// condition, or when none is left of those that the output had.
var ErrNoMatch = errors.New("no page to write, expected at least one page of the job to match")

// matched returns ErrNoMatch if nothing was written, where something was selected, or was there.
func (o *Options) matched(c *Counts, before *earlier) error {
	selects := o.Where != "" || len(o.Languages) > 0
	if c.Pages > 0 || !selects && before.next == nil {
		return nil
	}
	return ErrNoMatch
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

// earlier reads the lines that were written before, in the same order.
type earlier struct {
	dec   *json.Decoder // nil: nothing is left
	ahead *earlierLine  // read before its turn; or nil
	next  *Page         // with the chunks of its lines, if they are chunks
	gone  func(*Page) error
}

// earlierLine is a line of what was written before: a page, or a chunk of one, which has an ID.
type earlierLine struct {
	Page
	ID string `json:"id"`
}

func newEarlier(in io.Reader, gone func(*Page) error) *earlier {
	e := &earlier{gone: gone}
	if in != nil {
		e.dec = json.NewDecoder(bufio.NewReaderSize(in, 64<<10))
		e.advance()
	}
	return e
}

// line reads the next line; nil: none is left. What is damaged ends the list.
func (e *earlier) line() *earlierLine {
	l := e.ahead
	if e.ahead = nil; l != nil || e.dec == nil {
		return l
	}
	l = new(earlierLine)
	if err := e.dec.Decode(l); err != nil {
		e.dec = nil
		return nil
	}
	return l
}

// advance reads the next page. What is not in order ends the list.
func (e *earlier) advance() {
	was := e.next
	e.next = nil
	for l := e.line(); l != nil; l = e.line() {
		if was != nil && compare(was.URL, l.URL) >= 0 {
			e.dec = nil
			return
		}
		if was = e.pageOf(l); was.Change != Gone {
			e.next = was
			return
		}
	}
}

// pageOf returns the page that begins with a line, with all of its chunks that were there. One
// without any is gone.
func (e *earlier) pageOf(l *earlierLine) *Page {
	if l.ID == "" {
		return &l.Page
	}
	p := &Page{URL: l.URL, Change: Gone}
	for ; l != nil && l.URL == p.URL && l.ID != ""; l = e.line() {
		if l.Change != Gone {
			p.Change = ""
			p.Chunks = append(p.Chunks, Chunk{ID: l.ID})
		}
	}
	e.ahead = l
	return p
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
