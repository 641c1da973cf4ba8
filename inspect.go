package weft

import (
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/frontier/store"
	"github.com/weftcrawl/weft/robots"
)

// JobState is where a job stands.
type JobState string

// The states of a job.
const (
	JobStarting    JobState = "starting"    // it reads what its last run has left
	JobRunning     JobState = "running"     //
	JobPaused      JobState = "paused"      // no URL is begun
	JobEnding      JobState = "ending"      // what is under way is finished, and no other is begun
	JobFinished    JobState = "finished"    // nothing is left to do
	JobStopped     JobState = "stopped"     // by a limit, and URLs are left
	JobInterrupted JobState = "interrupted" // URLs are left
	JobKilled      JobState = "killed"      // or it was ended by an error that kept it from saving even that
)

// Status is a job at a moment. It is of all its runs together.
type Status struct {
	Job     string    `json:"job"` // its folder
	State   JobState  `json:"state"`
	Reasons []string  `json:"reasons,omitempty"` // why it is paused; or the limit that has stopped it, "limit" or "max-time"
	Version string    `json:"version"`           // of Weft, that began it
	Begun   time.Time `json:"begun"`
	Ended   time.Time `json:"ended,omitzero"` // the last run, if it has said so
	Runs    int       `json:"runs"`
	Seconds float64   `json:"seconds"`              // that they took
	Seeds   int       `json:"seeds"`                // without those of SeedSeq
	First   string    `json:"first_seed,omitempty"` // of them
	Scope   Scope     `json:"scope"`

	// URLs, each in one of these.
	Pending      int `json:"pending"`
	InFlight     int `json:"in_flight"`
	Done         int `json:"done"`
	Refused      int `json:"refused"`                 // by robots.txt, for want of it, by an exclusion, or as the host does not answer
	OverLimit    int `json:"over_limit"`              // cut by LimitPerHost
	OverVariants int `json:"over_variants,omitempty"` // cut by MaxVariants

	Failed    int `json:"failed"` // of those done, with an error
	Pages     int `json:"pages"`
	Redirects int `json:"redirects"`
	Hosts     int `json:"hosts"`

	// Of the visit, if it is not the first: see Change. All else is of that visit too.
	Visit      int   `json:"visit,omitempty"`
	Unchanged  int   `json:"unchanged,omitempty"`
	Changed    int   `json:"changed,omitempty"`
	Gone       int   `json:"gone,omitempty"`
	New        int   `json:"new,omitempty"`
	BytesSaved int64 `json:"bytes_saved,omitempty"` // that answers of 304 have spared

	Robots      int            `json:"robots"` // robots.txt asked for
	Bytes       int64          `json:"bytes"`  // received
	Statuses    map[int]int    `json:"statuses"`
	Errors      map[string]int `json:"errors"`       // of those failed and refused, by error kind
	NotFollowed map[string]int `json:"not_followed"` // mentions of links, by reason
	FirstError  string         `json:"first_error,omitempty"`

	// While it runs: bytes that the process has for its heap, stacks and tables, and what it may have.
	Memory    int64 `json:"memory,omitempty"`
	MaxMemory int64 `json:"max_memory,omitempty"`

	// While it runs, of the last seconds.
	URLsPerSecond  float64 `json:"urls_per_second,omitempty"`
	BytesPerSecond float64 `json:"bytes_per_second,omitempty"`
	SecondsLeft    float64 `json:"seconds_left,omitempty"` // at least, to finish what is known by now; 0: it cannot be said
}

