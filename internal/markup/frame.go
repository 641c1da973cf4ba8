package markup

import (
	"bytes"
	"html"
)

// FrameURL returns the URL of a frame of a rendered document, whose srcdoc attribute begins with it
// in a <base>. It is empty for a frame without one: about:srcdoc, about:blank.
func FrameURL(srcdoc []byte) (url string, ok bool) {
	rest, ok := bytes.CutPrefix(srcdoc, []byte(`<base href="`))
	base, _, ends := bytes.Cut(rest, []byte(`">`))
	if !ok || !ends {
		return "", false
	}
	if bytes.HasPrefix(base, []byte("about:")) {
		return "", true
	}
	return html.UnescapeString(string(base)), true
}
