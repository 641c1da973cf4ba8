package record

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Record is a line of pages.jsonl: what became of one URL. Sizes are in bytes, times in
// milliseconds. AppendLine writes each field, too.
type Record struct {
	URL         string `json:"url"`
	Status      int    `json:"status,omitempty"` // absent without a response
	Error       string `json:"error,omitempty"`
	ErrorKind   string `json:"error_kind,omitempty"` // one of weft.Kinds
	Redirect    string `json:"redirect,omitempty"`   // target of the redirect
	Depth       int    `json:"depth"`                // links from a seed
	From        string `json:"from,omitempty"`       // page that linked here first
	ContentType string `json:"content_type,omitempty"`
	// SniffedType is the media type by the content, where ContentType is none, or wrong.
	SniffedType string `json:"sniffed_type,omitempty"`
	// Charset is a name of the Encoding Standard, in lower case; only of bodies read for links.
	Charset   string `json:"charset,omitempty"`
	Encoding  string `json:"encoding,omitempty"` // the Content-Encoding that was decoded
	Bytes     int64  `json:"bytes"`              // received
	BodyBytes int    `json:"body_bytes"`         // decoded body
	Links     int    `json:"links"`              // followed links, each mention counted
	NewLinks  int    `json:"new_links"`          // of these, URLs seen for the first time
	Title     string `json:"title,omitempty"`

	// The meta description, the first h1, and the URL that the page names as its own, by a link or a
	// Link field. Words are those of its main text; 0: none, or it was not read for them, as without a
	// job.
	Description  string       `json:"description,omitempty"`
	H1           string       `json:"h1,omitempty"`
	Canonical    string       `json:"canonical,omitempty"`
	Words        int          `json:"words,omitempty"`
	Indexability Indexability `json:"indexability,omitempty"`

	Sitemap string   `json:"sitemap,omitempty"` // its format: urlset, index, text, rss or atom
	Robots  []string `json:"robots,omitempty"`  // directives for this crawler, such as noindex
	// Cut is the first reason why links of the page may be missing: see weft.Reasons.
	Cut       string    `json:"cut,omitempty"`
	Protocol  string    `json:"protocol,omitempty"` // name in ALPN: h2, http/1.1
	TLS       string    `json:"tls,omitempty"`      // version and cipher suite
	Headers   Headers   `json:"headers,omitempty"`  // those of weft.Keep.HeaderFields
	Tries     int       `json:"tries"`              // requests that were sent; 0: none
	IP        string    `json:"ip,omitempty"`
	Started   time.Time `json:"started"` // start of the last try
	DNSMS     float64   `json:"dns_ms"`  // 0: cached, or a kept connection
	ConnectMS float64   `json:"connect_ms"`
	TLSMS     float64   `json:"tls_ms"`
	TTFBMS    float64   `json:"ttfb_ms"` // to the first byte of the response
	// TotalMS has the steps before, and the response to its last byte: see httpclient.Timing.
	TotalMS float64 `json:"total_ms"`
	SHA256  string  `json:"sha256,omitempty"` // decoded body, hexadecimal; of a 304: the old one

	// The response's place in the archive: the file in JOB/archive, without .open, and the offset
	// of its record in bytes. See weft.Keep.Archive.
	WARCFile   string `json:"warc_file,omitempty"`
	WARCOffset int64  `json:"warc_offset,omitempty"`

	// Duplicates: see weft.Keep.Duplicates.
	// TextHash is the hash of the page's text, 16 hexadecimal digits.
	TextHash        string `json:"text_hash,omitempty"`
	Simhash         string `json:"simhash,omitempty"`           // similarity hash of a long text
	DuplicateOf     string `json:"duplicate_of,omitempty"`      // first URL with this body
	NearDuplicateOf string `json:"near_duplicate_of,omitempty"` // first URL with nearly this text
	Pruned          bool   `json:"pruned,omitempty"`            // links are not followed

	// NeedsScripts is the evidence that the page looks empty until its scripts run: mount, noscript,
	// template, no-text or hollow. Of a page that was read; an unchanged one is not.
	NeedsScripts string `json:"needs_scripts,omitempty"`

	// Rendered is the fate of the page in a browser; nil: it was not rendered. Title, links and
	// text are those of the rendered document.
	Rendered *Rendered `json:"rendered,omitempty"`

	// Of a URL beyond the bounds of the crawl: why it was requested, and the method of the request
	// that was answered if that is not GET.
	Role   Role   `json:"role,omitempty"`
	Method string `json:"method,omitempty"`

	// From the second visit on: see weft.Rerun.Update. Links are not counted on an unchanged
	// page, unless only its text is the same.
	Visit       int       `json:"visit,omitempty"`
	Change      Change    `json:"change,omitempty"`
	UnchangedBy Sameness  `json:"unchanged_by,omitempty"`
	ChangedAt   time.Time `json:"changed_at,omitzero"` // last visit that found the page new or changed
}