// newStatus is what plan, history and counts say.
func newStatus(dir string, p plan, h history, counts frontier.Stats) Status {
	sum := h.Summary
	s := Status{
		Job: dir, Version: p.Version, Begun: p.Begun, Ended: h.Ended, Runs: sum.Runs, Seconds: sum.Elapsed.Seconds(), Scope: p.Scope,
		Pending: counts.Pending, InFlight: counts.Leased, Done: counts.Done, Refused: counts.Refused, OverLimit: counts.OverLimit, OverVariants: counts.OverVariants,
		Pages: sum.Pages, Redirects: sum.Redirects, Hosts: h.Hosts, Robots: sum.Robots, Bytes: sum.Bytes,
		Statuses: make(map[int]int), Errors: make(map[string]int), NotFollowed: sum.NotFollowed, FirstError: sum.FirstError,
	}
	if sum.Visit > 1 {
		s.Visit, s.Unchanged, s.Changed, s.Gone, s.New, s.BytesSaved = sum.Visit, sum.Unchanged, sum.Changed, sum.Gone, sum.New, sum.BytesSaved
	}
	if s.Seeds = len(p.Seeds) + len(p.Added); s.Seeds > 0 {
		s.First = slices.Concat(p.Seeds, p.Added)[0]
	}
	for status, n := range sum.Statuses {
		s.Statuses[status] = n.URLs
	}
	errors := 0
	for kind, n := range sum.Errors {
		s.Errors[kind] = n.URLs
		errors += n.URLs
	}
	s.Failed = max(0, errors-counts.Refused)
	switch {
	case h.Ended.IsZero():
		s.State = JobKilled
	case sum.Stopped != "":
		s.State, s.Reasons = JobStopped, []string{sum.Stopped}
	case counts.Pending > 0 || p.List && !h.List.Listed:
		s.State = JobInterrupted
	default:
		s.State = JobFinished
	}
	return s
}

// HostStatus is a host of a job at a moment. A URL that is finished without having been
// asked for is in none of the counts.
type HostStatus struct {
	Host        string    `json:"host"` // its origin
	Done        int       `json:"done"`
	Pending     int       `json:"pending"`
	InFlight    int       `json:"in_flight"`
	TookMS      float64   `json:"took_ms,omitempty"` // response time, smoothed; 0: unknown
	Pace        int       `json:"pace,omitempty"`    // requests at once; 0: any number
	DelayMS     float64   `json:"delay_ms,omitempty"`
	Asked       time.Time `json:"asked,omitzero"` // when it was last asked or has last answered
	Robots      string    `json:"robots"`         // known, unknown, asked (it is under way), unreachable, or off
	RobotsUntil time.Time `json:"robots_until,omitzero"`
	Waits       string    `json:"waits,omitempty"` // why it is not asked now, in words
	WaitsUntil  time.Time `json:"waits_until,omitzero"`
}

// newHostStatus is what is known of a host. A crawl that does not run has a zero Leased,
// Asking, Pace, Delay, Next, Resolving and HeldBy.
func newHostStatus(now time.Time, p plan, h frontier.HostInfo, rules robots.Rules) HostStatus {
	s := HostStatus{
		Host: h.Name, Done: h.Answered - h.Tried, Pending: h.Pending - h.Leased, InFlight: h.Leased,
		TookMS: ms(h.Took), Pace: h.Pace, DelayMS: ms(h.Delay), Asked: h.Asked, RobotsUntil: h.Robots.Until,
	}
	if asks, _ := rules.CrawlDelay(); s.DelayMS == 0 && asks <= frontier.MaxCrawlDelay {
		s.DelayMS = ms(asks)
	}
	switch r := h.Robots; {
	case p.NoRobots:
		s.Robots = "off"
	case h.Asking:
		s.Robots = "asked"
	case r.Shut && r.Until.After(now):
		s.Robots = "unreachable"
	case r.Have:
		s.Robots = "known"
	default:
		s.Robots = "unknown"
	}
	switch r := h.Robots; {
	case h.Capped:
		s.Waits = "it has had its limit"
	case s.Robots == "unreachable":
		s.Waits, s.WaitsUntil = "no robots.txt, "+r.Kind, r.Until
	case h.Asking:
		s.Waits = "its robots.txt is asked for"
	case h.Starved:
		s.Waits = "room in memory for its robots.txt"
	case r.Tries > 0 && !r.Have && r.Until.After(now) && !h.Hold.After(r.Until):
		s.Waits, s.WaitsUntil = "robots.txt failed", r.Until
	default:
		s.Waits, s.WaitsUntil = waitsFor(now, h)
	}
	return s
}

