package charset

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/conformance"

	"github.com/weftcrawl/weft/internal/markup"
)

// FuzzPrescan: no panic; nothing after the first 1,024 bytes counts; and the result is that of the
// standard's algorithm, step by step.
func FuzzPrescan(f *testing.F) {
	for _, c := range conformance.Cases[struct {
		HTML string `json:"html_b64"`
	}](f, "charset-prescan.jsonl") {
		page, err := base64.StdEncoding.DecodeString(c.HTML)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(page)
	}
	for _, page := range []string{
		`<?xml version="1.0" encoding='koi8-r' ?><meta charset=big5>`, "<?xml encoding\t=\x01\"big5\">", `<a x="<meta charset=big5>"><meta/charset=koi8-r/>`,
		`<meta =charset charset==big5 CHARSET=koi8-r>`, `<meta content="charsetcharset = 'big5'" http-equiv=Content-Type>`,
		`<meta charset=none content='charset=big5' http-equiv=content-type>`, `<!--><meta charset=big5>`, `</x/"><meta charset=x-user-defined>`,
		"<meta charset='big5'/", "<meta charset=\"utf-16le\"x>", "<\x00?\x00x\x00", "\x00<\x00?\x00x", "<meta\x0ccharset=big5\x0c>",
	} {
		f.Add([]byte(page))
	}
	f.Fuzz(func(t *testing.T, page []byte) {
		got, source := prescan(page)
		want, wanted := literalPrescan(page[:min(len(page), 1024)])
		if got != want || source != wanted {
			t.Fatalf("%q: %v by %q, expected %v by %q", page, got, source, want, wanted)
		}
		if len(page) >= 1024 {
			if behind, _ := prescan(append(page[:1024:1024], "<meta charset=big5>"...)); behind != got {
				t.Fatalf("%q: a byte after the first 1,024 counts", page)
			}
		}
	})
}

// literal is the standard's prescan, step by step. It panics with errOut when the bytes run out.
type literal struct {
	b        []byte
	position int
}

type errOut struct{}

func (l *literal) at() byte {
	if l.position >= len(l.b) {
		panic(errOut{})
	}
	return l.b[l.position]
}

func literalPrescan(b []byte) (e *Encoding, source Source) {
	defer func() {
		if r := recover(); r != nil {
			if _, out := r.(errOut); !out {
				panic(r)
			}
			if e, source = literalXML(b), XML; e == nil {
				source = ""
			}
		}
	}()
	l := &literal{b: b}
	switch {
	case strings.HasPrefix(string(b), "<\x00?\x00x\x00"):
		return encodings["utf-16le"], XML
	case strings.HasPrefix(string(b), "\x00<\x00?\x00x"):
		return encodings["utf-16be"], XML
	}
	for {
		l.at()
		rest := string(b[l.position:])
		head := strings.ToLower(rest[:min(len(rest), 6)])
		switch {
		case strings.HasPrefix(rest, "<!--"):
			for start := l.position; ; l.position++ {
				if l.at() == '>' && l.position-start >= 4 && b[l.position-1] == '-' && b[l.position-2] == '-' {
					break
				}
			}
		case len(head) == 6 && head[:5] == "<meta" && strings.ContainsRune("\t\n\f\r /", rune(head[5])):
			l.position += 5
			if e := l.meta(); e != nil {
				return e, Meta
			}
		case len(rest) > 1 && markup.IsLetter(rest[1]), len(rest) > 2 && rest[1] == '/' && rest[0] == '<' && markup.IsLetter(rest[2]):
			if rest[0] != '<' {
				break
			}
			for !strings.ContainsRune("\t\n\f\r >", rune(l.at())) {
				l.position++
			}
			for {
				if _, _, ok := l.attribute(); !ok {
					break
				}
			}
		case strings.HasPrefix(rest, "<!"), strings.HasPrefix(rest, "</"), strings.HasPrefix(rest, "<?"):
			for l.at() != '>' {
				l.position++
			}
		}
		l.position++
	}
}