// Indexability is a URL's admission to the lists of search engines, or the first reason against it.
type Indexability string

// Values. None: the URL says nothing of it, as it did not respond, or is no page.
const (
	Indexable     Indexability = "indexable"
	ByRobots      Indexability = "robots"    // robots.txt keeps them from it
	ByRedirection Indexability = "redirect"  // it leads elsewhere
	ByStatus      Indexability = "status"    // it is an error, or another status than 200
	ByNoindex     Indexability = "noindex"   // the page says so
	ByCanonical   Indexability = "canonical" // the page names another URL as its own
)

// Judge returns the indexability of the record's URL, by its other fields. Of what the crawl
// requested for the sake of other pages there is none.
func (r *Record) Judge() Indexability {
	switch {
	case r.Role != "":
	case r.ErrorKind == KindRobots:
		return ByRobots
	case r.Redirect != "":
		return ByRedirection
	case r.ErrorKind != "" || r.Status == 0:
	case r.Status != 200:
		return ByStatus
	case !IsHTML(r.Type()):
	case slices.Contains(r.Robots, "noindex"):
		return ByNoindex
	case r.Canonical != "" && r.Canonical != r.URL:
		return ByCanonical
	default:
		return Indexable
	}
	return ""
}

// Role is the reason to request a URL that is not within the scope of the crawl, its depth and its
// inclusions. Empty for one that is, whatever link led to it.
type Role string

// Roles.
const (
	RoleAsset    Role = "asset"    // a page needs it; only links of style sheets are followed
	RoleExternal Role = "external" // a link to it is checked; nothing there is followed but redirects
	RoleProbe    Role = "probe"    // as external, but not linked: a host's https root, for http links
)

// Change is the finding of a recrawl on a URL, compared with the last visit. A response that is
// an error, and no response at all, say nothing about the page: then there is none.
//
// A recrawl requests every URL that an earlier visit requested or refused, linked or not, and
// what changed and new pages link to; see weft.Rerun for one that is narrowed, and for what is gone
// for long. Links of unchanged pages are not read again, unless
// their Link or X-Robots-Tag fields changed. (A 304 comes without its page; when its fields
// changed, the next visit requests the whole page.) URLs that the first visit did not follow,
// because of scope, exclusion, limits or pruning, are not reconsidered, not even when Amend
// widens the crawl: start a new job for that.
//
// With LimitPerHost a host's known URLs come before its new ones, which get the room that
// the known ones leave.
type Change string

// Changes.
const (
	ChangeUnchanged Change = "unchanged" // as before: see Sameness
	ChangeChanged   Change = "changed"   // different content or target; or back after it was gone
	ChangeGone      Change = "gone"      // 404 or 410, and present before
	ChangeNew       Change = "new"       // present, and in no earlier visit
)

// Sameness is the evidence by which a visit takes a URL for unchanged.
type Sameness string

// Kinds of sameness.
const (
	SameNotModified Sameness = "not-modified" // the server answered 304
	SameBody        Sameness = "answer"       // same body, same redirect target, or still gone
	SameText        Sameness = "text"         // with the same text, or a sitemap with the same entries
)

