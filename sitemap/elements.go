package sitemap

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/weftcrawl/weft/internal/feed"
	"github.com/weftcrawl/weft/internal/markup"
)

// maxNesting bounds the nesting of elements. Sitemaps nest 4 deep, with extensions 6.
const maxNesting = 64

// elements is the position of the reader in a document of XML.
type elements struct {
	late    bool     // another element came before the root
	open    [][]byte // names of the open elements, outermost first
	depth   int      // of the entry's element in open; 0: no entry is open
	prefix  []byte   // of its name
	foreign int      // depth of an element in it that describes something else; 0: none is open
	kind    Kind     // of the entry
	counted int      // Entries and Skipped when it began

	field    field
	url      []byte
	guid     []byte // a text that is the URL if there is no other
	lastMod  []byte
	priority float32

	stray   []byte // name of the first element below the root that is no entry
	strayAt int    // its position

	flaw   string // the first malformed markup in the entry; "" if there is none
	flawAt int    // its position
}

// A field is the meaning of the text of an element.
type field uint8

const (
	nothing   field = iota // no meaning
	address                // a URL
	permalink              // perhaps a URL
	bare                   // of the entry itself: a URL if it is absolute
	changed                // a date
	published              // the date, if there is no other
	priority
)

// roots are the elements that sitemaps begin with. If the document has lost its beginning,
// the first one may be an entry.
var roots = []struct {
	name string
	typ  Type
	part bool
}{
	{"urlset", URLSet, false}, {"sitemapindex", Index, false}, {"url", URLSet, true}, {"sitemap", Index, true},
}

// feed returns the format of a type that is a feed, 0 for the others.
func (t Type) feed() feed.Format {
	switch t {
	case RSS:
		return feed.RSS
	case Atom:
		return feed.Atom
	}
	return 0
}

// feedFields maps the role of a text in a feed to the field of an entry.
var feedFields = [feed.Published + 1]field{
	feed.Page: address, feed.PermaLink: permalink, feed.Updated: changed, feed.Published: published,
}

// foreigners are elements whose contents describe something other than the page.
var foreigners = []string{"image", "video", "news", "pagemap", "content", "summary", "source", "author", "contributor"}

// searched bounds the search for the root, in bytes from the beginning.
const searched = 1 << 10

// readXML reads any of the XML formats.
func (r *reader) readXML() {
	for !r.out.stopped {
		kind := r.xml.Next()
		if r.xml.Unclosed {
			r.flawed("<%.40s that does not end before the next '<'", r.xml.Name)
		}
		switch {
		case kind == markup.EOF:
			r.finish()
			return
		case r.out.Type == Unknown && !r.isRoot(kind):
			if r.xml.Pos > searched || is(markup.LocalName(r.xml.Name), "html") {
				r.out.stopped, r.out.Err = true, fmt.Errorf("%w: <%.40s>, expected <urlset>, <sitemapindex>, <rss> or <feed>", ErrFormat, r.xml.Name)
			}
			r.late = true
		case kind == markup.StartTag:
			r.start()
		default:
			r.end()
		}
	}
}

// isRoot sets the type by the first tag that decides it.
func (r *reader) isRoot(kind markup.Token) bool {
	if kind != markup.StartTag {
		return false
	}
	name := markup.LocalName(r.xml.Name)
	switch feed.Root(name) {
	case feed.RSS:
		r.out.Type = RSS
		return true
	case feed.Atom:
		r.out.Type = Atom
		return true
	}
	for _, root := range roots {
		if !is(name, root.name) || root.part && r.late {
			continue
		}
		r.out.Type = root.typ
		if root.part {
			r.broken(r.xml.Pos, "<%.40s>, expected <urlset> or <sitemapindex> before it", r.xml.Name)
		}
		return true
	}
	return false
}

