package links

import "github.com/weftcrawl/weft/internal/markup"

// An attribute is one that the extractor reads.
type attribute uint8

const (
	href attribute = iota
	xlinkHref
	src
	srcset
	imageSrcset
	action
	formAction
	data
	poster
	style
	rel
	role
	typ
	content
	metaName
	httpEquiv
	numAttributes
)

var attributeNames = [numAttributes]string{
	href: "href", xlinkHref: "xlink:href", src: "src", srcset: "srcset", imageSrcset: "imagesrcset", action: "action",
	formAction: "formaction", data: "data", poster: "poster", style: "style", rel: "rel", role: "role", typ: "type",
	content: "content", metaName: "name", httpEquiv: "http-equiv",
}

// A place is an attribute that holds URLs, and what they are for.
type place struct {
	attr attribute
	kind Kind
}

// An element is one that the extractor looks into.
type element struct {
	tag   string
	links []place                                  // in the order in which they are yielded
	rel   bool                                     // has a rel worth telling
	empty bool                                     // an empty value is a link to the base
	raw   bool                                     // in HTML the content is raw text
	svg   bool                                     // in SVG only
	root  bool                                     // what is in it is no HTML
	read  func(x *Extractor, e *element)           // reads the tag, in place of (*Extractor).links; or nil
	text  func(x *Extractor, e *element, b []byte) // reads the raw text, or nil
}

// elements is the whole policy of what is read in HTML and SVG.
var elements = []element{
	{tag: "a", links: []place{{href, KindPage}, {xlinkHref, KindPage}}, rel: true, empty: true, read: (*Extractor).anchor},
	{tag: "area", links: []place{{href, KindPage}}, rel: true, empty: true},
	{tag: "audio", links: []place{{src, KindMedia}}},
	{tag: "base", read: (*Extractor).base},
	{tag: "button", links: []place{{formAction, KindForm}}},
	{tag: "embed", links: []place{{src, KindEmbed}}},
	{tag: "feimage", links: []place{{href, KindImage}, {xlinkHref, KindImage}}, svg: true},
	{tag: "form", links: []place{{action, KindForm}}},
	{tag: "frame", links: []place{{src, KindFrame}}},
	{tag: "iframe", links: []place{{src, KindFrame}}},
	{tag: "image", links: []place{{href, KindImage}, {xlinkHref, KindImage}}, svg: true},
	{tag: "img", links: []place{{src, KindImage}, {srcset, KindImage}}},
	{tag: "input", links: []place{{src, KindImage}, {formAction, KindForm}}},
	{tag: "link", links: []place{{href, KindRelated}, {imageSrcset, KindHint}}, rel: true},
	{tag: "math", root: true},
	{tag: "meta", read: (*Extractor).meta},
	{tag: "noembed", raw: true},
	{tag: "object", links: []place{{data, KindEmbed}}},
	{tag: "plaintext", raw: true},
	{tag: "script", links: []place{{src, KindScript}, {href, KindScript}, {xlinkHref, KindScript}}, raw: true, text: (*Extractor).script},
	{tag: "source", links: []place{{src, KindMedia}, {srcset, KindImage}}},
	{tag: "style", raw: true, text: (*Extractor).styleSheet},
	{tag: "svg", root: true},
	{tag: "textarea", raw: true},
	{tag: "title", raw: true, text: (*Extractor).title},
	{tag: "track", links: []place{{src, KindMedia}}},
	{tag: "use", links: []place{{href, KindImage}, {xlinkHref, KindImage}}, svg: true},
	{tag: "video", links: []place{{src, KindMedia}, {poster, KindImage}}},
	{tag: "xmp", raw: true},
}

// longestName is the length of the longest name that matters.
const longestName = len("imagesrcset")

// A nameIndex finds a name by its first letter and its length: most tags (div, span,
// p, li) and attributes (class, id, title) are told to be of no matter by these alone.
// It holds places in a table, from 1; 0 is none.
type nameIndex [32][longestName + 1][2]uint8

func (x *nameIndex) add(name string, place int) {
	slot := &x[name[0]&0x1f][len(name)]
	if slot[0] != 0 {
		if slot[1] != 0 {
			panic("links: three names of a letter and a length")
		}
		slot[1] = uint8(place + 1)
		return
	}
	slot[0] = uint8(place + 1)
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

// lookupElement returns nil for a tag that does not matter. A tag name begins
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

// lookupAttribute returns numAttributes for a name that does not matter. A name is
// not empty.
func lookupAttribute(name []byte) attribute {
	if len(name) > longestName {
		return numAttributes
	}
	for _, at := range &attributeIndex[name[0]&0x1f][len(name)] {
		if at != 0 && markup.EqualFold(name, attributeNames[at-1]) {
			return attribute(at - 1)
		}
	}
	return numAttributes
}
