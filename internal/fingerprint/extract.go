package fingerprint

import (
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/weftcrawl/weft/links"
)

// Read reads a page, given its Content-Type, whose parameters do not matter, and its body in
// UTF-8, which is neither kept nor changed. The fingerprint of a type without text is zero.
func (r *Reader) Read(contentType string, body []byte) Fingerprint {
	if r.alone == nil {
		r.alone = links.NewExtractor(links.Options{})
	}
	_, f := r.Extract(r.alone, links.Document{ContentType: contentType, Body: body}, nil)
	return f
}

// Extract reads a page and yields its links: it does the work of x.Extract and Read for little
// more than the cost of the first. With a nil yield there are no links.
func (r *Reader) Extract(x *links.Extractor, d links.Document, yield func(links.Link) bool) (links.Page, Fingerprint) {
	kind, _, _ := strings.Cut(d.ContentType, ";")
	kind = strings.TrimSpace(kind)
	d.Text = nil
	r.begin(parts{}, d.Pause)
	switch {
	case strings.EqualFold(kind, "text/html"), strings.EqualFold(kind, "application/xhtml+xml"):
		d.Text = (*listener)(r)
	case strings.EqualFold(kind, "text/plain"):
		r.fill(d.Body, []links.Piece{{From: 0, To: len(d.Body)}}, true)
	}
	page := x.Extract(d, yield)
	f, p := r.end(), r.parts
	if p.passed && f.Words < nearlyNothing || p.passing {
		r.begin(parts{whole: true, broken: p.passing}, d.Pause)
		x.Extract(d, nil)
		f = r.end()
		f.Simhash = 0
	}
	return page, f
}

// Sketch returns the sketch of a page, whose URL is d.Base. The extractor yields what counts
// besides words. It is never 0.
func (r *Reader) Sketch(x *links.Extractor, d links.Document) uint64 {
	s := &r.sketch
	s.begin(d.Base.RequestTarget())
	s.on = true
	r.Extract(x, d, func(l links.Link) bool {
		s.add(xxhash.Sum64String(l.URL.String()))
		return true
	})
	s.on = false
	return max(1, s.sum)
}
