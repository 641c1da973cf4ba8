// Package charset brings pages into UTF-8.
//
// Which encoding a page is in follows the HTML Standard's sniffing
// (https://html.spec.whatwg.org/multipage/parsing.html#encoding-sniffing-algorithm): byte order
// mark, Content-Type, a declaration in the first 1,024 bytes. Its functions are pure;
// the result takes at most three times the memory of the page.
package charset

import (
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// UTF8 returns the body of a page, which came with a Content-Type, in UTF-8, and the
// name of the encoding it was in, as in the Encoding Standard in lower case. A page
// that says nothing is UTF-8 if it can be, and else windows-1252. The text shares
// memory with a body that is in UTF-8 already. Bytes that mean nothing become U+FFFD;
// the whole of a page that names an encoding which is not safe to read ("replacement")
// is one of these.
func UTF8(contentType string, body []byte) (text []byte, name string) {
	e, name, certain := charset.DetermineEncoding(body, contentType)
	if name == "utf-8" || !certain && utf8.Valid(body) {
		return body, "utf-8"
	}
	text, err := e.NewDecoder().Bytes(body)
	if err != nil { // decoders replace what they cannot read, and have no other errors
		return nil, name
	}
	return text, name
}
