package weft

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/http1"
)

// Record is a line of pages.jsonl: what became of one URL.
type Record struct {
	URL         string    `json:"url"`
	Status      int       `json:"status,omitempty"` // absent if no whole answer came
	Error       string    `json:"error,omitempty"`
	ErrorKind   string    `json:"error_kind,omitempty"` // of package http1, or "redirects": one too many, "location": it leads nowhere
	Redirect    string    `json:"redirect,omitempty"`
	Depth       int       `json:"depth"`
	From        string    `json:"from,omitempty"` // the page it was found on
	ContentType string    `json:"content_type,omitempty"`
	Bytes       int64     `json:"bytes"`      // of the answer, as received
	BodyBytes   int       `json:"body_bytes"` // of the body, decoded
	Links       int       `json:"links"`      // in scope, each mention counted
	Title       string    `json:"title,omitempty"`
	Tries       int       `json:"tries"`   // a kept connection that the server had just closed is no try
	Started     time.Time `json:"started"` // the last try
	TotalMS     float64   `json:"total_ms"`
}

func newRecord(u frontier.URL, started, ended time.Time) *Record {
	return &Record{
		URL:     u.URL.String(),
		From:    u.From,
		Depth:   u.Depth,
		Tries:   u.Tries + 1,
		Started: started.UTC().Truncate(time.Millisecond),
		TotalMS: float64(ended.Sub(started).Microseconds()) / 1000,
	}
}

// failed notes an error of an exchange.
func (r *Record) failed(err error) {
	r.Error = err.Error()
	var e *http1.Error
	if errors.As(err, &e) {
		r.ErrorKind = string(e.Kind)
		r.Error = e.Err.Error()
	}
}

func (r *Record) line() []byte {
	b, err := json.Marshal(r)
	if err != nil {
		panic("weft: a record that is no JSON: " + err.Error()) // no field of Record can cause it
	}
	return append(b, '\n')
}

// isHTML says whether a Content-Type is that of a page.
func isHTML(contentType string) bool {
	mime, _, _ := strings.Cut(contentType, ";")
	mime = strings.TrimSpace(mime)
	return strings.EqualFold(mime, "text/html") || strings.EqualFold(mime, "application/xhtml+xml")
}
