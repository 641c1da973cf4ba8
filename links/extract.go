package links

import (
	"slices"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// Bounds on what is kept of a page, in bytes.
const (
	maxValue = 64 << 10 // of an attribute that holds one URL; longer ones are no links
	maxText  = 200      // of an anchor's text
	maxTitle = 512      // of a page's title
)

// A Link is a URL that a page mentions.
type Link struct {
	Raw  string     // what stood in the attribute, references decoded, trimmed
	URL  weburl.URL // Raw resolved against the base; http or https
	Tag  string     // the element, in lower case
	Attr string     // the attribute, in lower case
	Rel  string     // of a, area and link: the rel attribute, trimmed
	Text string     // of a: its text, white space collapsed, at most 200 bytes
}

// A Page is what is said of a page as a whole.
type Page struct {
	Base     weburl.URL // what links are resolved against in the end
	Title    string     // the first title, white space collapsed, at most 512 bytes
	NoFollow bool       // a robots meta says nofollow or none
	NoIndex  bool       // a robots meta says noindex or none
}

// Options choose what is extracted. The zero value is everything.
type Options struct {
	Tags []string // elements whose links are yielded, in lower case; nil is all of them
}

// Extract yields the links of a page at the URL base, until yield returns false.
// See Options.Extract.
func Extract(base weburl.URL, contentType string, body []byte, yield func(Link) bool) Page {
	return Options{}.Extract(base, contentType, body, yield)
}

// Extract yields the links of a page at the URL base, in the order in which
// their elements are complete: that of an anchor, which has text, when it ends.
// The same URL is yielded as often as it is mentioned.
//
// If yield returns false, Extract stops there and Page is what was read so far.
// A content type that is not HTML or XHTML has no links.
func (o Options) Extract(base weburl.URL, contentType string, body []byte, yield func(Link) bool) Page {
	x := extractor{tags: o.Tags, yield: yield, page: Page{Base: base}}
	switch mediaType(contentType) {
	case "text/html":
		x.scan.body = body
	case "application/xhtml+xml":
		x.scan.body = body
		x.scan.xml = true
	}
	x.run()
	return x.page
}

// mediaType returns a content type without its parameters.
func mediaType(contentType string) string {
	essence, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(essence))
}

type extractor struct {
	tags    []string
	yield   func(Link) bool
	stopped bool // yield wants no more

	scan   scanner
	values [numAttributes][]byte // of the current tag, undecoded; nil is absent

	page     Page
	hasBase  bool
	hasTitle bool

	open    bool // an anchor has begun and not ended
	pending Link // its link; the zero Link if it is not yielded
	text    collapsed
}

func (x *extractor) run() {
	s := &x.scan
	for !x.stopped {
		kind := s.next()
		if x.open {
			x.text.add(s.text)
		}
		switch kind {
		case startTag:
			if e := lookupElement(s.name); e != nil {
				x.element(e)
			} else {
				s.skip()
			}
		case endTag:
			isAnchor := equalFold(s.name, "a")
			if s.skip(); isAnchor && !s.cut {
				x.closeAnchor()
			}
		case eof:
			x.closeAnchor()
			return
		}
	}
}

// element reads a tag that matters, and its content if that is raw text.
func (x *extractor) element(e *element) {
	s := &x.scan
	x.values = [numAttributes][]byte{}
	for {
		name, value, ok := s.attr()
		if !ok {
			break
		}
		if a := lookupAttribute(name); a < numAttributes && x.values[a] == nil {
			x.values[a] = value
		}
	}
	if s.cut {
		return
	}
	if e.read != nil {
		e.read(x, e)
	} else {
		x.links(e)
	}
	if e.raw && !(s.xml && s.selfClosing) {
		text := s.rawText(e.tag)
		if e.tag == "title" && !x.hasTitle {
			x.hasTitle = true
			var title collapsed
			title.reset(maxTitle)
			title.add(text)
			x.page.Title = title.String()
		}
	}
}

// links yields the links of the current tag.
func (x *extractor) links(e *element) {
	for _, a := range e.links {
		raw := x.values[a]
		switch {
		case raw == nil:
		case a == srcset:
			for candidate := range candidates(attrValue(raw)) {
				x.emit(x.link(e, a, candidate))
			}
		case len(raw) <= maxValue && !hasOtherScheme(raw):
			x.emit(x.link(e, a, attrValue(raw)))
		}
	}
}

// link makes the link of a decoded value, or the zero Link if it is none.
func (x *extractor) link(e *element, a attribute, value string) Link {
	value = strings.Trim(value, " \t\n\f\r")
	if !x.wants(e) || value == "" && !e.empty || len(value) > 2*maxValue {
		return Link{}
	}
	u, err := x.page.Base.Resolve(value)
	if err != nil || !u.IsHTTP() {
		return Link{}
	}
	link := Link{Raw: value, URL: u, Tag: e.tag, Attr: attributeNames[a]}
	if e.rel {
		link.Rel = strings.Trim(x.value(rel), " \t\n\f\r")
	}
	return link
}

func (x *extractor) wants(e *element) bool { return x.tags == nil || slices.Contains(x.tags, e.tag) }

// value returns an attribute of the current tag, decoded. One too long to mean
// anything is as good as absent.
func (x *extractor) value(a attribute) string {
	if len(x.values[a]) > maxValue {
		return ""
	}
	return attrValue(x.values[a])
}

func (x *extractor) emit(l Link) {
	if l.Tag != "" && !x.stopped && !x.yield(l) {
		x.stopped = true
	}
}

// anchor opens an <a>. It ends the one before, as it does for the tree builder.
func (x *extractor) anchor(e *element) {
	x.closeAnchor()
	raw := x.values[href]
	if x.stopped || raw == nil || len(raw) > maxValue || hasOtherScheme(raw) {
		return
	}
	x.pending = x.link(e, href, attrValue(raw))
	x.open = x.pending.Tag != ""
	x.text.reset(maxText)
}

func (x *extractor) closeAnchor() {
	if x.open {
		x.open = false
		x.pending.Text = x.text.String()
		x.emit(x.pending)
	}
}

// base reads <base>. The first with an href counts, even if that is no use as a
// base: https://html.spec.whatwg.org/multipage/semantics.html#the-base-element.
func (x *extractor) base(*element) {
	if x.hasBase || x.values[href] == nil {
		return
	}
	x.hasBase = true
	u, err := x.page.Base.Resolve(x.value(href))
	if err == nil && u.Scheme() != "data" && u.Scheme() != "javascript" {
		x.page.Base = u
	}
}

// meta reads <meta name=robots> and <meta http-equiv=refresh>. Of several
// robots metas, whatever one of them forbids is forbidden.
func (x *extractor) meta(e *element) {
	if equalFold(strings.TrimSpace(x.value(metaName)), "robots") {
		for word := range strings.FieldsFuncSeq(x.value(content), isSeparator) {
			switch strings.ToLower(word) {
			case "noindex":
				x.page.NoIndex = true
			case "nofollow":
				x.page.NoFollow = true
			case "none":
				x.page.NoIndex, x.page.NoFollow = true, true
			}
		}
	}
	if equalFold(x.value(httpEquiv), "refresh") {
		if target, ok := refreshTarget(x.value(content)); ok {
			x.emit(x.link(e, content, target))
		}
	}
}

func isSeparator(r rune) bool { return r == ',' || r <= ' ' }
