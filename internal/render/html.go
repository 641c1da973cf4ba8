package render

import (
	"fmt"
	"html"
)

// Text returns the document in UTF-8: the page, then each frame as the srcdoc of an <iframe> of its
// own, with a <base>.
func (d *Document) Text() []byte {
	text := []byte(d.HTML)
	for _, f := range d.Frames {
		text = fmt.Appendf(text, "\n<iframe hidden srcdoc=\"%s\"></iframe>", html.EscapeString(`<base href="`+html.EscapeString(f.URL)+`">`+f.HTML))
	}
	return text
}
