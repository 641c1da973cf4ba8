package inspect

import (
	"errors"
	"time"

	"github.com/weftcrawl/weft/record"
)

// URLState is the stage of a URL.
type URLState string

// States of a URL.
const (
	URLPending URLState = "pending"
	URLLeased  URLState = "leased" // being fetched
	URLDone    URLState = "done"
	URLFailed  URLState = "failed"  // done, with an error
	URLRefused URLState = "refused" // by robots.txt, by an exclusion, or because its host is down
	URLDropped URLState = "dropped" // beyond LimitPerHost or MaxVariants; not one of Job.URLs
	URLUnseen  URLState = "unseen"  // nothing that is followed leads to it; not one of Job.URLs
)

// URLStatus is a URL of a job at a moment.
type URLStatus struct {
	URL       string      `json:"url"`
	State     URLState    `json:"state"`
	Depth     int         `json:"depth"`
	From      string      `json:"from,omitempty"` // page or redirect that leads here; none for a seed
	Hops      int         `json:"hops,omitempty"` // redirects that led here
	Priority  int         `json:"priority,omitempty"`
	AsSitemap bool        `json:"as_sitemap,omitempty"` // it is requested as a sitemap
	Role      record.Role `json:"role,omitempty"`       // of one beyond the scope: see record.Role
	Tries     int         `json:"tries"`
	Status    int         `json:"status,omitempty"` // of the last response
	ErrorKind string      `json:"error_kind,omitempty"`
	Error     string      `json:"error,omitempty"`
	Redirect  string      `json:"redirect,omitempty"`  // target; cut after 200 bytes
	At        time.Time   `json:"at,omitzero"`         // last try, or when it was refused
	NotBefore time.Time   `json:"not_before,omitzero"` // next try

	Known *Known `json:"known,omitempty"` // nil: no visit has had a response
}

// Known is the knowledge of a URL from the last visit whose response says something of the page:
// that it is there, or gone.
type Known struct {
	Visit        int           `json:"visit"`
	Change       record.Change `json:"change,omitempty"` // empty for the first visit of the job
	Status       int           `json:"status"`           // of the last response but 304
	At           time.Time     `json:"at"`
	FirstAt      time.Time     `json:"first_at"`   // the first such visit
	ChangedAt    time.Time     `json:"changed_at"` // the last that found the page new or changed
	ETag         string        `json:"etag,omitempty"`
	LastModified string        `json:"last_modified,omitempty"`
	GoneSince    int           `json:"gone_since,omitempty"` // the visit that found it gone, as it is
}

// URLFilter selects URLs; its zero value selects all.
type URLFilter struct {
	State     URLState      // or a record.Change of the last visit; empty: any
	Status    []StatusRange // of the last response, in any of them; empty: any, or none
	ErrorKind string        // of the last error; empty: any, or none
}

// Errors of the arguments of a list.
var (
	ErrState  = errors.New("expected pending, leased, done, failed, refused, unchanged, changed, gone or new")
	ErrCursor = errors.New("cursor: expected one of an earlier part")
)

// ListPart is a part of a list: the first so many behind a cursor that are found in a time.
type ListPart struct {
	After  string        // the cursor; empty: the beginning
	AtMost int           // values
	Within time.Duration // to look for them; 0: any time
}

// StatusRange is the statuses from one to another.
type StatusRange struct{ From, To int }

// Why is the fate of a URL, and each decision about it. Scope, expressions and robots.txt
// are applied as they are now.
type Why struct {
	URLStatus
	Way   []string `json:"way,omitempty"` // URLs that led to it, from a seed on; the last 10
	Steps []Step   `json:"steps"`

	// Referrers are the pages that link to it, or redirect there.
	Referrers record.Referrers `json:"referrers,omitzero"`
}

// Step is one decision about a URL, or one event.
type Step struct {
	At time.Time `json:"at,omitzero"` // zero: unknown, or timeless
	// One of seed, found, redirected, unseen; POST; role, scope, depth, include, exclude, trap, limit,
	// robots; visit; try; done, failed, refused, dropped, next.
	What string `json:"what"`
	Text string `json:"text"`
}