// finish takes in the entry that the end of the body cuts off, without its guid: a link might
// have followed.
func (r *reader) finish() {
	if r.xml.Missing != "" {
		r.broken(r.xml.MissingAt, "the end, expected %q first", r.xml.Missing)
	}
	if r.xml.Cut && !r.xml.TooLong {
		r.field = nothing
	}
	r.endField()
	r.guid, r.counted = r.guid[:0], -1
	r.endEntry()
	switch {
	case r.out.stopped:
	case r.out.Type == Unknown:
		r.out.Err = fmt.Errorf("%w, expected XML with <urlset>, <sitemapindex>, <rss> or <feed>", ErrFormat)
	case len(r.open) > 0:
		r.broken(len(r.xml.Body), "the end, expected </%.40s> first", r.open[len(r.open)-1])
	case r.stray != nil && r.out.Entries+r.out.Skipped == 0:
		r.broken(r.strayAt, "<%.40s>, expected <url> or <sitemap>", r.stray)
	}
}

func (r *reader) start() {
	name := markup.LocalName(r.xml.Name)
	if r.field == address && r.begins(name) && !r.xml.Empty && len(bytes.TrimSpace(r.xml.Text)) == 0 && len(r.open) < maxNesting {
		r.open = append(r.open, r.xml.Name) // <loc><url>…: the URL is one element deeper
		r.collect(address)
		return
	}
	r.endField()
	prefix := r.xml.Name[:len(r.xml.Name)-len(name)]
	begins := r.begins(name) && (r.depth == 0 || bytes.Equal(prefix, r.prefix))
	if begins && r.depth > 0 { // one in another: the first has no end tag
		r.flawed("<%.40s>, expected </%.40s> first", r.xml.Name, r.open[len(r.open)-1])
		r.open = r.open[:r.depth-1]
	}
	if !r.xml.Empty {
		if len(r.open) == maxNesting {
			r.out.stop(fmt.Errorf("%w of %d elements in one another", ErrLimit, maxNesting))
			return
		}
		r.open = append(r.open, r.xml.Name)
	}
	if begins {
		r.endEntry()
		if !r.xml.Empty {
			r.depth, r.prefix, r.priority = len(r.open), prefix, DefaultPriority
			r.counted = r.out.Entries + r.out.Skipped
			if r.kind = Page; is(name, "sitemap") {
				r.kind = Sitemap
			}
			if r.out.Type.feed() == 0 {
				r.collect(bare) // <sitemap>URL</sitemap>
			}
		}
		return
	}
	switch {
	case r.depth > 0 && r.foreign == 0:
		r.child(name, prefix)
	case len(r.open) == 2 && r.stray == nil && r.out.Type.feed() == 0:
		r.stray, r.strayAt = r.xml.Name, r.xml.Pos
	}
	if r.field != nothing {
		r.collect(r.field)
	}
}

// collect keeps the text up to the next tag, as a field.
func (r *reader) collect(f field) {
	r.field = f
	r.xml.Collect(r.out.options.MaxURL + searched) // white space around it counts too
}

// child reads the start tag of an element in an entry.
func (r *reader) child(name, prefix []byte) {
	switch {
	case is(name, "link") && r.out.Type != RSS:
		r.link()
	case r.xml.Empty:
	case !bytes.Equal(prefix, r.prefix) && r.out.Type == RSS && is(name, "date"): // of Dublin Core
		r.field = published
	case isForeign(name):
		r.foreign = len(r.open)
	case bytes.Equal(prefix, r.prefix):
		r.field = r.fieldOf(name)
	}
}

