package replay

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/charset"
	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// rewriter makes the URLs of a document lead into the replay. Everything else keeps its bytes.
type rewriter struct {
	prefix   string // of rewritten URLs: /DATEmp_/
	insert   string // markup for the head; "": none
	encoding *charset.Encoding
	xml      bool

	urls    weburl.Resolver
	based   bool // there was a base element
	foreign int  // open elements of SVG and MathML
	depth   int  // of documents in one another
	added   int  // bytes of rewritten URLs
	attrs   []attr
}

// attr is an attribute of a tag and where it stands.
type attr struct {
	name, value []byte
	from, to    int
}

func newRewriter(prefix string, base weburl.URL, encoding *charset.Encoding) *rewriter {
	w := &rewriter{prefix: prefix, encoding: encoding}
	w.urls.ResetIn(base, encoding.Name())
	return w
}

// url returns what a URL of the document becomes. It stays if it is a part of the document, or
// neither http nor https.
func (w *rewriter) url(value []byte) (string, bool) {
	value = markup.Trim(value)
	// Beyond a limit URLs stay: a long base URL would make gigabytes of short relative ones.
	if len(value) == 0 || value[0] == '#' || w.added > mostRewritten {
		return "", false
	}
	u, err := w.urls.Resolve(value)
	if err != nil || !u.IsHTTP() {
		return "", false
	}
	path := pathOf(w.prefix, u.String())
	w.added += len(path)
	return path, true
}

// pathOf appends a URL to a prefix. A '%' that encodes nothing is encoded: the server of net/http
// refuses it.
func pathOf(prefix, url string) string {
	if !strings.Contains(url, "%") {
		return prefix + url
	}
	b := []byte(prefix)
	for i := range len(url) {
		b = append(b, url[i])
		if url[i] == '%' && (i+2 >= len(url) || !markup.IsHexDigit(url[i+1]) || !markup.IsHexDigit(url[i+2])) {
			b = append(b, "25"...)
		}
	}
	return string(b)
}

// html rewrites a document.
func (w *rewriter) html(body []byte) []byte {
	s := markup.Scanner{Body: body}
	out := make([]byte, 0, len(body)+len(body)/4)
	done := 0 // what stands before is in out
	for {
		token := s.Next()
		if token == markup.EOF {
			return append(out, body[done:]...)
		}
		if token == markup.Other {
			continue
		}
		tag, start := strings.ToLower(string(s.Name)), place(body, s.Name)-1
		w.attrs = w.attrs[:0]
		for name, value, ok := s.Attr(); ok; name, value, ok = s.Attr() {
			w.attrs = append(w.attrs, attr{name, value, place(body, name), s.Pos})
		}
		if s.Cut {
			continue
		}
		if w.count(tag, token == markup.EndTag, &s); token == markup.EndTag {
			continue
		}
		if w.insert != "" && tag != "html" && tag != "head" {
			out = append(append(out, body[done:start]...), w.insert...)
			done, w.insert = start, ""
		}
		for i, a := range w.attrs {
			value, change := w.attribute(tag, a)
			if !change {
				continue
			}
			out = append(out, body[done:w.attrs[i].from]...)
			if value != nil {
				out = w.appendAttribute(out, a.name, value)
			}
			done = a.to
		}
		if w.insert != "" && tag == "head" {
			out = append(append(out, body[done:s.Pos]...), w.insert...)
			done, w.insert = s.Pos, ""
		}
		if text := w.rawText(tag, &s); tag == "style" {
			from := s.Pos - len(text)
			out = w.css(append(out, body[done:from]...), text)
			done = s.Pos
		}
	}
}

// place returns where a part of a body begins.
func place(body, part []byte) int { return cap(body) - cap(part) }

// count follows SVG and MathML, whose elements hold no raw text.
func (w *rewriter) count(tag string, end bool, s *markup.Scanner) {
	switch {
	case tag != "svg" && tag != "math":
	case end:
		w.foreign = max(0, w.foreign-1)
	case !s.SelfClosing:
		w.foreign++
	}
	s.Sections = w.xml || w.foreign > 0
}

// rawText moves behind the raw text of an element, and returns it.
func (w *rewriter) rawText(tag string, s *markup.Scanner) []byte {
	if s.SelfClosing && (w.xml || w.foreign > 0) {
		return nil
	}
	switch tag {
	case "script", "style":
		return s.RawText(tag)
	case "iframe", "noembed", "noframes", "plaintext", "textarea", "title", "xmp":
		if !w.xml && w.foreign == 0 {
			return s.RawText(tag)
		}
	}
	return nil
}

