package weft

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/http1"
)

// Record is a line of pages.jsonl: what became of one URL.
type Record struct {
	URL         string    `json:"url"`
	Status      int       `json:"status,omitempty"` // absent if no answer came
	Error       string    `json:"error,omitempty"`
	ErrorKind   string    `json:"error_kind,omitempty"` // one of Kinds
	Redirect    string    `json:"redirect,omitempty"`   // where the answer leads
	Depth       int       `json:"depth"`                // links from a seed
	From        string    `json:"from,omitempty"`       // the page it was found on
	ContentType string    `json:"content_type,omitempty"`
	Charset     string    `json:"charset,omitempty"`  // of what was read for links: as in the Encoding Standard, in lower case
	Encoding    string    `json:"encoding,omitempty"` // the Content-Encoding that was undone
	Bytes       int64     `json:"bytes"`              // of the answer, as received
	BodyBytes   int       `json:"body_bytes"`         // of the body, decoded
	Links       int       `json:"links"`              // followed, each mention counted
	NewLinks    int       `json:"new_links"`          // of these, URLs that nothing had led to before
	Title       string    `json:"title,omitempty"`
	Sitemap     string    `json:"sitemap,omitempty"` // what was read as one: urlset, index, text, rss or atom
	Robots      []string  `json:"robots,omitempty"`  // what the page says to this crawler, or to all: noindex, nofollow, noarchive …
	Tries       int       `json:"tries"`             // 0 if it was not asked for; a kept connection that the server had just closed is no try
	IP          string    `json:"ip,omitempty"`
	Started     time.Time `json:"started"` // the last try
	DNSMS       float64   `json:"dns_ms"`  // milliseconds; 0 if it was known, or the connection was a kept one
	ConnectMS   float64   `json:"connect_ms"`
	TLSMS       float64   `json:"tls_ms"`
	TTFBMS      float64   `json:"ttfb_ms"`          // from the request sent to the first byte of the answer
	TotalMS     float64   `json:"total_ms"`         // of the last try
	SHA256      string    `json:"sha256,omitempty"` // of the decoded body, in hexadecimal; of a 304, of that which holds on

	// What it has in common with others: see Options.Duplicates.
	TextHash        string `json:"text_hash,omitempty"`         // of the text, as in package text, with a job of a sitemap's entries: 16 hexadecimal digits
	Simhash         string `json:"simhash,omitempty"`           // the same, if the text is not too short
	DuplicateOf     string `json:"duplicate_of,omitempty"`      // the first URL with this body
	NearDuplicateOf string `json:"near_duplicate_of,omitempty"` // the first URL with nearly this text
	Pruned          bool   `json:"pruned,omitempty"`            // its links are not followed, as it is one of these

	// From the second visit of a job on: see Options.Update. What is read of a page's text, such
	// as Title and Links, is not in the record of one that is unchanged, unless by its text.
	Visit       int       `json:"visit,omitempty"`
	Change      Change    `json:"change,omitempty"`
	UnchangedBy Sameness  `json:"unchanged_by,omitempty"`
	ChangedAt   time.Time `json:"changed_at,omitzero"` // when it was last found new, or other than before
}

func newRecord(u frontier.URL, visit int, started, ended time.Time) *Record {
	r := &Record{
		URL:     u.URL.String(),
		From:    u.From,
		Depth:   u.Depth,
		Tries:   u.Tries + 1,
		Started: started.UTC().Truncate(time.Millisecond),
		TotalMS: ms(ended.Sub(started)),
	}
	if visit > 1 {
		r.Visit = visit
	}
	return r
}

// ms is a duration in milliseconds, to the microsecond.
func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// exchange notes what an answer, or as much of one as came, says beside its body.
func (r *Record) exchange(res *http1.Response) {
	r.Status, r.Bytes, r.BodyBytes = res.Status, res.Wire, len(res.Body)
	r.ContentType, r.Encoding = res.Header.Get("Content-Type"), res.Encoding
	if res.Addr.IsValid() {
		r.IP = res.Addr.Addr().String()
	}
	r.timing(res.Timing)
}

func (r *Record) timing(t http1.Timing) {
	r.DNSMS, r.ConnectMS, r.TLSMS, r.TTFBMS = ms(t.DNS), ms(t.Connect), ms(t.TLS), ms(t.FirstByte)
}

// failed notes an error of an exchange, and how far that had come.
func (r *Record) failed(e *http1.Error) {
	r.ErrorKind, r.Error = string(e.Kind), e.Err.Error()
	r.Bytes = e.Wire
	if e.Addr.IsValid() {
		r.IP = e.Addr.Addr().String()
	}
	r.timing(e.Timing)
}

func (r *Record) line() []byte {
	return jsonLine(r)
}

// jsonLine is a line of an output. An & stands in it as it is: it is in many URLs, and escaped takes six times as much.
func jsonLine(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("weft: a line that is no JSON: " + err.Error()) // no field of a record or of a link can cause it
	}
	return b.Bytes()
}

// isPage says whether a page came, or is as it was.
func (r *Record) isPage() bool { return (r.Status == 200 || r.asTold()) && isHTML(r.ContentType) }

// isFetched says whether what was asked for came, or is as it was.
func (r *Record) isFetched() bool { return r.Status >= 200 && r.Status < 300 || r.asTold() }

func (r *Record) asTold() bool { return r.UnchangedBy == SameAsTold }

// isHTML says whether a Content-Type is that of a page.
func isHTML(contentType string) bool {
	t := mediaType(contentType)
	return strings.EqualFold(t, "text/html") || strings.EqualFold(t, "application/xhtml+xml")
}

// LinkRecord is a line of links.jsonl: one mention of a URL on a page.
type LinkRecord struct {
	From string `json:"from"`
	To   string `json:"to"`
	Tag  string `json:"tag"`
	Attr string `json:"attr"`
	Rel  string `json:"rel,omitempty"`
	Kind string `json:"kind"` // as in package links, such as "page"
	Text string `json:"text,omitempty"`
}
