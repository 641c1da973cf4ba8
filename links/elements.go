package links

import "github.com/weftcrawl/weft/internal/markup"

// A source is an attribute that holds URLs, and what they are for.
type source struct {
	attr attribute
	kind Kind
}

// An element is an HTML element that may hold links.
type element struct {
	tag   string
	links []source                                 // in the order of yielding
	rel   bool                                     // its rel is reported
	empty bool                                     // an empty value is a link to the base
	raw   bool                                     // its content is raw text in HTML
	svg   bool                                     // in SVG only
	root  bool                                     // its content is not HTML
	read  func(x *Extractor, e *element)           // in place of (*Extractor).links, or nil
	text  func(x *Extractor, e *element, b []byte) // reads the raw text, or nil
}

// elements is the whole policy for HTML and SVG.
var elements = []element{
	{tag: "a", links: []source{{href, KindPage}, {xlinkHref, KindPage}, {ping, KindPing}}, rel: true, empty: true, read: (*Extractor).anchor},
	{tag: "area", links: []source{{href, KindPage}, {ping, KindPing}}, rel: true, empty: true},
	{tag: "audio", links: []source{{src, KindMedia}, {dataSrc, KindLazy}}},
	{tag: "base", read: (*Extractor).base},
	{tag: "blockquote", links: []source{{cite, KindCite}}},
	{tag: "button", links: []source{{formAction, KindForm}}},
	{tag: "del", links: []source{{cite, KindCite}}},
	{tag: "embed", links: []source{{src, KindEmbed}}},
	{tag: "feimage", links: []source{{href, KindImage}, {xlinkHref, KindImage}}, svg: true},
	{tag: "form", links: []source{{action, KindForm}}},
	{tag: "frame", links: []source{{src, KindFrame}}},
	{tag: "h1", read: (*Extractor).openHeading},
	{tag: "iframe", links: []source{{src, KindFrame}, {dataSrc, KindLazy}}},
	{tag: "image", links: []source{{href, KindImage}, {xlinkHref, KindImage}}, svg: true},
	{tag: "img", links: []source{{src, KindImage}, {srcset, KindImage}, {dataSrc, KindLazy}, {dataSrcset, KindLazy}}},
	{tag: "input", links: []source{{src, KindImage}, {formAction, KindForm}}},
	{tag: "ins", links: []source{{cite, KindCite}}},
	{tag: "link", links: []source{{href, KindRelated}, {imageSrcset, KindPreload}}, rel: true},
	{tag: "math", root: true},
	{tag: "meta", read: (*Extractor).meta},
	{tag: "noembed", raw: true},
	{tag: "object", links: []source{{data, KindEmbed}}},
	{tag: "plaintext", raw: true},
	{tag: "q", links: []source{{cite, KindCite}}},
	{tag: "script", links: []source{{src, KindScript}, {href, KindScript}, {xlinkHref, KindScript}}, raw: true, text: (*Extractor).script},
	{tag: "source", links: []source{{src, KindMedia}, {srcset, KindImage}, {dataSrc, KindLazy}, {dataSrcset, KindLazy}}},
	{tag: "style", raw: true, text: (*Extractor).styleSheet},
	{tag: "svg", root: true},
	{tag: "textarea", raw: true},
	{tag: "title", raw: true, text: (*Extractor).title},
	{tag: "track", links: []source{{src, KindMedia}}},
	{tag: "use", links: []source{{href, KindImage}, {xlinkHref, KindImage}}, svg: true},
	{tag: "video", links: []source{{src, KindMedia}, {poster, KindImage}, {dataSrc, KindLazy}}},
	{tag: "xmp", raw: true},
}

// backed are the elements that may have a background attribute (HTML Standard, section 15.3). They
// are so frequent, and the attribute so rare, that the scanner looks for it in tags it passes over.
var backed = []string{"body", "table", "tbody", "td", "tfoot", "th", "thead", "tr"}

// longestName is the length of the longest name that matters.
const longestName = len("imagesrcset")

// A nameIndex finds a name by its first letter and its length: these alone rule out most tags
// (div, span, p, li) and attributes (class, id, title). It holds positions in a table, counted
// from 1; 0 means none.
type nameIndex [32][longestName + 1][2]uint8

func (x *nameIndex) add(name string, at int) {
	slot := &x[name[0]&0x1f][len(name)]
	if slot[0] != 0 {
		if slot[1] != 0 {
			panic("links: three names share a letter and a length")
		}
		slot[1] = uint8(at + 1)
		return
	}
	slot[0] = uint8(at + 1)
}

var elementIndex = func() (x nameIndex) {
	for i := range elements {
		x.add(elements[i].tag, i)
	}
	return x
}()

var attributeIndex = func() (x nameIndex) {
	for a, name := range attributeNames {
		x.add(name, a)
	}
	return x
}()

// lookupElement returns the element of this name, nil if it does not matter. A tag name begins
// with a letter.
func lookupElement(name []byte) *element {
	if len(name) > longestName {
		return nil
	}
	for _, at := range &elementIndex[name[0]&0x1f][len(name)] {
		if at != 0 && markup.EqualFold(name, elements[at-1].tag) {
			return &elements[at-1]
		}
	}
	return nil
}