// appendAttribute appends an attribute whose value is UTF-8. In a document of another encoding,
// references stand for characters outside of ASCII.
func (w *rewriter) appendAttribute(out, name, value []byte) []byte {
	out = append(append(out, name...), `="`...)
	for _, c := range string(value) {
		switch {
		case c == '&':
			out = append(out, "&amp;"...)
		case c == '"':
			out = append(out, "&quot;"...)
		case c == '<':
			out = append(out, "&lt;"...)
		case c < utf8.RuneSelf || w.encoding.Name() == "utf-8":
			out = utf8.AppendRune(out, c)
		default:
			out = append(strconv.AppendInt(append(out, "&#"...), int64(c), 10), ';')
		}
	}
	return append(out, '"')
}

// text returns an attribute's value in UTF-8, without references.
func (w *rewriter) text(raw []byte) []byte {
	return markup.AppendText(nil, w.encoding.Decode(raw), markup.InAttribute)
}

// Bounds of documents in one another by srcdoc: how deep they are, and how long, in bytes. Each
// level escapes those in it once more.
const (
	maxDepth  = 4
	mostInner = 1 << 20
)

// attribute returns what an attribute becomes: change reports whether it does, and nil removes it.
func (w *rewriter) attribute(tag string, a attr) (value []byte, change bool) {
	switch name := strings.ToLower(string(a.name)); name {
	case "href", "xlink:href", "src", "action", "formaction", "poster", "background", "longdesc", "data-src", "data":
		if name == "data" && tag != "object" {
			return nil, false
		}
		url, ok := w.url(w.text(a.value))
		if tag == "base" && name == "href" && !w.based {
			w.based = true
			if base, err := w.urls.Resolve(w.text(a.value)); err == nil {
				w.urls.ResetIn(base, w.encoding.Name())
			}
		}
		return []byte(url), ok
	case "srcset", "imagesrcset", "data-srcset":
		return w.srcset(w.text(a.value)), true
	case "style":
		return w.css(nil, w.text(a.value)), bytes.IndexByte(a.value, '(') >= 0
	case "srcdoc":
		if tag != "iframe" || w.depth == maxDepth || len(a.value) > mostInner {
			return nil, tag == "iframe"
		}
		inner := newRewriter(w.prefix, w.urls.Base(), charset.Lookup("utf-8"))
		inner.depth, inner.added = w.depth+1, w.added
		value = inner.html(w.text(a.value))
		w.added = inner.added
		return value, true
	case "integrity", "crossorigin", "nonce", "ping": // of what was before it was rewritten
		return nil, true
	case "target":
		return nil, slices.Contains([]string{"_blank", "_new", "_parent", "_top"}, strings.ToLower(string(a.value)))
	case "http-equiv", "content":
		if tag == "meta" {
			return w.meta(name, a)
		}
	}
	return nil, false
}

// meta rewrites the target of a refresh, and removes policies.
func (w *rewriter) meta(name string, a attr) (value []byte, change bool) {
	equiv := ""
	for _, other := range w.attrs {
		if markup.EqualFold(other.name, "http-equiv") {
			equiv = strings.ToLower(string(w.text(other.value)))
		}
	}
	if strings.HasPrefix(equiv, "content-security-policy") {
		return nil, true
	}
	if equiv != "refresh" || name != "content" {
		return nil, false
	}
	content := w.text(a.value)
	target := links.RefreshURL(content)
	url, ok := w.url(target)
	if !ok {
		return nil, false
	}
	from := place(content, target)
	return slices.Concat(content[:from], []byte(url), content[from+len(target):]), true
}

func (w *rewriter) srcset(text []byte) (out []byte) {
	done := 0
	for candidate := range links.SrcsetURLs(text) {
		if url, ok := w.url(candidate); ok {
			from := place(text, candidate)
			out = append(append(out, text[done:from]...), url...)
			done = from + len(candidate)
		}
	}
	return append(out, text[done:]...)
}

// css appends rewritten CSS.
func (w *rewriter) css(out, text []byte) []byte {
	done := 0
	for at, value := range links.StyleURLs(text) {
		if url, ok := w.url(w.encoding.Decode(value)); ok {
			out = append(out, text[done:at.From]...)
			for i := range len(url) {
				switch c := url[i]; c {
				case '"', '\'', '(', ')', '\\', '<':
					const hex = "0123456789abcdef"
					out = append(out, `\0000`...)
					out = append(out, hex[c>>4], hex[c&15])
				default:
					out = append(out, c)
				}
			}
			done = at.To
		}
	}
	return append(out, text[done:]...)
}
