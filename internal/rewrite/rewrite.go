package rewrite

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

// Policy has the rules for the URLs of a document.
type Policy struct {
	// URL returns what stands for a URL of http or https from now on. It is given a URL with its
	// fragment.
	URL func(u weburl.URL, use Use) (string, Fate)

	Insert  string // markup for the head; "": none
	Base    bool   // the base element stays, with another URL; otherwise it goes
	Confine bool   // nothing opens in another window or frame
	Data    bool   // XML for programs: only style sheets that its instructions name have other URLs
}

// Use is a browser's use of a URL.
type Use uint8

// Uses.
const (
	Follow Use = iota // nothing, until a person goes there
	Load              // it loads it to show the document
	Hint              // it may do so in advance, or prepare to: a document looks the same without
)

// Fate is the treatment of a URL.
type Fate uint8

// Fates.
const (
	Keep    Fate = iota // it stays as it is
	Replace             // another takes its place
	Remove              // nothing is loaded in its place
)

// nothing is a URL that leads to nothing, and asks nobody.
const nothing = "data:,"

// MaxAdded bounds the URLs of a document, in bytes of all together: beyond it links stay as they
// are, and nothing is loaded. A long base URL would make gigabytes of short relative ones.
const MaxAdded = 32 << 20

// Rewriter gives a document other URLs. Everything else keeps its bytes.
type Rewriter struct {
	policy   *Policy
	encoding *charset.Encoding
	xml      bool

	urls    weburl.Resolver
	based   bool              // there was a base element
	moved   bool              // it is removed
	insert  string            // is not inserted yet
	root    span              // of XML: where the first tag stands
	entity  map[string][]byte // of XML: what a reference to a name stands for, as it is written
	foreign int               // open elements of SVG and MathML
	depth   int               // of documents in one another
	added   int               // bytes of rewritten URLs
	attrs   []attr
}

// attr is an attribute of a tag and where it stands.
type attr struct {
	name, value []byte
	from, to    int
}

// span is the position of a part of a document.
type span struct{ from, to int }

// New returns what rewrites one document in an encoding, which is XML or not. Its URLs are relative
// to base. ASCII in the encoding is ASCII.
func New(p *Policy, base weburl.URL, encoding *charset.Encoding, xml bool) *Rewriter {
	w := &Rewriter{policy: p, encoding: encoding, xml: xml, insert: p.Insert}
	w.urls.ResetIn(base, encoding.Name())
	return w
}

// url returns what a URL of the document becomes. It stays if it is a part of the document, or
// neither http nor https. A page of the Web loads no files of its reader's machine or network:
// opened from disk, it could.
func (w *Rewriter) url(value []byte, use Use) (string, Fate) {
	value = markup.Trim(value)
	switch {
	case !w.moved && (len(value) == 0 || value[0] == '#'), w.added > MaxAdded && use == Follow:
		return "", Keep
	case w.added > MaxAdded:
		return "", Remove
	}
	u, err := w.urls.Resolve(value)
	if err == nil && u.Scheme() == "file" && use == Load {
		return "", Remove
	}
	if err != nil || !u.IsHTTP() {
		return "", Keep
	}
	to, fate := w.policy.URL(u, use)
	w.added += len(to)
	return to, fate
}