// Link is a line of links.jsonl: one mention of a URL on a page.
type Link struct {
	From string `json:"from"`
	To   string `json:"to"`
	Tag  string `json:"tag"`
	Attr string `json:"attr"`
	Rel  string `json:"rel,omitempty"`
	Kind string `json:"kind"` // as in package links, such as "page"
	Text string `json:"text,omitempty"`

	Fragment string `json:"fragment,omitempty"` // of the URL, percent-encoded
	Line     int    `json:"line,omitempty"`     // of the mention in the page, from 1, in UTF-8
	Column   int    `json:"column,omitempty"`   // in characters

	Visit int `json:"visit,omitempty"` // at which the page had it, as Record.Visit
}

// JSONLine returns the link as a line of JSON.
func (l Link) JSONLine() []byte { return jsonLine(l) }

// jsonLine leaves & as it is: many URLs have one, and escaped it takes six bytes.
func jsonLine(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("record: not JSON: " + err.Error()) // no field of these types can cause it
	}
	return b.Bytes()
}

// Type returns the type as which the body is read: SniffedType, with the parameters of ContentType,
// or ContentType.
func (r *Record) Type() string {
	if r.SniffedType == "" {
		return r.ContentType
	}
	if at := strings.IndexByte(r.ContentType, ';'); at >= 0 {
		return r.SniffedType + r.ContentType[at:]
	}
	return r.SniffedType
}

// IsPage reports whether the URL is an HTML page that was received, or that still holds: not
// another status such as 404, and not an image, a style sheet or a feed.
func (r *Record) IsPage() bool { return (r.Status == 200 || r.notModified()) && IsHTML(r.Type()) }

// IsRefused reports whether the URL was not requested, as the crawl had decided against it:
// robots.txt, an exclusion, a trap, or a host that is down.
func (r *Record) IsRefused() bool {
	switch r.ErrorKind {
	case KindExcluded, KindRobots, KindNothingNew, KindOverloaded, KindNoRobots:
		return true
	case KindRefused, "": // by a hook, as one fetch of the URL
		return false
	}
	return r.Tries == 0
}

// IsFetched reports whether the response was a success, or confirmed an earlier one.
func (r *Record) IsFetched() bool { return r.Status >= 200 && r.Status < 300 || r.notModified() }

func (r *Record) notModified() bool { return r.UnchangedBy == SameNotModified }

// DuplicateWords says which page this one duplicates, in words; empty if none.
func (r *Record) DuplicateWords() string {
	var words string
	switch {
	case r.DuplicateOf != "":
		words = "the same as " + r.DuplicateOf
	case r.NearDuplicateOf != "":
		words = "nearly the same as " + r.NearDuplicateOf
	default:
		return ""
	}
	if r.Pruned {
		words = "its links are not followed, as it is " + words
	}
	return words
}

// Milliseconds returns d in milliseconds, to the microsecond.
func Milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// maxContentType bounds a Content-Type in a record, in bytes.
const maxContentType = 255

// BriefContentType cuts a Content-Type to the length that a record keeps.
func BriefContentType(s string) string {
	if len(s) <= maxContentType {
		return s
	}
	return strings.ToValidUTF8(s[:maxContentType], "")
}

// MediaType returns a Content-Type without its parameters.
func MediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.TrimSpace(t)
}

// IsHTML reports whether a Content-Type is that of a page.
func IsHTML(contentType string) bool {
	t := MediaType(contentType)
	return strings.EqualFold(t, "text/html") || strings.EqualFold(t, "application/xhtml+xml")
}

// IsRedirect reports whether a response with a status leads elsewhere, if it has a Location. 304
// says that nothing has changed (RFC 9110, section 15.4.5), 305 and 306 are no longer used.
func IsRedirect(status int) bool {
	return status >= 300 && status < 400 && (status < 304 || status > 306)
}