func (l *literal) meta() *Encoding {
	list := map[string]bool{}
	gotPragma, needPragma := false, ""
	var charset *Encoding
	null := true
	for {
		name, value, ok := l.attribute()
		if !ok {
			break
		}
		if list[name] {
			continue
		}
		list[name] = true
		switch name {
		case "http-equiv":
			if value == "content-type" {
				gotPragma = true
			}
		case "content":
			if e := fromContent(value); e != nil && null {
				charset, null, needPragma = e, false, "true"
			}
		case "charset":
			charset, null, needPragma = Lookup(value), false, "false"
		}
	}
	switch {
	case needPragma == "", needPragma == "true" && !gotPragma, charset == nil:
		return nil
	case charset.name == "utf-16le", charset.name == "utf-16be":
		return encodings["utf-8"]
	case charset.name == "x-user-defined":
		return encodings["windows-1252"]
	}
	return charset
}

func (l *literal) attribute() (string, string, bool) {
	space := func() bool { return strings.ContainsRune("\t\n\f\r ", rune(l.at())) }
	fold := func(c byte) string { return lower([]byte{c}) }
	for space() || l.at() == '/' {
		l.position++
	}
	if l.at() == '>' {
		return "", "", false
	}
	var name, value string
	for {
		switch c := l.at(); {
		case c == '=' && name != "":
			l.position++
			goto value
		case space():
			goto spaces
		case c == '/' || c == '>':
			return name, "", true
		default:
			name += fold(c)
		}
		l.position++
	}
spaces:
	for space() {
		l.position++
	}
	if l.at() != '=' {
		return name, "", true
	}
	l.position++
value:
	for space() {
		l.position++
	}
	switch c := l.at(); c {
	case '"', '\'':
		for {
			l.position++
			if l.at() == c {
				l.position++
				return name, value, true
			}
			value += fold(l.at())
		}
	case '>':
		return name, "", true
	default:
		value += fold(c)
		l.position++
	}
	for !space() && l.at() != '>' {
		value += fold(l.at())
		l.position++
	}
	return name, value, true
}

func literalXML(b []byte) *Encoding {
	s := string(b)
	if !strings.HasPrefix(s, "<?xml") {
		return nil
	}
	end := strings.Index(s, ">")
	if end < 0 {
		return nil
	}
	s = s[:end]
	at := strings.Index(s, "encoding")
	if at < 0 {
		return nil
	}
	skip := func() {
		for at < len(s) && s[at] <= 0x20 {
			at++
		}
	}
	at += len("encoding")
	if skip(); at == len(s) || s[at] != '=' {
		return nil
	}
	at++
	if skip(); at == len(s) || s[at] != '"' && s[at] != '\'' {
		return nil
	}
	quote := s[at]
	at++
	n := strings.IndexByte(s[at:], quote)
	if n < 0 {
		return nil
	}
	for _, c := range []byte(s[at : at+n]) {
		if c <= 0x20 {
			return nil
		}
	}
	e := Lookup(s[at : at+n])
	if e != nil && strings.HasPrefix(e.name, "utf-16") {
		return encodings["utf-8"]
	}
	return e
}

// FuzzDetect: no panic, and text in UTF-8 without NUL and escapes is detected as UTF-8.
func FuzzDetect(f *testing.F) {
	for _, body := range []string{"caf\u00e9", "caf\xe9", "\xca\xee\xf4\xe5", "a\x00b\x00c\x00", "\x1b$B\x46\x7c\x1b(B", "\x82\xb1\x82\xea", "\xe9\x00\xff"} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		e, source := detect(body)
		if utf8.Valid(body) && !bytes.ContainsAny(body, "\x00\x1b") {
			ascii := asciiPrefix(body) == len(body)
			if ascii && (e != windows1252 || source != Default) || !ascii && (e != utf8Encoding || source != Detected) {
				t.Fatalf("%q: %s by %s", body, e.Name(), source)
			}
		}
		if !utf8.Valid(e.Decode(body)) {
			t.Fatalf("%q: text in %s is not UTF-8", body, e.Name())
		}
	})
}
