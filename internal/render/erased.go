package render

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/markup"
)

// early are the spans of virtual time between the looks at a page that has left its document, or
// emptied it, before the first look of another try. Together with the rest of firstBudget, they are
// that.
var early = []time.Duration{time.Millisecond, 9 * time.Millisecond, 90 * time.Millisecond}

// lookEarly reads the page soon, and again, for as long as it shows anything.
func (r *run) lookEarly(ctx context.Context) (passed time.Duration, seen look, err error) {
	for _, span := range early {
		if err := r.pass(ctx, span); err != nil {
			return passed, seen, err
		}
		now, err := r.look(ctx)
		if err != nil {
			return passed, seen, err
		}
		passed += span
		if !isEmpty(now.HTML) {
			seen = now
		}
	}
	return passed, seen, nil
}

// judge returns what counts of a page by its last look, and by an early one at another try.
func (r *run) judge(last, early look) (look, error) {
	switch {
	case !isEmpty(last.HTML) || !r.showed():
		return last, nil
	case r.how.soon:
		return early, errEmptied
	}
	return look{}, errEmptied
}

// showed reports whether a page has shown something, as far as that is known: its document was
// there, or it was received with content. One that leads elsewhere may be empty; one in UTF-16, the
// browser alone reads.
func (r *run) showed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.doc.Targets) > 0 {
		return false
	}
	return r.fate.opened || !bytes.Contains(r.page.Body, []byte{0}) && !isEmpty(string(r.page.Body))
}

// Elements that show something without text, and those whose text is not shown.
var (
	showing = []string{"img", "picture", "video", "audio", "object", "embed", "canvas", "svg", "iframe", "frame", "input", "select", "textarea", "button"}
	hidden  = []string{"script", "style", "noscript", "template", "title", "xmp", "noembed", "noframes"}
)

// isEmpty reports whether a document shows nothing.
func isEmpty(html string) bool {
	for s := (markup.Scanner{Body: []byte(html)}); ; {
		kind := s.Next()
		if len(markup.Trim(s.Text)) > 0 {
			return false
		}
		if kind == markup.EOF {
			return true
		}
		if kind != markup.StartTag && kind != markup.EndTag {
			continue
		}
		name, shadow := strings.ToLower(string(s.Name)), false
		for key, _, ok := s.Attr(); ok; key, _, ok = s.Attr() {
			shadow = shadow || markup.EqualFold(key, "shadowrootmode")
		}
		switch {
		case kind == markup.EndTag:
		case slices.Contains(showing, name):
			return false
		case slices.Contains(hidden, name) && !shadow:
			s.RawText(name)
		}
	}
}