// begins reports whether an element of this name is an entry.
func (r *reader) begins(name []byte) bool {
	if format := r.out.Type.feed(); format != 0 {
		return format.IsEntry(name)
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

// fieldOf returns the field for the text of the current element.
func (r *reader) fieldOf(name []byte) field {
	if format := r.out.Type.feed(); format != 0 {
		_, role := format.Text(&r.xml)
		return feedFields[role]
	}
	switch {
	case is(name, "loc"):
		return address
	case is(name, "lastmod"):
		return changed
	case is(name, "priority"):
		return priority
	}
	return nothing
}

// link reads an element that has its URL in an attribute: Atom's, or one of an alternate page,
// which urlsets borrow from XHTML.
func (r *reader) link() {
	for u := range feed.Atom.URLs(&r.xml) {
		switch {
		case u.Role != feed.Page || r.out.Type == Atom && len(r.url) > 0 || r.out.Type != Atom && len(u.Rel) == 0:
		case u.Undefined != nil:
			r.lost(u.Undefined)
		case r.out.Type == Atom:
			r.url = append(r.url[:0], u.Value...)
		default:
			r.out.emit(Entry{Kind: Alternate, Priority: DefaultPriority}, u.Value, nil)
		}
	}
}

// endField takes in the text of an element, which ends at any tag.
func (r *reader) endField() {
	field := r.field
	if r.field = nothing; field != nothing && r.xml.TooLong {
		r.out.Skipped++
		return
	}
	text := bytes.TrimSpace(r.xml.Text)
	switch field {
	case address:
		if r.xml.Undefined != nil {
			r.lost(r.xml.Undefined)
			break
		}
		if len(r.url) > 0 && len(text) > 0 {
			r.emitEntry() // a second URL in one entry
		}
		if len(text) > 0 {
			r.url = append(r.url[:0], text...)
		}
	case permalink:
		if r.xml.Undefined != nil {
			break
		}
		r.guid = append(r.guid[:0], text...)
	case bare:
		if isAbsolute(text) && r.xml.Undefined == nil {
			r.guid = append(r.guid[:0], text...)
		}
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
}

// lost records a URL that is unusable because it contains an undefined entity.
func (r *reader) lost(entity []byte) {
	r.out.Skipped++
	r.broken(r.xml.Pos, "%s is not defined, and part of a URL", entity)
}

// maxLastMod bounds a date, in bytes; longer texts are none.
const maxLastMod = 64

func (r *reader) setLastMod(text []byte) {
	if len(text) <= maxLastMod {
		r.lastMod = append(r.lastMod[:0], text...)
	}
}

// end closes the innermost open element of that name, and those in it.
func (r *reader) end() {
	r.endField()
	for i := len(r.open) - 1; i >= 0; i-- {
		if !bytes.EqualFold(r.open[i], r.xml.Name) {
			continue
		}
		if i < len(r.open)-1 {
			r.flawed("</%.40s>, expected </%.40s>", r.xml.Name, r.open[len(r.open)-1])
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
	if r.depth == 0 && r.begins(markup.LocalName(r.xml.Name)) { // the beginning of an entry is lost
		r.broken(r.xml.Pos, early, r.xml.Name)
	}
	r.flawed(early, r.xml.Name)
}

// flawed records malformed markup at the last tag, in an entry. It matters if the entry ends
// without a URL.
func (r *reader) flawed(format string, args ...any) {
	if r.depth > 0 && r.flaw == "" {
		r.flaw, r.flawAt = fmt.Sprintf(format, args...), r.xml.Pos
	}
}

// endEntry ends the open entry, if there is one.
func (r *reader) endEntry() {
	if r.depth == 0 {
		return
	}
	if len(r.url) == 0 && feed.IsURL(r.guid) {
		r.url = append(r.url, r.guid...)
	}
	switch {
	case len(r.url) > 0:
		r.emitEntry()
	case r.flaw != "":
		r.broken(r.flawAt, "%s", r.flaw)
	case r.out.Type.feed() == 0 && r.counted == r.out.Entries+r.out.Skipped:
		r.out.Skipped++ // the entry has no URL at all
	}
	r.depth, r.foreign, r.flaw = 0, 0, ""
	r.url, r.guid, r.lastMod = r.url[:0], r.guid[:0], r.lastMod[:0]
}

func (r *reader) emitEntry() {
	r.out.emit(Entry{Kind: r.kind, Priority: r.priority}, r.url, r.lastMod)
}

// is reports whether a name is the given one, in lower case, whatever its own case.
func is(name []byte, given string) bool { return markup.EqualFold(name, given) }

// broken records a loss of entries at a position of the text, if it is the first.
func (r *reader) broken(at int, format string, args ...any) {
	if r.out.Err == nil {
		line := bytes.Count(r.xml.Body[:at], []byte("\n")) + 1
		r.out.Err = fmt.Errorf("%w: line %d: %s", ErrBroken, line, fmt.Sprintf(format, args...))
	}
}
