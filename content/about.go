package content

import (
	"github.com/weftcrawl/weft/internal/blocks"
	"golang.org/x/net/html"
)

// about is a page's own account of itself.
type about struct {
	content  Content // without tree
	kind     blocks.Kind
	language string // as the page declares it
	text     string // that the page gives to search engines
	said     map[field]said
	shown    shown
	manual   bool              // made by a generator of manuals
	json     int               // bytes of JSON-LD read
	things   map[string]string // the names of things in JSON-LD, by their @id
	label    string            // of the twitter card whose data comes next
	head     string            // the title element
	host     string            // the first label of the registrable domain
}

func (a *about) say(f field, value string, rank int) {
	if rank <= a.said[f].rank || len(value) > mostValue {
		return
	}
	if value = html.UnescapeString(value); f == author { // many a value is escaped twice
		value = person(value)
	}
	if (f == published || f == modified) && date(value).IsZero() {
		return
	}
	if value = inLine(value); value != "" {
		a.said[f] = said{value, rank}
	}
}
