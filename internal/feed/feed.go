// Package feed knows the elements of RSS (0.9x, 1.0, 2.0) and Atom (0.3, 1.0): the entries, and
// the elements that hold a URL or a date, with their meaning. The link extractor takes every URL of
// a feed from it, the sitemap reader the page and the date of each entry.
//
// # Vocabulary
//
//   - entry: an item of RSS or an entry of Atom: one page that the feed announces.
//   - role: the part of a URL or date in the feed ([Role]).
//
// # Lifecycle
//
// The user walks through a document with [markup.XML]. [Root] finds the format by the first
// element; for each start tag [Format.URLs] finds the URLs in its attributes, and [Format.Text]
// says what its text is, so that the user can collect it.
//
// Elements are known by their local names, ignoring case and prefix, since feeds often declare the
// wrong namespace or none.
//
// # Limits
//
// The package keeps no text; bounds are those of markup.XML.
//
// # Concurrency
//
// All functions are pure.
package feed

import (
	"bytes"
	"iter"

	"github.com/weftcrawl/weft/internal/markup"
)

// A Format is a set of formats of feeds.
type Format uint8

// The formats.
const (
	RSS Format = 1 << iota
	Atom

	Any = RSS | Atom // for a feed read in pieces, without its root
)

// Root returns the format of a feed whose first element has this local name; 0 if it is none.
func Root(name []byte) Format {
	switch {
	case markup.EqualFold(name, "rss"), markup.EqualFold(name, "rdf"):
		return RSS
	case markup.EqualFold(name, "feed"):
		return Atom
	}
	return 0
}

// IsEntry reports whether the element of this local name is an entry.
func (f Format) IsEntry(name []byte) bool {
	return f&RSS != 0 && markup.EqualFold(name, "item") || f&Atom != 0 && markup.EqualFold(name, "entry")
}

// A Role is the part that a URL or date plays in a feed.
type Role uint8

// The roles.
const (
	None      Role = iota
	Page           // the page that an entry or the feed is about
	PermaLink      // the same if it is a URL: see IsURL
	Extra          // another page: comments, a player
	Media          // an enclosure
	Image          // an icon, a logo, a thumbnail
	Feed           // a feed: this one, or the source of an entry
	Next           // the next page of the feed
	Previous       // the one before
	Hub            // of WebSub
	Related        // a link of any other relation
	Updated        // the date of the last change
	Published      // the date of publication
)

// texts are the elements whose text has a role.
var texts = []struct {
	tag     string
	formats Format
	role    Role
}{
	{"link", Any, Page},
	{"guid", Any, PermaLink},
	{"comments", Any, Extra},
	{"url", Any, Image}, // of the channel's image
	{"icon", Any, Image},
	{"logo", Any, Image},
	{"pubdate", RSS, Updated},
	{"updated", Atom, Updated},
	{"modified", Atom, Updated}, // of Atom 0.3
	{"published", Atom, Published},
	{"issued", Atom, Published}, // of Atom 0.3
}

// Text returns the role of the text of the last start tag, and the name of the element in
// lower case. A guid has none if it says so.
func (f Format) Text(x *markup.XML) (tag string, role Role) {
	name := markup.LocalName(x.Name)
	for i := range texts {
		t := &texts[i]
		if t.formats&f == 0 || !markup.EqualFold(name, t.tag) {
			continue
		}
		if t.role == PermaLink {
			if says, _ := x.Attr("ispermalink"); markup.EqualFold(markup.Trim(says), "false") {
				break
			}
		}
		return t.tag, t.role
	}
	return "", None
}

// IsURL reports whether the text of a guid, which may be any text, is written as a URL.
func IsURL(guid []byte) bool { return bytes.Contains(guid, []byte("://")) }

// attributes are the elements with a URL in an attribute.
var attributes = []struct {
	tag, attr string
	role      Role
}{
	{"link", "href", Page}, // unless its rel says otherwise
	{"enclosure", "url", Media},
	{"content", "url", Media}, // of Media RSS
	{"content", "src", Extra}, // of Atom
	{"thumbnail", "url", Image},
	{"player", "url", Extra},
	{"image", "href", Image}, // of iTunes
	{"source", "url", Feed},
}

// relations are the meanings of the rel of a link: RFC 4287, section 4.2.7.2, and RFC 5005.
var relations = map[string]Role{
	"": Page, "alternate": Page, "self": Feed, "enclosure": Media, "next": Next, "next-archive": Next,
	"prev": Previous, "previous": Previous, "prev-archive": Previous, "hub": Hub,
}

// A URL is one in an attribute.
type URL struct {
	Tag, Attr string // in lower case
	Role      Role
	Value     []byte // as written, references decoded
	Rel       []byte // of a link
	Undefined []byte // the first reference in Value whose name is unknown; nil if there is none
}

// URLs yields the URLs in the attributes of the last start tag.
func (f Format) URLs(x *markup.XML) iter.Seq[URL] {
	return func(yield func(URL) bool) {
		name := markup.LocalName(x.Name)
		for _, a := range attributes {
			if !markup.EqualFold(name, a.tag) {
				continue
			}
			value, undefined := x.Attr(a.attr)
			if len(value) == 0 {
				continue
			}
			u := URL{Tag: a.tag, Attr: a.attr, Role: a.role, Value: value, Undefined: undefined}
			if a.tag == "link" {
				u.Rel, _ = x.Attr("rel")
				known := false
				if u.Role, known = relations[string(bytes.ToLower(markup.Trim(u.Rel)))]; !known {
					u.Role = Related
				}
			}
			if !yield(u) {
				return
			}
		}
	}
}