// waitsFor says what keeps the server of a host from being asked, and until when, if that is known.
func waitsFor(now time.Time, h frontier.HostInfo) (what string, until time.Time) {
	switch {
	case h.Dead:
		return fmt.Sprintf("it did not answer %d times in a row: its URLs are refused", h.Failures), h.Hold
	case h.Hold.After(now) && h.Failures > 0:
		return fmt.Sprintf("parked, it did not answer %d times in a row", h.Failures), h.Hold
	case h.Hold.After(now):
		return "overloaded", h.Hold
	case h.Resolving:
		return "its address is asked for", time.Time{}
	case h.Full: // as the numbers say
	case h.HeldBy == frontier.HeldByDomain:
		return "a turn at its registrable domain", h.Next
	case h.HeldBy == frontier.HeldByAddress:
		return "a turn at its address", h.Next
	case h.Next.After(now):
		return "delay", h.Next
	}
	return "", time.Time{}
}

// URLState is where a URL stands.
type URLState string

// The states of a URL.
const (
	URLPending URLState = "pending"
	URLLeased  URLState = "leased" // under way
	URLDone    URLState = "done"
	URLFailed  URLState = "failed"  // done, with an error
	URLRefused URLState = "refused" // by robots.txt, for want of it, by an exclusion, or as the host does not answer
	URLDropped URLState = "dropped" // its host has had LimitPerHost, or its path MaxVariants; not one of Job.URLs
	URLUnseen  URLState = "unseen"  // nothing that is followed has led to it; not one of Job.URLs
)

// URLStatus is a URL of a job at a moment.
type URLStatus struct {
	URL       string    `json:"url"`
	State     URLState  `json:"state"`
	Depth     int       `json:"depth"`
	From      string    `json:"from,omitempty"` // the page it was found on, or the URL that redirected to it; empty for a seed
	Hops      int       `json:"hops,omitempty"` // redirects that led to it
	Priority  int       `json:"priority,omitempty"`
	Sitemap   bool      `json:"sitemap,omitempty"` // it is asked for as one
	Tries     int       `json:"tries"`
	Status    int       `json:"status,omitempty"` // of the last answer
	ErrorKind string    `json:"error_kind,omitempty"`
	Error     string    `json:"error,omitempty"`
	Redirect  string    `json:"redirect,omitempty"`  // where the answer leads; cut after 200 bytes
	At        time.Time `json:"at,omitzero"`         // the last try; or when it was refused
	NotBefore time.Time `json:"not_before,omitzero"` // the next try

	Known *Known `json:"known,omitempty"` // nil: no visit has had an answer of it
}

// Known is what is known of a URL from the last visit that had an answer of it which says
// something of the page: it is there, or gone.
type Known struct {
	Visit        int       `json:"visit"`
	Change       Change    `json:"change,omitempty"` // empty of the first visit of the job
	Status       int       `json:"status"`           // of the last answer that was no 304
	At           time.Time `json:"at"`
	FirstAt      time.Time `json:"first_at"`   // of the first of such visits
	ChangedAt    time.Time `json:"changed_at"` // of the last that has found it new, or other than before
	ETag         string    `json:"etag,omitempty"`
	LastModified string    `json:"last_modified,omitempty"`
}

func newURLStatus(e store.Entry, leased bool) URLStatus {
	u := e.URL
	s := URLStatus{
		URL: u.URL.String(), State: URLPending, Depth: u.Depth, From: u.From, Hops: u.Hops, Priority: int(u.Priority), Sitemap: isSitemap(u),
		Tries: u.Tries, NotBefore: u.NotBefore,
	}
	if n := len(u.Past); n > 0 {
		last := u.Past[n-1]
		s.At, s.Status, s.ErrorKind, s.Error = last.At, last.Status, last.Kind, last.Reason
		if last.Kind == "" {
			s.Error = ""
			if isRedirect(last.Status) {
				s.Redirect = last.Reason
			}
		}
	}
	if v := u.Known; v != nil {
		s.Known = &Known{v.Number, Change(v.Change), v.Status, v.At, v.First, v.Changed, v.ETag, v.Modified}
	}
	switch {
	case e.State == store.Done:
		s.State = URLDone
		if s.ErrorKind != "" {
			s.State = URLFailed
		}
		if s.ErrorKind != KindRefused { // by OnRequest, before it was asked for
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

// isIn reports whether a URL is in a state, or has changed so, at a visit.
func (s *URLStatus) isIn(state URLState, visit int) bool {
	return s.State == state || state == URLDone && s.State == URLFailed ||
		s.Known != nil && s.Known.Visit == visit && s.Known.Change == Change(state)
}
