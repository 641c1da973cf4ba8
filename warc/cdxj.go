package warc

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Index is a line of an index in the format CDXJ, which pywb and ReplayWeb.page read: key, date and
// a JSON object. Lines are sorted by their bytes.
type Index struct {
	Key  string // of the URL: see SURT
	Date time.Time

	URL      string
	MIME     string // media type of the response; "warc/revisit" for a revisit
	Status   int    // of the response; 0: none
	Digest   string // of the payload
	Filename string
	Offset   int64 // of the record's member, in bytes
	Length   int64 // of the member, in bytes

	// Of a request that is no GET: its method, and its body as a query. See PostKey.
	Method, RequestBody string
}

// dateOfIndex has 14 digits, or 17 with milliseconds.
const dateOfIndex = "20060102150405"

// Append appends the line, with its end.
func (x *Index) Append(b []byte) []byte {
	b = append(b, x.Key...)
	b = append(b, ' ')
	b = appendDate(b, x.Date.UTC())
	b = append(b, ' ')
	b = appendString(append(b, `{"url":`...), x.URL)
	if x.MIME != "" {
		b = appendString(append(b, `,"mime":`...), x.MIME)
	}
	if x.Status != 0 {
		b = appendNumber(append(b, `,"status":`...), int64(x.Status))
	}
	if x.Digest != "" {
		b = appendString(append(b, `,"digest":`...), x.Digest)
	}
	b = appendNumber(append(b, `,"length":`...), x.Length)
	b = appendNumber(append(b, `,"offset":`...), x.Offset)
	b = appendString(append(b, `,"filename":`...), x.Filename)
	if x.Method != "" {
		b = appendString(append(b, `,"requestBody":`...), x.RequestBody)
		b = appendString(append(b, `,"method":`...), x.Method)
	}
	return append(b, "}\n"...)
}

// appendDate appends a date as dateOfIndex has it.
func appendDate(b []byte, at time.Time) []byte {
	year, month, day := at.Date()
	hour, minute, second := at.Clock()
	for _, n := range [...]int{year / 100, year % 100, int(month), day, hour, minute, second} {
		b = append(b, '0'+byte(n/10), '0'+byte(n%10))
	}
	return b
}

// appendNumber appends a number as a string, as all tools write them.
func appendNumber(b []byte, n int64) []byte {
	return append(strconv.AppendInt(append(b, '"'), n, 10), '"')
}

// appendString appends a JSON string. URLs stay readable; what is not printable is escaped, as it
// could control a terminal.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r >= ' ' && r <= '~':
			b = append(b, s[i])
		case unicode.IsPrint(r) && r != utf8.RuneError:
			b = utf8.AppendRune(b, r)
		default:
			for _, unit := range utf16.AppendRune(nil, r) {
				b = fmt.Appendf(b, `\u%04x`, unit)
			}
		}
	}
	return append(b, '"')
}

// ParseIndex reads a line.
func ParseIndex(line string) (x Index, err error) {
	key, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	digits, object, _ := strings.Cut(rest, " ")
	var j struct {
		URL, MIME, Digest, Filename string
		RequestBody, Method         string
		Status, Length, Offset      json.RawMessage // some tools write a number
	}
	at, err := time.Parse(dateOfIndex, digits[:min(len(digits), len(dateOfIndex))])
	if err == nil {
		err = json.Unmarshal([]byte(object), &j)
	}
	if err != nil {
		return Index{}, fmt.Errorf("index line %.80q, expected a key, a date of 14 digits and a JSON object: %w", line, err)
	}
	x = Index{Key: strings.Clone(key), Date: at, URL: j.URL, MIME: j.MIME, Digest: j.Digest, Filename: j.Filename, Method: j.Method, RequestBody: j.RequestBody}
	number := func(raw json.RawMessage) (n int64) {
		n, _ = strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
		return n
	}
	x.Status, x.Length, x.Offset = int(number(j.Status)), number(j.Length), number(j.Offset)
	return x, nil
}
