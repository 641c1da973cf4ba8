package links

// An attribute is one that the extractor reads.
type attribute uint8

const (
	href attribute = iota
	src
	srcset
	action
	data
	poster
	rel
	content
	metaName
	httpEquiv
	numAttributes
)

var attributeNames = [numAttributes]string{
	href: "href", src: "src", srcset: "srcset", action: "action", data: "data", poster: "poster",
	rel: "rel", content: "content", metaName: "name", httpEquiv: "http-equiv",
}

// lookupAttribute returns numAttributes for a name that does not matter.
func lookupAttribute(name []byte) attribute {
	for a, known := range attributeNames {
		if equalFold(name, known) {
			return attribute(a)
		}
	}
	return numAttributes
}

// An element is one that the extractor looks into.
type element struct {
	tag   string
	links []attribute                    // hold URLs, in the order in which they are yielded
	rel   bool                           // has a rel worth telling
	empty bool                           // an empty value is a link to the base
	raw   bool                           // the content is raw text
	read  func(x *extractor, e *element) // what else is read of it, or nil
}

// elements is the whole policy of what is read.
var elements = []element{
	{tag: "a", links: []attribute{href}, rel: true, empty: true, read: (*extractor).anchor},
	{tag: "area", links: []attribute{href}, rel: true, empty: true},
	{tag: "audio", links: []attribute{src}},
	{tag: "base", read: (*extractor).base},
	{tag: "embed", links: []attribute{src}},
	{tag: "form", links: []attribute{action}},
	{tag: "frame", links: []attribute{src}},
	{tag: "iframe", links: []attribute{src}},
	{tag: "img", links: []attribute{src, srcset}},
	{tag: "link", links: []attribute{href}, rel: true},
	{tag: "meta", read: (*extractor).meta},
	{tag: "noembed", raw: true},
	{tag: "object", links: []attribute{data}},
	{tag: "plaintext", raw: true},
	{tag: "script", links: []attribute{src}, raw: true},
	{tag: "source", links: []attribute{src, srcset}},
	{tag: "style", raw: true},
	{tag: "textarea", raw: true},
	{tag: "title", raw: true},
	{tag: "video", links: []attribute{src, poster}},
	{tag: "xmp", raw: true},
}

// elementsByLetter is elements by their first letter, so that most tags (div,
// span, p, li, ul) are done with after a byte or a length.
var elementsByLetter = func() (table ['z' + 1][]*element) {
	for i := range elements {
		letter := elements[i].tag[0]
		table[letter] = append(table[letter], &elements[i])
	}
	return table
}()

// lookupElement returns nil for a tag that does not matter. A tag name begins
// with a letter.
func lookupElement(name []byte) *element {
	for _, e := range elementsByLetter[name[0]|0x20] {
		if equalFold(name, e.tag) {
			return e
		}
	}
	return nil
}
