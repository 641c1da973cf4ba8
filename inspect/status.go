package inspect

import (
	"time"

	"github.com/weftcrawl/weft/option"
	"github.com/weftcrawl/weft/record"
)

// JobState is the stage of a job.
type JobState string

// States of a job.
const (
	JobStarting    JobState = "starting"    // it reads what its last run left
	JobRunning     JobState = "running"     //
	JobPaused      JobState = "paused"      // no fetch starts
	JobEnding      JobState = "ending"      // fetches in flight finish, no other starts
	JobFinished    JobState = "finished"    // nothing is left to do
	JobFailed      JobState = "failed"      // no seed was fetched: the same command starts anew
	JobStopped     JobState = "stopped"     // a limit stopped it, and URLs are left
	JobInterrupted JobState = "interrupted" // URLs are left
	JobKilled      JobState = "killed"      // or an error ended it and kept it from saving even that
)

// Status is a job at a moment, over all its runs.
type Status struct {
	Job   string   `json:"job"` // its folder
	State JobState `json:"state"`
	// Reasons are those of the pause; or the limit that stopped it, "limit" or "max-time".
	Reasons []string     `json:"reasons,omitempty"`
	Version string       `json:"version"` // of Weft, that began it
	Begun   time.Time    `json:"begun"`
	Ended   time.Time    `json:"ended,omitzero"` // end of the last run, if it was saved
	Runs    int          `json:"runs"`
	Seconds float64      `json:"seconds"`              // duration of the runs
	Seeds   int          `json:"seeds"`                // but for those of SeedSeq
	First   string       `json:"first_seed,omitempty"` // of them
	Scope   option.Scope `json:"scope"`
	Canon   string       `json:"canon,omitempty"` // names of rules: see weburl.ParseRules

	record.Counters
	record.ItemCounts
	record.ScriptCounts
	Unrendered []record.Unrendered `json:"not_rendered_by,omitempty"` // of NotRendered, 20 kinds

	Statuses    map[int]int    `json:"statuses"`
	Errors      map[string]int `json:"errors"`       // URLs failed and refused, by error kind
	NotFollowed map[string]int `json:"not_followed"` // link mentions, by reason
	FirstError  string         `json:"first_error,omitempty"`
	Traps       []string       `json:"traps,omitempty"`      // as in Summary
	MoreTraps   int            `json:"more_traps,omitempty"` // the same

	// While it runs, in bytes: what the process has for its heap, stacks and tables, and its
	// budget.
	Memory    int64 `json:"memory,omitempty"`
	MaxMemory int64 `json:"max_memory,omitempty"`

	// Bytes of the folder by part: records, state, archive. Saved bodies and pictures are not
	// counted: they are too many.
	Disk map[string]int64 `json:"disk,omitempty"`

	Outlook           // while it runs
	Waits   []Waiting `json:"waits,omitempty"` // while it runs: most URLs first

	EndsIn float64 `json:"ends_in,omitempty"` // seconds until requests in flight are broken off
}

// Waiting is the hosts that wait for one thing, of the first 4,096 in memory.
type Waiting struct {
	For     Reason    `json:"for"`
	Hosts   int       `json:"hosts"` // origins with URLs that wait
	Pending int       `json:"pending"`
	Example string    `json:"example"`        // of the hosts
	Until   time.Time `json:"until,omitzero"` // of the host that waits least; zero: unknown
}

// Reason is the cause why a host is not requested.
type Reason string

// Reasons why a host is not requested, but for that of the whole crawl: see Status.Reasons.
const (
	ByNothing    Reason = "turn"       // nothing holds it: its next URL is about to be leased
	ByRequests   Reason = "requests"   // as many are in flight as its pace allows
	ByPace       Reason = "pace"       // delay
	ByDomain     Reason = "domain"     // hosts of its registrable domain share a pace
	ByAddress    Reason = "address"    // hosts at its address share a pace
	ByBackOff    Reason = "back-off"   // it was overloaded, or asked for it: Retry-After
	BySilence    Reason = "silence"    // it is parked, or given up: it does not respond
	ByRobots     Reason = "robots.txt" // it is being fetched, or cannot be
	ByResolution Reason = "dns"        // its address is being looked up
	ByDepth      Reason = "depth"      // --depth takes nearer URLs first
	ByMemory     Reason = "memory"     // there is no room for its robots.txt
	ByLimit      Reason = "limit"      // it has had --limit-per-host
)

// Outlook is the speed of a running job, over the last seconds, and the time that it takes.
type Outlook struct {
	URLsPerSecond  float64 `json:"urls_per_second,omitempty"`
	BytesPerSecond float64 `json:"bytes_per_second,omitempty"`
	SecondsLeft    float64 `json:"seconds_left,omitempty"` // see engine.Estimate; 0: unknown, Growing
	LeftBound      string  `json:"left_bound,omitempty"`   // origin, limit, max-time; empty: all hosts
	NewPerURL      float64 `json:"new_per_url,omitempty"`  // new URLs that a URL leads to
	Growing        bool    `json:"growing,omitempty"`      // about as fast as URLs are done
}
