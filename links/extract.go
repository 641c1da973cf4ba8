package links

import (
	"strings"

	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// Bounds on the strings of a page, in bytes.
const (
	maxValue       = 64 << 10 // an attribute that holds one URL; longer ones are no links
	maxText        = 200      // an anchor's text
	maxTitle       = 512      // a page's title, or its first heading
	maxDescription = 1 << 10  // a page's description
)

// A Link is a URL that a page mentions. Its strings can be kept.
type Link struct {
	Raw      string     // the attribute, references decoded
	URL      weburl.URL // Raw resolved against the base; http or https
	Tag      string     // the element, in lower case
	Attr     string     // the attribute, in lower case
	Rel      string     // of a, area and link: the rel attribute, trimmed
	Text     string     // of a: its text, white space collapsed, at most 200 bytes
	Kind     Kind       // its purpose
	NoFollow bool       // rel says nofollow

	// The mention in the page, from 1, in lines and characters: see Options.Positions.
	Line, Column int
}

// A Page describes a page as a whole.
type Page struct {
	Base    weburl.URL // the final base
	Title   string     // the first title, white space collapsed, at most 512 bytes
	H1      string     // the same of the first h1 with a text
	Refresh weburl.URL // target of the first valid meta refresh; zero if that is the page itself

	// Description is that of the first meta element with one, at most 1 KiB. Canonical is the target
	// of the first link with this relation; zero: there is none, or its kind is not asked for.
	Description string
	Canonical   weburl.URL

	Scripted bool // it has a script that runs
	Cut      bool // the base is so long, and the links are so many, that the rest was not read
	Hidden   bool // it ends within a tag, a comment or raw text, which hides what may be links
	Robots        // directives of its meta elements
}

// Options select the links to extract. The zero value extracts everything except Scripts.
type Options struct {
	Kinds   Kinds // kinds to yield; 0 means all
	Bare    bool  // leave Raw, Rel, Text and the fragment of URL empty, so that nothing is copied
	Scripts bool  // strings in scripts that look like a URL are links too

	// Every yields links of other schemes, too, such as mailto:, and what is no URL at all: then
	// Link.URL is zero. Neither is a link of CSS.
	Every bool

	// Positions yields the place of each link, by line and column of Document.Body: the beginning of
	// its URL, or of the text that it was decoded from, such as the attribute. For links in a srcdoc
	// with references, this is that attribute.
	Positions bool

	Agent string // the crawler's name or User-Agent: meta elements that name it count in Robots
}

// An Extractor extracts the links of one page after another. It keeps its buffers, so that a
// page costs next to no allocation. One task at a time uses it.
type Extractor struct {
	options  Options
	agent    string
	strings  arena
	resolver resolver
	output   textOutput
	reading
}

// reading is the state of an Extractor within a page.
type reading struct {
	yield     func(Link) bool
	mentioned func(Mention) bool // instead of yield, or nil
	stopped   bool               // yield has returned false
	tag       func(*Tag)         // receives the page's tags; or nil

	page     Page
	hasBase  bool
	hasTitle bool
	hasFresh bool // a meta refresh takes effect

	scan    scanner
	places  positioner // used with Options.Positions
	foreign foreign
	attrs   attributes // of the current tag

	frames int // number of srcdoc attributes around this document

	inner *element // an open style or script of SVG

	pending anchor
	heading heading // until it is in page.H1
}

// NewExtractor returns an Extractor with these options.
func NewExtractor(o Options) *Extractor {
	if o.Kinds == 0 {
		o.Kinds = allKinds
	}
	return &Extractor{options: o, agent: strings.ToLower(robots.ProductToken(o.Agent))}
}

// A Document is a body to search for links.
type Document struct {
	Base        weburl.URL // its own URL
	ContentType string     // of the response; parameters do not matter
	Body        []byte     // in UTF-8; neither kept nor changed
	Charset     string     // original encoding, by its WHATWG name, for queries; "" is UTF-8
	Text        TextReader // receives the text of HTML and XHTML; or nil
	Tag         func(*Tag) // receives their start tags, each before its links; or nil

	// Pause is called after each 128 KiB or so of HTML and XHTML, so that a long page can be read
	// in parts; or nil. It must not use the Extractor.
	Pause func()
}

// maxKept is the capacity for decoded values that outlives a page, in bytes.
const maxKept = 64 << 10

func (x *Extractor) begin(body []byte, yield func(Link) bool) {
	decoded, text, open := x.attrs.decoded[:0], x.pending.text.buf[:0], x.foreign.open[:0]
	head := heading{text: collapsed{buf: x.heading.text.buf[:0]}, spare: x.heading.spare}
	if cap(decoded) > maxKept {
		decoded = nil
	}
	x.reading = reading{
		yield: yield, scan: scanner{Scanner: markup.Scanner{Body: body}}, foreign: foreign{open: open},
		attrs: newAttributes(body, decoded), pending: anchor{text: collapsed{buf: text}}, heading: head,
	}
}

// A Mention is a URL as a page writes it, before it is resolved. Its bytes are valid until yield
// returns.
type Mention struct {
	Value     []byte // decoded
	Tag, Attr string // in lower case
	Rel       []byte // of a, area and link: decoded
	Kind      Kind

	from []byte // the part of the body that Value was decoded from
}

func (x *Extractor) wants(k Kind) bool { return x.options.Kinds.Has(k) }

// found yields a mention, or the link that it makes, if it makes one.
func (x *Extractor) found(m *Mention) {
	switch {
	case x.stopped || !x.wants(m.Kind):
	case x.mentioned != nil:
		x.stopped = !x.mentioned(*m)
	default:
		if l, ok := x.link(m); ok {
			x.emit(l)
		}
	}
}

func (x *Extractor) emit(l Link) {
	if !x.stopped && !x.yield(l) {
		x.stopped = true
	}
}

// link resolves a mention.
func (x *Extractor) link(m *Mention) (l Link, ok bool) {
	if len(m.Value) > 2*maxValue {
		return Link{}, false
	}
	u, ok := x.resolve(m.Value)
	if !x.options.Every && (!ok || !u.IsHTTP()) {
		return Link{}, false
	}
	l = Link{URL: u, Tag: m.Tag, Attr: m.Attr, Kind: m.Kind}
	if m.Kind == KindCanonical && x.page.Canonical.IsZero() && ok && u.IsHTTP() {
		x.page.Canonical = u
	}
	if x.options.Positions {
		l.Line, l.Column = x.places.tell(m, x.scan.Name)
	}
	if len(m.Rel) > 0 {
		l.NoFollow = hasWord(m.Rel, "nofollow")
	}
	if !x.options.Bare {
		l.Raw = x.strings.string(m.Value)
		l.Rel = x.relation(m.Rel)
	}
	return l, true
}

// resolve resolves a value against the base. Bytes that are not UTF-8 count as U+FFFD.
func (x *Extractor) resolve(value []byte) (weburl.URL, bool) {
	if !x.resolver.pay() {
		x.stopped = true
		return weburl.URL{}, false
	}
	if x.options.Bare {
		u, err := x.resolver.urls.ResolvePage(value)
		return u, err == nil
	}
	u, err := x.resolver.urls.Resolve(value)
	return u, err == nil
}

// relation returns a rel attribute as a string. Nearly all are one of these few.
func (x *Extractor) relation(rel []byte) string {
	rel = markup.Trim(rel)
	switch string(rel) {
	case "":
		return ""
	case "alternate":
		return "alternate"
	case "canonical":
		return "canonical"
	case "icon":
		return "icon"
	case "next":
		return "next"
	case "nofollow":
		return "nofollow"
	case "noopener":
		return "noopener"
	case "noopener noreferrer":
		return "noopener noreferrer"
	case "noreferrer":
		return "noreferrer"
	case "prev":
		return "prev"
	case "stylesheet":
		return "stylesheet"
	}
	return x.strings.string(rel)
}
