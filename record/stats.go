package record

import "time"

// Stats is a crawl at one moment.
type Stats struct {
	Counters
	Estimate
	Elapsed   time.Duration `json:"elapsed_ns"`
	Status4xx int           `json:"status_4xx"` // URLs answered with a status of 4xx
	Status5xx int           `json:"status_5xx"` // and of 5xx
	Traps     []string      `json:"traps"`      // as in the summary
	MoreTraps int           `json:"more_traps"` // the same
	Paused    []string      `json:"paused"`     // the reasons why no fetch starts; empty: they do
	Ending    bool          `json:"ending"`     // no other fetch starts
	EndsIn    time.Duration `json:"ends_in_ns"` // then what is still in flight is broken off
	Memory    int64         `json:"memory"`     // bytes of the process: its heap, stacks and tables
	MaxMemory int64         `json:"max_memory"` // the budget
	Slowest   []Origin      `json:"slowest"`    // in flight with the longest response time, at most 5
	Longest   []InFlight    `json:"longest"`    // in flight for longest, at most 3, from 5 s on
}

// Estimate is the time that a crawl takes from now on: all URLs that it knows, and those that they
// lead to, at the pace of the last seconds.
type Estimate struct {
	Left time.Duration `json:"left_ns"` // 0: unknown, as at the start, or Growing

	// Bound is the cause of Left: the origin whose delay and response times alone take as long,
	// or the limit that ends the crawl, "limit" or "max-time"; empty: the pace of all hosts.
	Bound string `json:"left_bound,omitempty"`

	// NewPerURL is the number of new URLs that a URL leads to, on average over the latest.
	NewPerURL float64 `json:"new_per_url"`

	// Growing says that new URLs come about as fast as others are done: no end is in sight.
	Growing bool `json:"growing"`
}

// Origin is the state of an origin for a display.
type Origin struct {
	Origin  string        `json:"host"`
	Pending int           `json:"pending"`
	Leased  int           `json:"leased"`
	Took    time.Duration `json:"took_ns"`           // response time, smoothed; 0: unknown
	Pace    int           `json:"pace"`              // requests it may have at once now; 0: any number
	BackOff time.Time     `json:"back_off,omitzero"` // until when it is left alone; zero: it is not
	Why     string        `json:"why,omitempty"`     // that is, in words
}

// InFlight is a request without an outcome.
type InFlight struct {
	URL string        `json:"url"` // of the request
	For time.Duration `json:"for_ns"`
	Try int           `json:"try"` // its number
}

// TaskStatus is a task of a running crawl.
type TaskStatus struct {
	Loop   string    `json:"loop"` // "coordinator", "fetch 1", …
	ID     uint64    `json:"id"`   // in the order in which the loop's tasks started
	Task   string    `json:"task"`
	Parent string    `json:"parent,omitempty"` // task whose group it is in
	State  string    `json:"state"`            // new, ready, running or parked
	Waits  string    `json:"waits,omitempty"`  // the step that it is in
	Since  time.Time `json:"since"`
}

// Referrers are the pages that lead to a URL.
type Referrers struct {
	Pages []Referrer `json:"pages"`         // at most as many as asked for, by visit
	Total int        `json:"total"`         // of all
	Cut   bool       `json:"cut,omitempty"` // the file reached its bound: later pages are not counted
}

// Referrer is a page that leads to a URL.
type Referrer struct {
	URL string   `json:"url"`
	By  Referral `json:"by,omitempty"` // empty: links
}

// Referral is the way in which a page leads to a URL.
type Referral string

// Ways.
const (
	ByLink     Referral = ""
	ByRedirect Referral = "redirect"
	BySitemap  Referral = "sitemap"
)
