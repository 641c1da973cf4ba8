package sitemap

import (
	"bytes"
	"fmt"
	"strconv"
)

// maxNesting is how deep elements are followed. Sitemaps nest 4 deep, with extensions 6.
const maxNesting = 64

// elements is where in a document of XML the reader is.
type elements struct {
	late    bool     // something else came before the root
	open    [][]byte // names of the elements that have begun and not ended, outermost first
	depth   int      // of the entry's element, in open; 0: there is none
	prefix  []byte   // of its name
	foreign int      // depth of an element in it that tells of something else; 0: there is none
	kind    Kind     // of the entry

	field    field
	text     []byte
	strange  []byte // the first entity in the text that nobody has defined; nil: there is none
	url      []byte
	guid     []byte // a URL if there is no other
	lastMod  []byte
	priority float32

	flaw   string // the first thing in the entry that is not well formed; "": there is none
	flawAt int    // where
}

// A field is what the text of an element is.
type field uint8

const (
	nothing   field = iota // none that matters
	address                // a URL
	permalink              // perhaps a URL
	changed                // a date
	published              // a date, if there is no other
	priority
)

// roots are the elements that documents begin with. Of a part that has lost its beginning
// the first one may be an entry.
var roots = []struct {
	name string
	typ  Type
	part bool
}{
	{"urlset", URLSet, false}, {"sitemapindex", Index, false}, {"rss", RSS, false}, {"rdf", RSS, false}, {"feed", Atom, false},
	{"url", URLSet, true}, {"sitemap", Index, true},
}

// fields are the elements of an entry whose text matters.
var fields = []struct {
	name  string
	types []Type
	field field
}{
	{"loc", sitemaps, address},
	{"lastmod", sitemaps, changed},
	{"priority", sitemaps, priority},
	{"link", []Type{RSS}, address},
	{"guid", []Type{RSS}, permalink},
	{"pubdate", []Type{RSS}, changed},
	{"updated", []Type{Atom}, changed},
	{"modified", []Type{Atom}, changed}, // of Atom 0.3
	{"published", []Type{Atom}, published},
	{"issued", []Type{Atom}, published}, // of Atom 0.3
}

var sitemaps = []Type{URLSet, Index}

// foreigners are elements whose contents tell of something else than the page.
var foreigners = []string{"image", "video", "news", "pagemap", "content", "summary", "source", "author", "contributor"}

// searched is how far behind the beginning of a text the root is looked for, in bytes.
const searched = 1 << 10

// readXML reads any of the formats that are XML.
func (r *reader) readXML() {
	for !r.stopped {
		switch kind := r.next(); {
		case kind == eof:
			r.finish()
			return
		case r.Type == Unknown && !r.isRoot(kind):
			if r.pos > searched || is(local(r.name), "html") {
				r.stopped, r.Err = true, fmt.Errorf("%w: <%.40s>, expected <urlset>, <sitemapindex>, <rss> or <feed>", ErrFormat, r.name)
			}
			r.late = true
		case kind == startTag:
			r.start()
		default:
			r.end()
		}
	}
}

// isRoot finds out the type by the first tag that tells it.
func (r *reader) isRoot(kind token) bool {
	if kind != startTag {
		return false
	}
	for _, root := range roots {
		if !is(local(r.name), root.name) || root.part && r.late {
			continue
		}
		r.Type = root.typ
		if root.part {
			r.broken(r.pos, "<%.40s>, expected <urlset> or <sitemapindex> before it", r.name)
		}
		return true
	}
	return false
}

// finish takes in the entry that the body's end cuts off. Instead of its guid there may
// have been a link to come.
func (r *reader) finish() {
	r.endField()
	r.guid = r.guid[:0]
	r.endEntry()
	switch {
	case r.stopped:
	case r.Type == Unknown:
		r.Err = fmt.Errorf("%w, expected XML with <urlset>, <sitemapindex>, <rss> or <feed>", ErrFormat)
	case len(r.open) > 0:
		r.broken(len(r.body), "the end, expected </%.40s> first", r.open[len(r.open)-1])
	}
}

func (r *reader) start() {
	r.endField()
	name := local(r.name)
	prefix := r.name[:len(r.name)-len(name)]
	begins := r.begins(name) && (r.depth == 0 || bytes.Equal(prefix, r.prefix))
	if begins && r.depth > 0 { // one in another: that has not been ended
		r.flawed("<%.40s>, expected </%.40s> first", r.name, r.open[len(r.open)-1])
		r.open = r.open[:r.depth-1]
	}
	if !r.empty {
		if len(r.open) == maxNesting {
			r.stop(fmt.Errorf("%w of %d elements in one another", ErrLimit, maxNesting))
			return
		}
		r.open = append(r.open, r.name)
	}
	switch {
	case begins:
		r.endEntry()
		if !r.empty {
			r.depth, r.prefix, r.priority = len(r.open), prefix, DefaultPriority
			if r.kind = Page; is(name, "sitemap") {
				r.kind = Sitemap
			}
		}
	case r.depth == 0 || r.foreign > 0:
	case is(name, "link") && r.Type != RSS:
		r.link()
	case !bytes.Equal(prefix, r.prefix):
		if r.Type == RSS && is(name, "date") && !r.empty { // of Dublin Core
			r.field = published
		} else if !r.empty && isForeign(name) {
			r.foreign = len(r.open)
		}
	case r.empty:
	case isForeign(name):
		r.foreign = len(r.open)
	default:
		r.field = r.fieldOf(name)
	}
	r.text, r.strange = r.text[:0], nil
}

