package mirror

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/internal/rewrite"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// offline is a policy that a page states: whatever its scripts load, its browser asks nobody else.
// The policy does not hold for speculation rules, which a script may add: those are taken out
// before the browser reads them.
const offline = `<meta http-equiv="Content-Security-Policy" content="default-src 'self' file: data: blob: 'unsafe-inline' 'unsafe-eval'" />` +
	`<script>new MutationObserver(() => document.querySelectorAll("script[type=speculationrules i]").forEach(s => s.remove()))` +
	`.observe(document, { childList: true, subtree: true })</script>`

// still is the policy of a page that was rendered: it shows what its scripts have made of it, and
// they would begin anew, with nobody to ask.
const still = `<meta http-equiv="Content-Security-Policy" content="default-src 'self' file: data: blob: 'unsafe-inline'; script-src 'none'" />`

// byteOrderMark says that a text is UTF-8.
const byteOrderMark = "\ufeff"

// links is the knowledge of a document about the others.
type links interface {
	// to returns what leads from the document to a URL: a relative path, or "" if it has no file.
	to(u weburl.URL) string
	// misses is told of a URL without a file that the document would load.
	misses(u weburl.URL)
}

// renderedOf returns the document of a page that was rendered, without those of its frames, which
// follow it: the page loads them.
func renderedOf(body []byte) []byte {
	const end = "</html>"
	if at := bytes.LastIndex(body, []byte(end)); at >= 0 {
		return body[:at+len(end)]
	}
	return body
}

// document returns the body of a page as its file has it, under a policy. A file has no header:
// what the header said of the charset is written into it.
func document(base weburl.URL, contentType string, body []byte, policy string, others links) []byte {
	mediaType := strings.ToLower(record.MediaType(contentType))
	html := mediaType == "text/html"
	xml := isXML(mediaType)
	css := mediaType == "text/css"
	if !html && !xml && !css && !isText(mediaType) {
		return body
	}
	encoding, source := charset.Determine(contentType, body)
	start := ""
	switch name := encoding.Name(); {
	case name == "utf-16le", name == "utf-16be", name == "iso-2022-jp",
		name == "x-user-defined", // which a meta element cannot say
		!html && source == charset.Header && !(xml && name == "utf-8") && slices.ContainsFunc(body, isHigh):
		if body, encoding = encoding.Decode(body), charset.Lookup("utf-8"); !html {
			start = byteOrderMark
		}
		source = charset.Header
	}
	if !html && !xml && !css {
		return append([]byte(start), body...)
	}
	p := rewrite.Policy{URL: func(u weburl.URL, use rewrite.Use) (string, rewrite.Fate) {
		if use == rewrite.Hint {
			return "", rewrite.Remove
		}
		if to := others.to(u); to != "" {
			return to, rewrite.Replace
		}
		if use == rewrite.Load {
			others.misses(u)
			return "", rewrite.Remove
		}
		return u.String(), rewrite.Replace
	}}
	p.Data = xml && mediaType != "image/svg+xml" && mediaType != "application/xhtml+xml"
	if html || xml && !(p.Data && inert(body)) {
		p.Insert = policy
	}
	if html && source == charset.Header && !declares(body, encoding) {
		p.Insert = `<meta charset="` + encoding.Name() + `" />` + p.Insert
	}
	w := rewrite.New(&p, base, encoding, xml)
	if css {
		return w.AppendCSS([]byte(start), body)
	}
	return append([]byte(start), w.HTML(body)...)
}

// isXML reports whether a browser shows files of a type as XML: elements of XHTML and SVG in it,
// such as scripts, are what they are in a page.
func isXML(mediaType string) bool {
	return mediaType == "text/xml" || mediaType == "application/xml" || strings.HasSuffix(mediaType, "+xml")
}

// inert reports whether nothing of XML for programs is an element that a browser acts on: the names
// of their namespaces do not occur, nor what could spell them in another way.
func inert(body []byte) bool {
	for _, word := range []string{"1999/xhtml", "2000/svg", "<!DOCTYPE", "&#"} {
		if bytes.Contains(body, []byte(word)) {
			return false
		}
	}
	return true
}

// isText reports whether a browser reads files of a type as text whose charset it has to guess.
// JSON is UTF-8 always.
func isText(mediaType string) bool {
	switch mediaType {
	case "application/javascript", "application/x-javascript":
		return true
	}
	return strings.HasPrefix(mediaType, "text/")
}

// declares reports whether a page says itself that it has an encoding.
func declares(body []byte, e *charset.Encoding) bool {
	found, source := charset.HTML("text/html", body)
	return found == e && (source == charset.Mark || source == charset.Meta)
}

func isHigh(c byte) bool { return c >= utf8.RuneSelf }

// relative returns what leads from one file to another.
func relative(from, to string) string {
	a, b := strings.Split(from, "/"), strings.Split(to, "/")
	same := 0
	for same < min(len(a), len(b))-1 && a[same] == b[same] {
		same++
	}
	out := []byte(strings.Repeat("../", len(a)-1-same))
	for i := range len(b) - same {
		if i > 0 {
			out = append(out, '/')
		}
		for _, c := range []byte(b[same+i]) {
			if markup.IsAlphanumeric(c) || strings.IndexByte("-._~@=&+", c) >= 0 {
				out = append(out, c)
				continue
			}
			const hex = "0123456789ABCDEF"
			out = append(out, '%', hex[c>>4], hex[c&15])
		}
	}
	return string(out)
}
