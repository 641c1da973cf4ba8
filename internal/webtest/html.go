package webtest

import (
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// charset is the encoding of a page.
type charset struct {
	name     string
	labelled bool   // in the Content-Type field; otherwise in a meta element
	words    string // text beyond ASCII that it can encode
	encode   func(utf8 []byte) []byte
}

var charsets = [...]charset{
	{"utf-8", true, "Grüße, Привет, 你好", func(b []byte) []byte { return b }},
	{"iso-8859-1", true, "Café, Grüße", func(b []byte) []byte { return bytewise(b, 0) }},
	{"windows-1251", true, "Привет", func(b []byte) []byte { return bytewise(b, 0x410-0xc0) }},
	{"windows-1251", false, "Привет", func(b []byte) []byte { return bytewise(b, 0x410-0xc0) }},
	{"utf-16le", true, "Grüße, Привет, 你好", littleEndian},
}

// bytewise encodes each rune as a byte: ASCII as itself, others minus offset.
func bytewise(b []byte, offset rune) []byte {
	var out []byte
	for _, r := range string(b) {
		if r >= utf8.RuneSelf {
			r -= offset
		}
		out = append(out, byte(r))
	}
	return out
}

// littleEndian encodes as UTF-16, with a byte order mark.
func littleEndian(b []byte) []byte {
	out := []byte{0xff, 0xfe}
	for _, r := range string(b) {
		for _, u := range utf16.AppendRune(nil, r) {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

// charset draws the charset of a page.
func (w *Web) charset(p resource) charset {
	d := w.draws.dice(saltCharset, resource{host: p.host, kind: p.kind, n: p.n})
	if p.kind != page || d.unit() >= w.cfg.Rates.Charset {
		return charsets[0]
	}
	return charsets[1+d.roll(len(charsets)-1)]
}

// decoys look like links but are none, or lead to no page.
const decoys = `<!-- <a href="/decoy/comment"> --><script>"<a href='/decoy/inline'>"</script>` +
	`<textarea><a href="/decoy/textarea"></textarea><style>/*<a href=/decoy/style>*/</style>` +
	`<a name=here>x</a><a href="mailto:decoy@weft.test">mail</a><a href="javascript:location='/decoy/run'">run</a>` +
	`<a href="tel:+1">call</a><a href="data:text/html,<a href=/decoy/data>">data</a>` +
	`<div data-href="/decoy/data-attribute" title='<a href="/decoy/attribute">'></div>` + "\n"

// filler is the text of pages. It holds no '<' and no '&'. Changing it changes every page.
var filler = strings.Repeat("The crawler asks, the web answers; what it has seen it asks no more. A page is a page until it is moved, and a link leads where it leads. ", 60)

// html renders a page. Its copies have the same bytes.
func (w *Web) html(p resource, links []link) []byte {
	if p.kind == page {
		p.sub = 0
	}
	cs := w.charset(p)
	look := w.draws.dice(saltLook, p)
	s := &speller{web: w, host: p.host, depth: strings.Count(w.target(p), "/") - 1, charset: cs}
	n := w.cfg.PageBytes/2 + look.roll(w.cfg.PageBytes+1)
	b := make([]byte, 0, n+n/2+1024)
	b = append(b, "<!DOCTYPE html>\n<html lang=en><head>"...)
	if !cs.labelled {
		b = wrap(b, `<meta charset="`, cs.name, `">`)
	}
	name := strconv.Itoa(int(p.n)) + " of " + w.Name(int(p.host))
	b = wrap(b, "<title>", name+": "+cs.words, "</title>")
	if p.kind == page && w.draws.has(saltBase, p, w.cfg.Rates.Base) {
		b = append(b, `<base href="/base/x/">`...)
		s.depth = 2
	}
	b = append(b, "</head>\n<body>\n"...)
	b = wrap(b, "<h1>", name, "</h1>\n")
	b = append(b, decoys...)
	for i, l := range links {
		b = spellings[l.spell].print(s, b, l.to)
		b = append(b, '\n')
		if room := (n - len(b)) / (len(links) - i); room > 0 { // equal shares of text
			b = fill(append(b, "<p>"...), room, &look)
		}
	}
	for len(b) < n {
		b = fill(b, n-len(b), &look)
	}
	b = append(b, "\n</body></html>\n"...)
	return cs.encode(b)
}

// fill appends up to n bytes of text.
func fill(b []byte, n int, d *dice) []byte {
	from := d.roll(len(filler) / 2)
	return append(b, filler[from:from+min(n, len(filler)/2)]...)
}
