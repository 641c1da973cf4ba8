package extract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/css"
	"github.com/weftcrawl/weft/weburl"
	"golang.org/x/net/html"
)

// page is a page that is looked at.
type page struct {
	url      weburl.URL
	base     *weburl.URL // nil: not known yet
	root     *html.Node
	elements []*html.Node // all, in order
	work     css.Work
	allowed  int                   // work at the beginning
	short    bool                  // some work was broken off: what was found is not all
	room     int                   // bytes, for the values of the item
	ids      map[string]*html.Node // nil: not known yet
	order    map[*html.Node]int    // places of nodes in the page; nil: not known yet
	notes    []string
	found    func(Match)
	around   []string // names of the fields around the one that is looked for
}

// spend takes steps of the work, and reports whether there were enough.
func (p *page) spend(n int) bool {
	if p.work.Steps -= n; p.work.Steps < 0 {
		p.work.Spent = true
	}
	return !p.work.Spent
}

// fits counts a value, and reports whether the item has room for it.
func (p *page) fits(v any, name string) bool {
	n := 16 // a number
	if s, ok := v.(string); ok {
		n = len(s)
	}
	if p.room -= n; p.room < 0 {
		p.note("%s: left out: more than %d bytes in one page", name, MaxPage)
		return false
	}
	return true
}

// note says what was cut, or could not be read.
func (p *page) note(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if len(text) > mostNote {
		text = strings.ToValidUTF8(text[:mostNote], "") + "…"
	}
	if len(p.notes) < mostNotes && !slices.Contains(p.notes, text) {
		p.notes = append(p.notes, text)
	}
}
