package links

import (
	"bytes"
	"slices"
	"strings"

	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// Bounds on what is kept of a page, in bytes.
const (
	maxValue = 64 << 10 // of an attribute that holds one URL; longer ones are no links
	maxText  = 200      // of an anchor's text
	maxTitle = 512      // of a page's title
)

// Each link costs as much as the base is long. What that is beyond longBase is paid from
// maxExcess: else a page of a megabyte could be gigabytes of links. In bytes.
const (
	longBase  = 4 << 10
	maxExcess = 64 << 20
)

// A Link is a URL that a page mentions. Its strings can be kept.
type Link struct {
	Raw      string     // what stood in the attribute, references decoded
	URL      weburl.URL // Raw resolved against the base; http or https
	Tag      string     // the element, in lower case
	Attr     string     // the attribute, in lower case
	Rel      string     // of a, area and link: the rel attribute, trimmed
	Text     string     // of a: its text, white space collapsed, at most 200 bytes
	Kind     Kind       // what it is for
	NoFollow bool       // rel says nofollow
}

// A Page is what is said of a page as a whole.
type Page struct {
	Base    weburl.URL // what links are resolved against in the end
	Title   string     // the first title, white space collapsed, at most 512 bytes
	Refresh weburl.URL // where the meta refresh that takes effect leads, the first valid one; zero if nowhere else
	Cut     bool       // the base is so long, and the links are so many, that the rest was not read
	Robots             // what its metas say to robots
}

// Options choose what is extracted. The zero value is everything but Scripts.
type Options struct {
	Kinds   Kinds  // of the links that are yielded; 0 is all of them
	Bare    bool   // leaves Raw, Rel and Text empty, so that nothing is copied
	Scripts bool   // what looks like a URL in a script, or a document of scripts, is a link too
	Agent   string // the crawler's name, or User-Agent: metas that name it count in Robots
}

// An Extractor extracts the links of one page after another. It keeps its buffers, so
// that a page costs next to no allocation. One task uses it at a time.
type Extractor struct {
	options Options
	agent   string
	strings arena
	urls    weburl.Resolver
	telling telling
	reading
}

// reading is how far an Extractor has come in a page.
type reading struct {
	yield     func(Link) bool
	mentioned func(Mention) bool // in place of yield, or nil
	stopped   bool               // yield wants no more
	reader    TextReader         // of the page's text, or nil

	charset  string
	excess   int // of the base, over longBase
	spent    int // of maxExcess
	page     Page
	hasBase  bool
	hasTitle bool
	hasFresh bool // a meta refresh takes effect

	odd     bool // there is a carriage return or a NUL in it
	scan    scanner
	foreign foreign
	present uint32                // the attributes of the current tag, as bits
	values  [numAttributes][]byte // of those that are present, undecoded
	decoded []byte                // its values that had to be decoded, one after the other

	inner *element // a style or script of SVG has begun

	open    bool // an anchor has begun and not ended
	pending Link // its link
	text    collapsed
}

// NewExtractor returns an Extractor for some options.
func NewExtractor(o Options) *Extractor {
	if o.Kinds == 0 {
		o.Kinds = allKinds
	}
	return &Extractor{options: o, agent: strings.ToLower(robots.ProductToken(o.Agent))}
}

// A Document is what links are looked for in.
type Document struct {
	Base        weburl.URL // its own URL
	ContentType string     // as the response has it; parameters do not matter
	Body        []byte     // in UTF-8; it is not kept, and not changed
	Charset     string     // it was in before, by its WHATWG name: queries are encoded in it; empty is UTF-8
	Text        TextReader // is told of the text of HTML and XHTML; or nil
}

// Extract yields the links of a document at the URL base, until yield returns false.
// See [Extractor.Extract].
func Extract(base weburl.URL, contentType string, body []byte, yield func(Link) bool) Page {
	return NewExtractor(Options{}).Extract(Document{Base: base, ContentType: contentType, Body: body}, yield)
}

// Extract yields the links of a document, in the order in which their elements are
// complete: that of an anchor, which has text, when it ends, unless the text is not
// wanted. The same URL is yielded as often as it is mentioned.
//
// If yield returns false, Extract stops there and Page is what was read so far; a reader of
// the text is told of the rest all the same. With a nil yield there are no links, only text.
// A content type that is not in the package's table has no links.
func (x *Extractor) Extract(d Document, yield func(Link) bool) Page {
	x.begin(d.Body, yield)
	x.charset, x.reader, x.stopped = d.Charset, d.Text, yield == nil
	x.setBase(d.Base)
	return x.end(d.ContentType)
}

// end reads the page that was begun.
func (x *Extractor) end(contentType string) Page {
	if read := readerOf(contentType); read != nil {
		read(x)
	}
	page := x.page
	x.begin(nil, nil) // holds nothing of the page's
	return page
}

// maxKept is how much room for decoded values outlives a page.
const maxKept = 64 << 10

func (x *Extractor) begin(body []byte, yield func(Link) bool) {
	decoded, text, open := x.decoded[:0], x.text.buf[:0], x.foreign.open[:0]
	if cap(decoded) > maxKept {
		decoded = nil
	}
	x.reading = reading{
		yield: yield, scan: scanner{Scanner: markup.Scanner{Body: body}}, odd: bytes.IndexByte(body, '\r') >= 0 || bytes.IndexByte(body, 0) >= 0,
		decoded: decoded, text: collapsed{buf: text}, foreign: foreign{open: open},
	}
}

// readers is what reads a document of which type. Whatever the type says, it is read by
// what is in it, never by the name of the file.
var readers = []struct {
	types []string
	read  func(*Extractor)
}{
	{[]string{"text/html"}, (*Extractor).html},
	{[]string{"application/xhtml+xml"}, (*Extractor).xhtml},
	{[]string{"image/svg+xml"}, (*Extractor).svgDocument},
	{[]string{"text/css"}, (*Extractor).css},
	{[]string{"application/rss+xml", "application/atom+xml", "application/rdf+xml"}, (*Extractor).feed},
	{[]string{"application/xml", "text/xml"}, (*Extractor).xml},
	{[]string{"application/ld+json"}, (*Extractor).jsonDocument},
	{javaScript, (*Extractor).scriptDocument},
}

func readerOf(contentType string) func(*Extractor) {
	essence := mediaType(contentType)
	for _, r := range readers {
		if slices.Contains(r.types, essence) {
			return r.read
		}
	}
	return nil
}

// Reads reports whether documents of a content type can have links, so that they need
// to be in UTF-8.
func Reads(contentType string) bool { return readerOf(contentType) != nil }

// A Mention is a URL as a page writes it, before it is resolved. Its bytes are good
// until yield returns.
type Mention struct {
	Value     []byte // decoded
	Tag, Attr string // in lower case
	Rel       []byte // of a, area and link: decoded
	Kind      Kind
}

// Mentions yields what Extract would resolve, without a copy and without an allocation,
// in the order in which it stands, until yield returns false. Bare and the texts of
// anchors mean nothing here, and Base and Refresh of the Page are zero where they are
// not absolute URLs.
func (x *Extractor) Mentions(contentType string, body []byte, yield func(Mention) bool) Page {
	x.begin(body, nil)
	x.mentioned = yield
	x.setBase(weburl.URL{})
	return x.end(contentType)
}

func (x *Extractor) wants(k Kind) bool { return x.options.Kinds.Has(k) }

// found yields a mention, or the link that it is, if it is one.
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

// link makes the link that a mention is.
func (x *Extractor) link(m *Mention) (l Link, ok bool) {
	if len(m.Value) > 2*maxValue {
		return Link{}, false
	}
	u, ok := x.resolve(m.Value)
	if !ok || !u.IsHTTP() {
		return Link{}, false
	}
	l = Link{URL: u, Tag: m.Tag, Attr: m.Attr, Kind: m.Kind}
	if len(m.Rel) > 0 {
		l.NoFollow = hasWord(m.Rel, "nofollow")
	}
	if !x.options.Bare {
		l.Raw = x.strings.string(m.Value)
		l.Rel = x.relation(m.Rel)
	}
	return l, true
}

// setBase makes base what links are resolved against from here on.
func (x *Extractor) setBase(base weburl.URL) {
	x.page.Base = base
	x.excess = max(0, len(base.String())-longBase)
	x.urls.ResetIn(base, x.charset)
}

// resolve resolves a value against the base. Bytes that are not UTF-8 count as U+FFFD.
func (x *Extractor) resolve(value []byte) (weburl.URL, bool) {
	if x.spent += x.excess; x.spent > maxExcess {
		x.stopped, x.page.Cut = true, true
		return weburl.URL{}, false
	}
	u, err := x.urls.Resolve(value)
	return u, err == nil
}

// relation is a rel attribute as a string. Nearly all of them are one of few.
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

// raw returns an attribute of the current tag, undecoded; nil if it is absent.
func (x *Extractor) raw(a attribute) []byte {
	if x.present&(1<<a) == 0 {
		return nil
	}
	return x.values[a]
}

// value returns an attribute of the current tag, decoded; nil if it is absent. One too
// long to mean anything is as good as empty.
func (x *Extractor) value(a attribute) []byte {
	raw := x.raw(a)
	if len(raw) > maxValue {
		return raw[:0]
	}
	return x.decode(raw)
}

// decode decodes an attribute's value. Most are what they are.
func (x *Extractor) decode(raw []byte) []byte {
	if bytes.IndexByte(raw, '&') < 0 && !(x.odd && bytes.ContainsAny(raw, "\r\x00")) {
		return raw
	}
	from := len(x.decoded)
	x.decoded = appendValue(x.decoded, raw)
	return x.decoded[from:]
}
