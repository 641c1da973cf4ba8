package charset

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/markup"
)

// A Source is the evidence that decided the encoding.
type Source string

// The sources, the strongest first.
const (
	Mark     Source = "bom"      // a byte order mark
	Header   Source = "header"   // the charset parameter of Content-Type
	Meta     Source = "meta"     // a <meta>
	XML      Source = "xml"      // an XML declaration
	Detected Source = "detected" // the bytes of the text
	Default  Source = "default"  // nothing
)

// Determine returns the encoding of a body with this Content-Type. Meta elements and XML
// declarations count in HTML and in bodies without a type; in XML only the declaration counts; in
// other text neither does. ASCII that declares nothing is windows-1252 in HTML and plain text, as
// in browsers, and UTF-8 in XML, CSS, JSON and scripts.
func Determine(contentType string, body []byte) (*Encoding, Source) {
	mediaType, _, _ := strings.Cut(contentType, ";")
	mediaType = strings.ToLower(strings.TrimSpace(mediaType))
	var e *Encoding
	var source Source
	switch {
	case mediaType == "", mediaType == "text/html":
		return HTML(contentType, body)
	case mediaType == "text/plain":
		return Text(contentType, body)
	case mediaType == "application/xhtml+xml":
		e, source = HTML(contentType, body)
	case mediaType == "text/xml", mediaType == "application/xml", strings.HasSuffix(mediaType, "+xml"):
		return xml(contentType, body)
	default:
		e, source = Text(contentType, body)
	}
	if source == Default && utf8.Valid(body) {
		e = utf8Encoding
	}
	return e, source
}

// HTML determines the encoding of a page (the HTML Standard's "encoding sniffing algorithm"). A
// <meta> after the first 1,024 bytes counts too, as in a browser, which starts over when it meets
// one.
func HTML(contentType string, body []byte) (*Encoding, Source) {
	if e, source := certain(contentType, body); e != nil {
		return e, source
	}
	if e, source := prescan(body); e != nil {
		return e, source
	}
	if len(body) > prescanned && hasMeta(body[prescanned-len("<meta"):]) {
		if e := findMeta(body, true); e != nil {
			return e, Meta
		}
	}
	return detect(body)
}

// Text determines the encoding of text that has no way to declare one.
func Text(contentType string, body []byte) (*Encoding, Source) {
	if e, source := certain(contentType, body); e != nil {
		return e, source
	}
	return detect(body)
}

// xml determines the encoding of a document that is UTF-8 by default (XML 1.0, section 4.3.3).
func xml(contentType string, body []byte) (*Encoding, Source) {
	if e, source := certain(contentType, body); e != nil {
		return e, source
	}
	if e, source := prescan(body[:min(len(body), 6)]); e != nil {
		return e, source
	}
	if e := xmlDeclared(body[:min(len(body), prescanned)]); e != nil {
		return e, XML
	}
	if utf8.Valid(body) {
		return utf8Encoding, Default
	}
	return detect(body)
}

// certain returns the encoding by a byte order mark or the header, which leave no doubt; nil if
// there is neither.
func certain(contentType string, body []byte) (*Encoding, Source) {
	switch {
	case bytes.HasPrefix(body, []byte(markUTF8)):
		return utf8Encoding, Mark
	case bytes.HasPrefix(body, []byte(markUTF16LE)):
		return utf16LE, Mark
	case bytes.HasPrefix(body, []byte(markUTF16BE)):
		return utf16BE, Mark
	}
	if e := Lookup(charsetParameter(contentType)); e != nil {
		return e, Header
	}
	return nil, ""
}

// charsetParameter returns the first charset of a Content-Type, read as in the MIME Sniffing
// Standard (section 4.4), which forgives more than RFC 9110.
func charsetParameter(contentType string) string {
	mediaType, rest, _ := strings.Cut(contentType, ";")
	if !strings.Contains(mediaType, "/") {
		return ""
	}
	for rest != "" {
		rest = strings.TrimLeft(rest, "\t\n\r ")
		end := strings.IndexAny(rest, ";=")
		if end < 0 {
			return ""
		}
		name := rest[:end]
		assigned := rest[end] == '='
		if rest = rest[end+1:]; !assigned {
			continue
		}
		var value string
		if strings.HasPrefix(rest, `"`) {
			value, rest = quoted(rest[1:])
			_, rest, _ = strings.Cut(rest, ";")
		} else {
			value, rest, _ = strings.Cut(rest, ";")
			value = strings.TrimRight(value, "\t\n\r ")
		}
		if strings.EqualFold(name, "charset") && value != "" {
			return value
		}
	}
	return ""
}

// quoted reads a quoted string after its first quote. An unclosed one extends to the end of s.
func quoted(s string) (value, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}

// hasMeta reports whether b may contain a <meta>: few pages have one after their first bytes. It
// compares eight pairs of bytes at once, since in pages a < is never far.
func hasMeta(b []byte) bool {
	const ones = 0x0101010101010101
	const less, m, small = '<' * ones, 'm' * ones, 0x20 * ones
	i := 0
	for ; len(b)-i > 8; i += 8 {
		c := b[i : i+9 : i+9]
		// A byte of x is 0 where there is a <m or <M.
		x := binary.LittleEndian.Uint64(c) ^ less | (binary.LittleEndian.Uint64(c[1:]) | small) ^ m
		if (x-ones)&^x&(0x80*ones) == 0 {
			continue
		}
		for j := i; j < i+8 && len(b)-j >= len("<meta"); j++ {
			if b[j] == '<' && markup.EqualFold(b[j+1:j+len("<meta")], "meta") {
				return true
			}
		}
	}
	return false // fewer than nine bytes declare nothing
}

// Prepare determines the encoding of a body as Determine does, and how much room its text takes.
func Prepare(contentType string, body []byte) Undecoded {
	e, _ := Determine(contentType, body)
	return e.Prepare(body)
}

// UTF8 returns the body of a page with this Content-Type in UTF-8, and the name of its original
// encoding. The text shares memory with a body that is UTF-8 already.
func UTF8(contentType string, body []byte) (text []byte, name string) {
	e, _ := Determine(contentType, body)
	return e.Decode(body), e.Name()
}