// begins reports whether an element is an entry's.
func (r *reader) begins(name []byte) bool {
	switch r.Type {
	case RSS:
		return is(name, "item")
	case Atom:
		return is(name, "entry")
	}
	return is(name, "url") || is(name, "sitemap")
}

func isForeign(name []byte) bool {
	for _, f := range foreigners {
		if is(name, f) {
			return true
		}
	}
	return false
}

func (r *reader) fieldOf(name []byte) field {
	for i := range fields {
		f := &fields[i]
		if !is(name, f.name) {
			continue
		}
		for _, t := range f.types {
			if t == r.Type && !(f.field == permalink && r.says("isPermaLink", "false")) {
				return f.field
			}
		}
	}
	return nothing
}

// says reports whether the last tag has an attribute of that value, in whatever case.
func (r *reader) says(name, value string) bool {
	text, _ := r.attr(name)
	return is(text, value)
}

// link reads an element that has its URL in an attribute: Atom's, or one of an
// alternate page, which urlsets borrow from XHTML.
func (r *reader) link() {
	rel, _ := r.attr("rel")
	href, undefined := r.attr("href")
	switch {
	case len(href) == 0 || !is(rel, "alternate") && (r.Type != Atom || rel != nil) || r.Type == Atom && len(r.url) > 0:
	case undefined != nil:
		r.lost(undefined)
	case r.Type == Atom:
		r.url = append(r.url[:0], href...)
	default:
		r.emit(Entry{Kind: Alternate, Priority: DefaultPriority}, href, nil)
	}
}

// add takes in a piece of text, with references to decode or without.
func (r *reader) add(raw []byte, encoded bool) {
	switch {
	case r.field == nothing || len(raw) == 0:
	case len(r.text)+len(raw) > r.options.MaxURL+searched: // white space around it counts too
		r.Skipped++
		r.field = nothing
	case encoded:
		text, undefined := appendText(r.text, raw)
		if r.text = text; r.strange == nil {
			r.strange = undefined
		}
	default:
		r.text = append(r.text, raw...)
	}
}

// endField takes in the text of an element, which ends at any tag.
func (r *reader) endField() {
	text := bytes.TrimSpace(r.text)
	switch r.field {
	case address:
		if r.strange != nil {
			r.lost(r.strange)
			break
		}
		if len(r.url) > 0 && len(text) > 0 {
			r.emitEntry() // a second URL in one entry
		}
		if len(text) > 0 {
			r.url = append(r.url[:0], text...)
		}
	case permalink:
		if r.strange != nil {
			break
		}
		r.guid = append(r.guid[:0], text...)
	case changed:
		r.setLastMod(text)
	case published:
		if len(r.lastMod) == 0 {
			r.setLastMod(text)
		}
	case priority:
		if p, err := strconv.ParseFloat(string(text), 32); err == nil && p == p {
			r.priority = float32(max(0, min(p, 1)))
		}
	}
	r.field = nothing
}

// lost notes that a URL is none, as nobody has defined an entity that is a part of it.
func (r *reader) lost(entity []byte) {
	r.Skipped++
	r.broken(r.pos, "%s is not defined, and part of a URL", entity)
}

// maxLastMod bounds what is kept of a date, in bytes; longer texts are none.
const maxLastMod = 64

func (r *reader) setLastMod(text []byte) {
	if len(text) <= maxLastMod {
		r.lastMod = append(r.lastMod[:0], text...)
	}
}

// end closes the element of that name, and those in it that have not ended.
func (r *reader) end() {
	r.endField()
	for i := len(r.open) - 1; i >= 0; i-- {
		if !bytes.EqualFold(r.open[i], r.name) {
			continue
		}
		if i < len(r.open)-1 {
			r.flawed("</%.40s>, expected </%.40s>", r.name, r.open[len(r.open)-1])
		}
		r.open = r.open[:i]
		if r.foreign > i {
			r.foreign = 0
		}
		if r.depth > i {
			r.endEntry()
		}
		return
	}
	const early = "</%.40s>, which has not begun"
	if r.depth == 0 && r.begins(local(r.name)) { // the beginning of an entry is lost
		r.broken(r.pos, early, r.name)
	}
	r.flawed(early, r.name)
}

// flawed notes what is not well formed at the last tag, in an entry. It matters if that ends
// without a URL.
func (r *reader) flawed(format string, args ...any) {
	if r.depth > 0 && r.flaw == "" {
		r.flaw, r.flawAt = fmt.Sprintf(format, args...), r.pos
	}
}

// endEntry ends the entry, if there is one.
func (r *reader) endEntry() {
	if r.depth == 0 {
		return
	}
	if len(r.url) == 0 && bytes.Contains(r.guid, []byte("://")) {
		r.url = append(r.url, r.guid...)
	}
	switch {
	case len(r.url) > 0:
		r.emitEntry()
	case r.flaw != "":
		r.broken(r.flawAt, "%s", r.flaw)
	}
	r.depth, r.foreign, r.flaw = 0, 0, ""
	r.url, r.guid, r.lastMod = r.url[:0], r.guid[:0], r.lastMod[:0]
}

func (r *reader) emitEntry() {
	r.emit(Entry{Kind: r.kind, Priority: r.priority}, r.url, r.lastMod)
}

// local is a name without its prefix.
func local(name []byte) []byte { return name[bytes.LastIndexByte(name, ':')+1:] }

// is reports whether a name is the given one, in whatever case.
func is(name []byte, given string) bool {
	return len(name) == len(given) && bytes.EqualFold(name, []byte(given))
}
