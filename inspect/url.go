package inspect

import (
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
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
	URLDropped URLState = "dropped" // beyond LimitPerHost or MaxVariants; not one of View.URLs
	URLUnseen  URLState = "unseen"  // nothing that is followed leads to it; not one of View.URLs
)

// URLStatus is a URL of a job at a moment.
type URLStatus struct {
	URL       string      `json:"url"`
	State     URLState    `json:"state"`
	Depth     int         `json:"depth"`
	From      string      `json:"from,omitempty"` // page or redirect that leads here; none for a seed
	Hops      int         `json:"hops,omitempty"` // redirects that led here
	Priority  int         `json:"priority,omitempty"`
	Sitemap   bool        `json:"sitemap,omitempty"` // it is requested as one
	Role      record.Role `json:"role,omitempty"`    // of one beyond the scope: see record.Role
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
}

func urlStatus(e store.Entry, leased bool, c job.Clock) URLStatus {
	u := e.URL
	s := URLStatus{
		URL: u.URL.String(), State: URLPending, Depth: u.Depth, From: u.From, Hops: u.Hops, Priority: int(u.Priority), Sitemap: fetch.IsSitemap(u), Role: fetch.RoleOf(&u),
		Tries: u.Tries, NotBefore: c.Date(u.NotBefore),
	}
	if n := len(u.Past); n > 0 {
		last := u.Past[n-1]
		s.At, s.Status, s.ErrorKind, s.Error = last.At, last.Status, last.Kind, last.Reason
		if last.Kind == "" {
			s.Error = ""
			if record.IsRedirect(last.Status) {
				s.Redirect = last.Reason
			}
		}
	}
	if v := u.Known; v != nil {
		s.Known = &Known{v.Number, record.Change(v.Change), v.Status, v.At, v.First, v.Changed, v.ETag, v.Modified}
	}
	switch {
	case e.State == store.Done:
		s.State = URLDone
		if s.ErrorKind != "" {
			s.State = URLFailed
		}
		if s.ErrorKind != record.KindRefused { // by OnRequest, before a request
			s.Tries++
		}
	case e.State == store.Refused:
		s.State, s.At, s.ErrorKind, s.Error = URLRefused, e.At, e.Kind, e.Reason
	case e.State == store.Dropped:
		s.State = URLDropped
	case leased:
		s.State = URLLeased
	}
	return s
}

// URLFilter selects URLs; its zero value selects all.
type URLFilter struct {
	State     URLState      // or a record.Change of the last visit; empty: any
	Status    []StatusRange // of the last response, in any of them; empty: any, or none
	ErrorKind string        // of the last error; empty: any, or none
}

// StatusRange is the statuses from one to another.
type StatusRange struct{ From, To int }

func (r StatusRange) has(status int) bool { return r.From <= status && status <= r.To }

// states are those of URLFilter.
var states = []URLState{
	URLPending, URLLeased, URLDone, URLFailed, URLRefused,
	URLState(record.ChangeUnchanged), URLState(record.ChangeChanged), URLState(record.ChangeGone), URLState(record.ChangeNew),
}

// selects reports whether the filter selects a URL of a job that is at a visit.
func (f *URLFilter) selects(s *URLStatus, visit int) bool {
	return (f.State == "" || s.isIn(f.State, visit)) &&
		(len(f.Status) == 0 || slices.ContainsFunc(f.Status, func(r StatusRange) bool { return r.has(s.Status) })) &&
		(f.ErrorKind == "" || f.ErrorKind == s.ErrorKind)
}

// isIn reports whether a URL is in a state, or has changed so at a visit.
func (s *URLStatus) isIn(state URLState, visit int) bool {
	return s.State == state || state == URLDone && s.State == URLFailed ||
		s.Known != nil && s.Known.Visit == visit && s.Known.Change == record.Change(state)
}
