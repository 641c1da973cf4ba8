package links

import (
	"bytes"

	"github.com/weftcrawl/weft/internal/markup"
)

// An attribute is the name of an attribute that the extractor reads.
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
	srcDoc
	rel
	role
	typ
	content
	metaName
	httpEquiv
	property
	itemProp
	cite
	ping
	dataSrc
	dataSrcset
	numAttributes
)

var attributeNames = [numAttributes]string{
	href: "href", xlinkHref: "xlink:href", src: "src", srcset: "srcset", imageSrcset: "imagesrcset", action: "action",
	formAction: "formaction", data: "data", poster: "poster", style: "style", srcDoc: "srcdoc", rel: "rel", role: "role", typ: "type",
	content: "content", metaName: "name", httpEquiv: "http-equiv",
	property: "property", itemProp: "itemprop", cite: "cite", ping: "ping", dataSrc: "data-src", dataSrcset: "data-srcset",
}

// attributes are those of the current start tag.
type attributes struct {
	odd     bool                  // the body has a carriage return or a NUL
	present uint32                // the attributes it has, as bits
	values  [numAttributes][]byte // of those, undecoded
	decoded []byte                // values that needed decoding, one after the other
}

// newAttributes begins a body; decoded is a buffer.
func newAttributes(body, decoded []byte) attributes {
	return attributes{odd: bytes.IndexByte(body, '\r') >= 0 || bytes.IndexByte(body, 0) >= 0, decoded: decoded}
}

// reset gives up the values of the tag before.
func (t *attributes) reset() { t.decoded = t.decoded[:0] }

// read reads the attributes of a tag that matters, whose name the scanner has read.
func (t *attributes) read(s *scanner) {
	t.present = 0
	s.Pos = skipClass(s.Body, s.Pos)
	for {
		name, value, ok := s.Attr()
		if !ok {
			s.style, s.role = t.raw(style), t.raw(role)
			return
		}
		if a := lookupAttribute(name); a < numAttributes && t.present&(1<<a) == 0 {
			t.present |= 1 << a
			t.values[a] = value
		}
	}
}

// raw returns an attribute, undecoded; nil if it is absent.
func (t *attributes) raw(a attribute) []byte {
	if t.present&(1<<a) == 0 {
		return nil
	}
	return t.values[a]
}

// value returns an attribute, decoded; nil if it is absent. One too long to mean anything counts as
// empty.
func (t *attributes) value(a attribute) []byte {
	raw := t.raw(a)
	if len(raw) > maxValue {
		return raw[:0]
	}
	return t.decode(raw)
}

// decode decodes an attribute's value. Most need no decoding.
func (t *attributes) decode(raw []byte) []byte {
	if bytes.IndexByte(raw, '&') < 0 && !(t.odd && bytes.ContainsAny(raw, "\r\x00")) {
		return raw
	}
	from := len(t.decoded)
	t.decoded = appendValue(t.decoded, raw)
	return t.decoded[from:]
}

// lookupAttribute returns the attribute of this name, numAttributes if it does not matter. A
// name is not empty.
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
