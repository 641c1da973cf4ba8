package diff

import (
	"encoding/json"
	"strings"
	"time"
)

// Kind is the kind of a Change.
type Kind string

// Kinds of changes.
const (
	Changed     Kind = "changed"      // a page that differs
	New         Kind = "new"          // a page that was not there, or was 404 or 410
	Gone        Kind = "gone"         // 404 or 410, or not on the new side, which is complete
	Moved       Kind = "moved"        // a page at another URL
	Shared      Kind = "shared"       // the same on several pages of a site
	NotCompared Kind = "not-compared" // an error on one side says nothing about a page
)

// Bounds of a change in a report.
const (
	MaxDetails = 200     // of a change
	MaxText    = 4 << 10 // bytes of a text
)

// Change is a page that differs, or a difference that pages of a site share. Its fields are those
// of a line of JSON.
type Change struct {
	Kind      Kind     `json:"kind"`
	URL       string   `json:"url"`                  // of a page; the host, if it is shared
	From      string   `json:"from,omitempty"`       // the old URL, if the page has moved
	Title     string   `json:"title,omitempty"`      // of the page, as it is now or was
	OldStatus int      `json:"old_status,omitempty"` // 0: there was no response
	NewStatus int      `json:"new_status,omitempty"`
	Reason    string   `json:"reason,omitempty"` // of being not compared, gone or moved
	Pages     int      `json:"pages,omitempty"`  // that share it
	Examples  []string `json:"examples,omitempty"`
	Details   []Detail `json:"details,omitempty"`
	More      int      `json:"more,omitempty"` // details that are not told
}

// Field is the kind of a fact.
type Field string

// Fields.
const (
	Status      Field = "status"
	Redirect    Field = "redirect" // its target
	Title       Field = "title"
	Description Field = "description"
	Language    Field = "language"
	Canonical   Field = "canonical"
	Robots      Field = "robots"    // directives of meta elements, such as noindex
	Header      Field = "header"    // of a response; Name is that of the field
	Alternate   Field = "alternate" // the page in another language, which is Name
	Heading     Field = "heading"
	Text        Field = "text"  // a block
	Link        Field = "link"  // its target
	Image       Field = "image" // its source
	Data        Field = "data"  // structured data; Name is the path of the property
	Body        Field = "body"  // the content of what is no text
)

// Detail is a fact that differs. Without Old it was added, without New removed.
type Detail struct {
	Field Field  `json:"field"`
	Name  string `json:"name,omitempty"`
	Path  string `json:"path,omitempty"` // of the element of a block: main/div.price/p
	Old   string `json:"old,omitempty"`
	New   string `json:"new,omitempty"`
	Words []Word `json:"words,omitempty"` // of a text that was changed in part
}

// Op is the side on which words stand.
type Op string

// Ops.
const (
	Same    Op = "same"
	Removed Op = "old"
	Added   Op = "new"
)

// Word is some words in a row.
type Word struct {
	Op   Op     `json:"op"`
	Text string `json:"text"`
}

// Side is a side of a comparison.
type Side struct {
	Path  string    `json:"path"`
	Visit int       `json:"visit,omitempty"` // of a job; 0: an archive
	From  time.Time `json:"from,omitzero"`   // its first and its last response
	To    time.Time `json:"to,omitzero"`
	Pages int       `json:"pages"`          // URLs with a response or an error
	Left  int       `json:"left,omitempty"` // URLs that a crawl has not come to
	// Damage is the number of parts of an archive that cannot be read.
	Damage int  `json:"damage,omitempty"`
	Brief  bool `json:"brief,omitempty"` // it has no bodies: words are not known
}

// incomplete is the reason why a page that is not on the side may be there; "": it is complete.
func (s *Side) incomplete() string {
	switch {
	case s.Left > 0:
		return "the crawl has not come to it"
	case s.Damage > 0:
		return "the archive is damaged"
	}
	return ""
}

// Churn is a fact that was left out, since it differs at each visit.
type Churn struct {
	Field    Field  `json:"field"`
	Name     string `json:"name,omitempty"`
	Rotation bool   `json:"rotation,omitempty"`
	Pages    int    `json:"pages"` // on which it differs
	URL      string `json:"url"`   // of one of these
	Old      string `json:"old,omitempty"`
	New      string `json:"new,omitempty"`
}

// Summary has the totals of a comparison. It is the last line of JSON, with the kind "summary".
type Summary struct {
	Old         Side    `json:"old"`
	New         Side    `json:"new"`
	Compared    int     `json:"compared"` // pages on both sides
	Unchanged   int     `json:"unchanged"`
	Changed     int     `json:"changed"`
	NewPages    int     `json:"new_pages"`
	GonePages   int     `json:"gone_pages"`
	MovedPages  int     `json:"moved_pages"`
	NotCompared int     `json:"not_compared"`
	Shared      int     `json:"shared"`          // differences that several pages have
	Churn       []Churn `json:"churn,omitempty"` // the most frequent
	ChurnMore   int     `json:"churn_more,omitempty"`
}

// Differs reports whether anything has changed.
func (s *Summary) Differs() bool {
	return s.Changed+s.NewPages+s.GonePages+s.MovedPages+s.Shared > 0
}

const summaryKind = "summary"

// MarshalJSON writes the object with its kind.
func (s Summary) MarshalJSON() ([]byte, error) {
	type plain Summary
	return json.Marshal(struct {
		Kind string `json:"kind"`
		plain
	}{summaryKind, plain(s)})
}

// count counts a change.
func (s *Summary) count(c *Change) {
	switch c.Kind {
	case Changed:
		s.Changed++
	case New:
		s.NewPages++
	case Gone:
		s.GonePages++
	case Moved:
		s.MovedPages++
	case Shared:
		s.Shared++
	case NotCompared:
		s.NotCompared++
	}
}

// cutText is the beginning of a text that is too long.
func cutText(s string) string {
	if len(s) <= MaxText {
		return s
	}
	return strings.ToValidUTF8(s[:MaxText-len("…")], "") + "…"
}
