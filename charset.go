package weft

import (
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// toUTF8 returns a page's body in UTF-8 and the name of the encoding it is in, by
// the HTML Standard's order: byte order mark, Content-Type, the first 1,024 bytes.
// A page that says nothing is UTF-8 if it can be, and else windows-1252.
func toUTF8(contentType string, body []byte) ([]byte, string) {
	e, name, certain := charset.DetermineEncoding(body, contentType)
	if name == "utf-8" || !certain && utf8.Valid(body) {
		return body, "utf-8"
	}
	text, err := e.NewDecoder().Bytes(body)
	if err != nil { // of the "replacement" encoding, which is for labels that are not safe to read
		return nil, name
	}
	return text, name
}
