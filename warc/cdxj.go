package warc

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
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
}

// indexJSON has numbers as strings, as all tools write them.
type indexJSON struct {
	URL      string `json:"url"`
	MIME     string `json:"mime,omitempty"`
	Status   string `json:"status,omitempty"`
	Digest   string `json:"digest,omitempty"`
	Length   string `json:"length,omitempty"`
	Offset   string `json:"offset"`
	Filename string `json:"filename"`
}

// dateOfIndex has 14 digits, or 17 with milliseconds.
const dateOfIndex = "20060102150405"

// Append appends the line, with its end.
func (x *Index) Append(b []byte) []byte {
	b = append(b, x.Key...)
	b = append(b, ' ')
	b = x.Date.UTC().AppendFormat(b, dateOfIndex)
	b = append(b, ' ')
	status := ""
	if x.Status != 0 {
		status = strconv.Itoa(x.Status)
	}
	out := appender{b}
	object := json.NewEncoder(&out)
	object.SetEscapeHTML(false) // URLs stay readable
	_ = object.Encode(indexJSON{x.URL, x.MIME, status, x.Digest,
		strconv.FormatInt(x.Length, 10), strconv.FormatInt(x.Offset, 10), x.Filename}) // strings cannot fail
	return out.b
}

// ParseIndex reads a line.
func ParseIndex(line string) (x Index, err error) {
	key, rest, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " ")
	digits, object, _ := strings.Cut(rest, " ")
	var j struct {
		indexJSON
		Status json.RawMessage `json:"status"` // some tools write a number
		Length json.RawMessage `json:"length"`
		Offset json.RawMessage `json:"offset"`
	}
	at, err := time.Parse(dateOfIndex, digits[:min(len(digits), len(dateOfIndex))])
	if err == nil {
		err = json.Unmarshal([]byte(object), &j)
	}
	if err != nil {
		return Index{}, fmt.Errorf("index line %.80q, expected a key, a date of 14 digits and a JSON object: %w", line, err)
	}
	x = Index{Key: strings.Clone(key), Date: at, URL: j.URL, MIME: j.MIME, Digest: j.Digest, Filename: j.Filename}
	number := func(raw json.RawMessage) (n int64) {
		n, _ = strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
		return n
	}
	x.Status, x.Length, x.Offset = int(number(j.Status)), number(j.Length), number(j.Offset)
	return x, nil
}