// HTML rewrites a page, or another document of elements: SVG.
func (w *Rewriter) HTML(body []byte) []byte {
	s := markup.Scanner{Body: body}
	out := make([]byte, 0, len(body)+len(body)/4)
	done := 0 // what stands before is in out
	if w.xml {
		if out, done = w.prolog(&s, out); w.policy.Data {
			out, done = w.intoRoot(body, out, done)
			return append(out, body[done:]...)
		}
	}
	for {
		token := s.Next()
		switch at := begins(body, &s); {
		case w.insert == "":
		case w.xml && s.From+len(s.Text) >= w.root.to:
			out, done = w.intoRoot(body, out, done)
		case !w.xml && at >= 0:
			out, done = append(append(out, body[done:at]...), w.head()...), at
		}
		if token == markup.EOF {
			return append(out, body[done:]...)
		}
		if token == markup.Other {
			out, done = w.instruction(&s, out, done)
			continue
		}
		name, start := strings.ToLower(string(s.Name)), s.From+len(s.Text)
		tag := w.local(name)
		w.attrs = w.attrs[:0]
		for name, value, ok := s.Attr(); ok; name, value, ok = s.Attr() {
			w.attrs = append(w.attrs, attr{name, value, place(body, name), s.Pos})
		}
		if s.Cut {
			continue
		}
		end := token == markup.EndTag
		if w.count(tag, end, &s); end && (w.insert == "" || !endsHead[tag]) {
			continue
		}
		if !w.xml && w.insert != "" && (end || tag != "html" && tag != "head") {
			out, done = append(append(out, body[done:start]...), w.head()...), start
		}
		if end {
			continue
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
		if !w.xml && w.insert != "" && tag == "head" {
			out = append(append(out, body[done:s.Pos]...), w.head()...)
			done = s.Pos
		}
		if text := w.rawText(tag, name, &s); tag == "style" {
			from := s.Pos - len(text)
			out = w.appendSheet(append(out, body[done:from]...), text)
			done = s.Pos
		}
	}
}

// local returns the name of an element or attribute without the prefix that it has in XML.
func (w *Rewriter) local(name string) string {
	if w.xml {
		return name[strings.LastIndexByte(name, ':')+1:]
	}
	return name
}

// endsHead are the end tags that end a head which has not begun. Other ones have no effect there.
// See https://html.spec.whatwg.org/#the-before-head-insertion-mode.
var endsHead = map[string]bool{"head": true, "body": true, "html": true, "br": true}

// begins returns where the text before a token begins, without space; -1: nowhere. Text begins the
// body of a page: markup behind it is in no head. A byte order mark is no text.
func begins(body []byte, s *markup.Scanner) int {
	text := s.Text
	if s.From == 0 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	for i, c := range text {
		if !markup.IsSpace(c) {
			return place(body, text) + i
		}
	}
	return -1
}

// head returns what is inserted. It is the head of XML, where none begins by itself.
func (w *Rewriter) head() (markup string) {
	markup, w.insert = w.insert, ""
	if w.xml {
		return `<head xmlns="http://www.w3.org/1999/xhtml">` + markup + "</head>"
	}
	return markup
}

// instruction moves behind an instruction of XML, which may hold any character, and rewrites one
// that names a style sheet. It returns the output and what of the body is in it.
func (w *Rewriter) instruction(s *markup.Scanner, out []byte, done int) ([]byte, int) {
	from := s.From + len(s.Text)
	text := s.Body[from:]
	if !w.xml || !bytes.HasPrefix(text, []byte("<?")) {
		return out, done
	}
	s.Pos = markup.After(s.Body, from, "?>")
	if !bytes.HasPrefix(text, []byte(instruction)) {
		return out, done
	}
	in := markup.Scanner{Body: s.Body[:s.Pos], Pos: from + len(instruction)}
	for name, value, ok := in.Attr(); ok; name, value, ok = in.Attr() {
		if string(name) != "href" {
			continue
		}
		value = markup.Trim(w.text(value))
		url, fate := w.url(value, Load)
		switch inside := len(value) == 0 || value[0] == '#'; {
		case inside && w.policy.Insert != "": // XSLT, which makes a page without what is inserted
			fate = Remove
		case fate == Keep:
			return out, done
		}
		if fate == Replace {
			out = append(out, s.Body[done:place(s.Body, name)]...)
			return w.appendAttribute(out, name, []byte(url)), in.Pos
		}
		break
	}
	return append(out, s.Body[done:from]...), s.Pos
}

// instruction begins the processing instruction that names a style sheet of an XML document.
const instruction = "<?xml-stylesheet"

// place returns where a part of a body begins.
func place(body, part []byte) int { return cap(body) - cap(part) }

// count follows SVG and MathML, whose elements hold no raw text.
func (w *Rewriter) count(tag string, end bool, s *markup.Scanner) {
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
func (w *Rewriter) rawText(tag, name string, s *markup.Scanner) []byte {
	if s.SelfClosing && (w.xml || w.foreign > 0) {
		return nil
	}
	switch tag {
	case "script", "style":
		return s.RawText(name)
	case "iframe", "noembed", "noframes", "plaintext", "textarea", "title", "xmp":
		if !w.xml && w.foreign == 0 {
			return s.RawText(tag)
		}
	}
	return nil
}

// appendAttribute appends an attribute whose value is UTF-8.
func (w *Rewriter) appendAttribute(out, name, value []byte) []byte {
	out = append(append(out, name...), `="`...)
	return append(w.appendEscaped(out, value), '"')
}

// appendEscaped appends text that is UTF-8. In a document of another encoding, references stand for
// characters outside of ASCII.
func (w *Rewriter) appendEscaped(out, value []byte) []byte {
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
	return out
}

// text returns an attribute's value in UTF-8, without references.
func (w *Rewriter) text(raw []byte) []byte {
	return markup.AppendText(nil, w.encoding.Decode(w.expand(raw)), markup.InAttribute)
}

// Bounds of documents in one another by srcdoc: how deep they are, and how long, in bytes. Each
// level escapes those in it once more.
const (
	maxDepth  = 4
	mostInner = 1 << 20
)

// attribute returns what an attribute becomes: change reports whether it does, and nil removes it.
func (w *Rewriter) attribute(tag string, a attr) (value []byte, change bool) {
	name := strings.ToLower(string(a.name))
	if w.local(name) == "href" { // whatever the prefix of XLink is
		name = "href"
	}
	switch name {
	case "href", "xlink:href", "src", "action", "formaction", "poster", "background", "longdesc", "data-src", "data",
		"cite", "lowsrc", "dynsrc":
		if name == "data" && tag != "object" {
			return nil, false
		}
		if tag == "base" && name == "href" {
			return w.base(w.text(a.value))
		}
		url, fate := w.url(w.text(a.value), w.use(tag, name))
		if fate == Remove && tag == "script" {
			return []byte(nothing), true // without the attribute, its text would run
		}
		if fate == Remove {
			return nil, true
		}
		return []byte(url), fate == Replace
	case "srcset", "imagesrcset", "data-srcset":
		return w.srcset(w.text(a.value), w.use(tag, name)), true
	case "style", "mask", "filter", "clip-path", "cursor": // SVG has properties as attributes
		text := w.text(a.value)
		return w.css(nil, text, utf8Text), bytes.IndexByte(text, '(') >= 0
	case "to", "from", "by", "values":
		if tag == "set" || tag == "animate" {
			return w.animated(w.text(a.value))
		}
	case "value":
		if tag == "param" && parameters[strings.ToLower(w.other("name"))] {
			url, fate := w.url(w.text(a.value), Load)
			return []byte(url), fate != Keep
		}
	case "manifest":
		if tag == "html" {
			_, fate := w.url(w.text(a.value), Hint)
			return nil, fate == Remove
		}
	case "srcdoc":
		if tag != "iframe" || w.depth == maxDepth || len(a.value) > mostInner {
			return nil, tag == "iframe"
		}
		inner := New(w.policy, w.urls.Base(), charset.Lookup("utf-8"), false)
		inner.depth, inner.added, inner.moved, inner.insert = w.depth+1, w.added, w.moved, ""
		value = inner.HTML(w.text(a.value))
		w.added = inner.added
		return value, true
	case "type":
		if tag == "script" && strings.EqualFold(string(markup.Trim(w.text(a.value))), "speculationrules") {
			return []byte("application/json"), true // which asks for any URL, and is nothing without
		}
	case "integrity", "crossorigin", "nonce", "ping": // of what was before it was rewritten
		return nil, true
	case "target":
		return nil, w.policy.Confine && slices.Contains([]string{"_blank", "_new", "_parent", "_top"}, strings.ToLower(string(a.value)))
	case "http-equiv", "content":
		if tag == "meta" {
			return w.meta(name, a)
		}
	}
	return nil, false
}

// base reads a base element, and returns what becomes of its URL. The first one counts.
func (w *Rewriter) base(value []byte) ([]byte, bool) {
	url, fate := "", Keep
	if w.policy.Base {
		url, fate = w.url(value, Follow)
	}
	if !w.based {
		w.based, w.moved = true, !w.policy.Base
		if base, err := w.urls.Resolve(value); err == nil {
			w.urls.ResetIn(base, w.encoding.Name())
		}
	}
	if !w.policy.Base {
		return nil, true
	}
	return []byte(url), fate == Replace
}

// use returns what a browser does with the URL of an attribute.
func (w *Rewriter) use(tag, name string) Use {
	switch name {
	case "action", "formaction", "longdesc", "cite", "data-src", "data-srcset":
		return Follow
	}
	switch tag {
	case "a", "area", "form":
		return Follow
	case "link":
		return w.relation()
	}
	return Load
}

// relations are those of a link element that a browser acts on.
var relations = map[string]Use{
	"stylesheet": Load, "icon": Load, "apple-touch-icon": Load, "apple-touch-icon-precomposed": Load, "mask-icon": Load,
	"preload": Load, "modulepreload": Load,
	"compression-dictionary": Hint, "manifest": Hint, "preconnect": Hint, "dns-prefetch": Hint, "prefetch": Hint, "prerender": Hint,
}

// relation returns what a browser does with a link element: of several relations, what counts most.
func (w *Rewriter) relation() (use Use) {
	for word := range strings.FieldsSeq(strings.ToLower(w.other("rel"))) {
		if is := relations[word]; use != Load && is != Follow {
			use = is
		}
	}
	return use
}

// other returns the value of another attribute of the tag; "": there is none.
func (w *Rewriter) other(name string) string {
	for _, a := range w.attrs {
		if markup.EqualFold(a.name, name) {
			return string(w.text(a.value))
		}
	}
	return ""
}

// parameters are names of param elements by which plugins, and browsers, have found what an object
// shows.
var parameters = map[string]bool{"movie": true, "src": true, "data": true, "url": true, "code": true, "filename": true}

// animated rewrites what an animation makes of another attribute, one value after another: URLs
// where it is one, properties otherwise.
func (w *Rewriter) animated(text []byte) (out []byte, change bool) {
	name := strings.TrimSpace(w.other("attributename"))
	if !strings.EqualFold(name[strings.LastIndexByte(name, ':')+1:], "href") {
		out = w.css(nil, text, utf8Text)
		return out, !bytes.Equal(out, text)
	}
	for i, value := range bytes.Split(text, []byte(";")) {
		if i > 0 {
			out = append(out, ';')
		}
		switch url, fate := w.url(value, Load); fate {
		case Keep:
			out = append(out, value...)
		case Remove:
			out, change = append(out, nothing...), true
		default:
			out, change = append(out, strings.ReplaceAll(url, ";", "%3B")...), true
		}
	}
	return out, change
}

// meta rewrites the target of a refresh, and removes policies.
func (w *Rewriter) meta(name string, a attr) (value []byte, change bool) {
	equiv := strings.ToLower(w.other("http-equiv"))
	if strings.HasPrefix(equiv, "content-security-policy") {
		return nil, true
	}
	if equiv != "refresh" || name != "content" {
		return nil, false
	}
	content := w.text(a.value)
	target := links.RefreshURL(content)
	url, fate := w.url(target, Load) // nobody clicks
	if fate != Replace {
		return nil, fate == Remove
	}
	from := place(content, target)
	return slices.Concat(content[:from], []byte(url), content[from+len(target):]), true
}

// srcset rewrites a list of images; nil: none is left. One that is removed is replaced by the first
// that is not.
func (w *Rewriter) srcset(text []byte, use Use) (out []byte) {
	type candidate struct {
		from, to int
		url      string
		fate     Fate
	}
	var all []candidate
	stays := ""
	for value := range links.SrcsetURLs(text) {
		from := place(text, value)
		url, fate := w.url(value, use)
		if all = append(all, candidate{from, from + len(value), url, fate}); stays == "" && fate == Replace {
			stays = url
		}
	}
	done := 0
	for _, c := range all {
		switch {
		case c.fate == Keep:
			continue
		case c.fate == Remove && stays == "":
			return nil
		case c.fate == Remove:
			c.url = stays
		}
		out = append(append(out, text[done:c.from]...), c.url...)
		done = c.to
	}
	return append(out, text[done:]...)
}

// AppendCSS appends a rewritten style sheet.
func (w *Rewriter) AppendCSS(out, text []byte) []byte { return w.css(out, text, w.encoding) }

// utf8Text is the encoding of attributes whose references are decoded.
var utf8Text = charset.Lookup("utf-8")

// css appends rewritten CSS in an encoding.
func (w *Rewriter) css(out, text []byte, encoding *charset.Encoding) []byte {
	done := 0
	for at, value := range links.StyleURLs(text) {
		url, fate := w.url(encoding.Decode(value), Load)
		if fate == Keep {
			continue
		}
		if fate == Remove {
			url = nothing
		}
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
	return append(out, text[done:]...)
}
