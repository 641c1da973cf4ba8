package links

import (
	"bytes"
	"slices"

	"github.com/weftcrawl/weft/internal/markup"
)

// maxScriptURL bounds a URL in a script, in bytes.
const maxScriptURL = 2 << 10

// javaScript are the content types in use for JavaScript; see
// https://mimesniff.spec.whatwg.org/#javascript-mime-type.
var javaScript = []string{"text/javascript", "application/javascript", "application/x-javascript", "application/ecmascript", "text/ecmascript"}

// IsScript reports whether a content type is one of JavaScript.
func IsScript(contentType string) bool { return slices.Contains(javaScript, mediaType(contentType)) }

// scriptDocument reads a document of JavaScript.
func (x *Extractor) scriptDocument() {
	if x.options.Scripts {
		x.scriptURLs("script", x.scan.Body)
	}
}

// scriptURLs yields strings of a script that look like a URL: quoted text that begins with
// http://, https://, or one or two slashes and a letter or digit, and has no white space, angle
// brackets, braces, or backslash other than that of "\/" up to the closing quote. The script is
// neither run nor understood, so a URL made of parts is missed, and a string that is no URL may
// be yielded.
//
// A string that is no URL ends at a byte that cannot be in one; the search continues there, so
// the time is linear.
func (x *Extractor) scriptURLs(tag string, text []byte) {
	if !x.wants(KindText) {
		return
	}
	for at := 0; !x.stopped; {
		i := bytes.IndexAny(text[at:], "\"'`")
		if i < 0 {
			return
		}
		quote := text[at+i]
		at += i + 1
		end := at
		for end < len(text) && end-at < maxScriptURL && canBeInURL(text, end) {
			end++
		}
		if end == len(text) || text[end] != quote {
			at = end
			continue
		}
		value := text[at:end]
		from := value
		at = end + 1
		if bytes.IndexByte(value, '\\') >= 0 {
			value = bytes.ReplaceAll(value, []byte(`\/`), []byte("/"))
		}
		if looksLikeURL(value) {
			x.found(&Mention{Value: value, Tag: tag, Attr: "text", Kind: KindText, from: from})
		}
	}
}

func canBeInURL(text []byte, at int) bool {
	switch c := text[at]; c {
	case '"', '\'', '`', '<', '>', '{', '}', '|', '^':
		return false
	case '\\':
		return at+1 < len(text) && text[at+1] == '/'
	default:
		return c > ' '
	}
}

func looksLikeURL(b []byte) bool {
	for _, scheme := range []string{"http://", "https://"} {
		if len(b) > len(scheme) && markup.EqualFold(b[:len(scheme)], scheme) {
			return true
		}
	}
	rest := bytes.TrimPrefix(b, []byte("/"))
	if len(rest) == len(b) {
		return false
	}
	rest = bytes.TrimPrefix(rest, []byte("/"))
	return len(rest) > 0 && markup.IsAlphanumeric(rest[0])
}
