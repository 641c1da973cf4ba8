package render

import (
	"fmt"
	"html"
	"strings"
)

// inAttribute escapes a document as the value of an attribute: a byte takes at most escaped more.
var inAttribute = strings.NewReplacer("&", "&amp;", `"`, "&#34;")

const escaped = 4

// Text returns the document in UTF-8: the page, then each frame as the srcdoc of an <iframe> of its
// own, with a <base>.
func (d *Document) Text() []byte {
	text := []byte(d.HTML)
	for _, f := range d.Frames {
		text = fmt.Appendf(text, "\n<iframe hidden srcdoc=\"%s\"></iframe>", inAttribute.Replace(`<base href="`+html.EscapeString(f.URL)+`">`+f.HTML))
	}
	return text
}
