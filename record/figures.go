package record

import "time"

// Figures are a crawl at a moment, for monitoring. Work counts from the start of the process and
// never falls; Counters are of the visit, over all its runs.
type Figures struct {
	Counters
	Estimate
	Version   string    `json:"version"`  // of Weft, that runs
	Started   time.Time `json:"started"`  // the process's run
	Paused    []string  `json:"paused"`   // the reasons why no fetch starts; empty: they do
	Ending    bool      `json:"ending"`   // no other fetch starts
	Unready   bool      `json:"unready"`  // it still reads what its last run has left
	Traps     int       `json:"traps"`    // endless paths
	GivenUp   int       `json:"given_up"` // origins
	Memory    int64     `json:"memory"`   // bytes of the process: its heap, stacks and tables
	MaxMemory int64     `json:"max_memory"`
	Shares    []Share   `json:"shares"`
	Work      Work      `json:"work"`
	Commits   *Commits  `json:"commits,omitempty"` // nil: no job is kept
	Loops     []Loop    `json:"loops"`
	Disk      *Disk     `json:"disk,omitempty"`    // nil: no job is on disk
	Browser   *Browser  `json:"browser,omitempty"` // nil: no page is rendered
	Node      *Node     `json:"node,omitempty"`    // nil: the crawl is whole
	Process   Process   `json:"process"`
	Traces    *Traces   `json:"traces,omitempty"` // nil: none are sent
}

// Share is the memory of a part of a crawl, in bytes.
type Share struct {
	Of   string `json:"of"`
	Used int64  `json:"used"`
	Most int64  `json:"most"`
}

// Work counts all that a process has done for its crawl.
type Work struct {
	URLs       map[string]int64 `json:"urls"`        // by outcome: see Outcome
	Statuses   map[string]int64 `json:"statuses"`    // by class, as 2xx
	Errors     map[string]int64 `json:"errors"`      // by error kind
	Bytes      int64            `json:"bytes"`       // received
	Decoded    int64            `json:"decoded"`     // of bodies
	Took       *Times           `json:"took"`        // of URLs that were requested
	Links      int64            `json:"links"`       // new URLs that pages led to
	Robots     int64            `json:"robots"`      // answers about robots.txt
	Retries    int64            `json:"retries"`     // tries of a URL after its first
	Archived   int64            `json:"archived"`    // captures in the archive
	Compressed int64            `json:"compressed"`  // bytes of these
	Rendered   int64            `json:"rendered"`    // pages that a browser has rendered
	Unrendered map[string]int64 `json:"unrendered"`  // and those that it could not, by kind
	RenderTook float64          `json:"render_took"` // seconds of the rendered ones
}

// NewWork returns that of a process that begins.
func NewWork() Work {
	return Work{URLs: make(map[string]int64), Statuses: make(map[string]int64), Errors: make(map[string]int64),
		Unrendered: make(map[string]int64), Took: new(Times)}
}

// Count adds a record.
func (w *Work) Count(r *Record) {
	w.URLs[r.Outcome()]++
	w.Bytes += r.Bytes
	w.Decoded += int64(r.BodyBytes)
	w.Links += int64(r.NewLinks)
	w.Retries += int64(max(0, r.Tries-1))
	if r.Tries > 0 {
		w.Took.Add(time.Duration(r.TotalMS * float64(time.Millisecond)))
	}
	if c := r.Status / 100; c >= 1 && c <= 5 {
		w.Statuses[string(rune('0'+c))+"xx"]++
	}
	if r.ErrorKind != "" {
		w.Errors[r.ErrorKind]++
	}
	if d := r.Rendered; d != nil && d.AsReceived != RenderedLearned {
		if d.Error != "" {
			w.Unrendered[d.ErrorKind]++
			return
		}
		w.Rendered++
		w.RenderTook += float64(d.MS) / 1000
	}
}

// Outcomes of URLs.
const (
	OutcomePage     = "page" // see Record.IsPage
	OutcomeRedirect = "redirect"
	OutcomeOther    = "other"    // a response that is neither, nor an error
	OutcomeStatus   = "status"   // a response with a status of 4xx or 5xx
	OutcomeAsset    = "asset"    // beyond the scope
	OutcomeExternal = "external" // beyond the scope: a link that is checked
	OutcomeFailed   = "failed"   // no response, or none that is of use
	OutcomeRefused  = "refused"  // no request: see Record.IsRefused
)

// Outcome sorts the records of a crawl.
func (r *Record) Outcome() string {
	switch {
	case r.IsRefused():
		return OutcomeRefused
	case r.ErrorKind != "":
		return OutcomeFailed
	case r.Role == RoleAsset:
		return OutcomeAsset
	case r.Role != "":
		return OutcomeExternal
	case r.Redirect != "":
		return OutcomeRedirect
	case r.Status >= 400:
		return OutcomeStatus
	case r.IsPage():
		return OutcomePage
	}
	return OutcomeOther
}

// TimeBounds are the bounds of the first Counts of Times, in seconds.
func TimeBounds() []float64 { return bounds[:] }

var bounds = [...]float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30}

// Times are durations, counted by length.
type Times struct {
	Counts [len(bounds) + 1]int64 `json:"counts"` // up to each bound; the last: longer
	Sum    float64                `json:"sum"`    // seconds
}

// Add counts a duration.
func (t *Times) Add(d time.Duration) {
	i, s := 0, d.Seconds()
	for i < len(bounds) && s > bounds[i] {
		i++
	}
	t.Counts[i]++
	t.Sum += s
}

// Commits are the batches that a process has saved.
type Commits struct {
	Took    Times     `json:"took"`
	Last    time.Time `json:"last,omitzero"`    // end of the last one; zero: none was
	Running float64   `json:"running,omitzero"` // seconds that one takes; 0: none runs
	Open    int       `json:"open"`             // bytes of the batch that is gathered
	Failed  bool      `json:"failed"`           // nothing is saved any more
}

// Loop is an event loop.
type Loop struct {
	Name   string  `json:"name"`   // "coordinator", "fetch 1", …
	Lag    float64 `json:"lag"`    // seconds: mean lateness of the last timers
	Answer float64 `json:"answer"` // seconds that it took to answer, or has not answered
	Turns  uint64  `json:"turns"`
	Tasks  int     `json:"tasks"`
	Open   int     `json:"open"` // descriptors
}

// Disk is the folder of a job, and the disk it is on, in bytes.
type Disk struct {
	Free  uint64           `json:"free"`  // that may still be written
	Size  uint64           `json:"size"`  // of the disk
	Parts map[string]int64 `json:"parts"` // of the folder: records, state, archive
}

// Browser is the state of the browser that renders pages.
type Browser struct {
	Tabs      int   `json:"tabs"` // pages at a time, at most
	Busy      int   `json:"busy"` // pages being rendered
	Starts    int64 `json:"starts"`
	Memory    int64 `json:"memory"` // bytes of its processes, when it last rendered
	MaxMemory int64 `json:"max_memory"`
}

// Node counts the work of a node that other nodes wait for.
type Node struct {
	Outbox int64   `json:"outbox"` // messages that wait to be delivered
	Bytes  int64   `json:"bytes"`  // of these
	Lag    float64 `json:"lag"`    // seconds that the oldest commit waits for its delivery
}

// Process is the use of the machine by a crawl's process.
type Process struct {
	CPU      float64 `json:"cpu"`      // seconds
	Resident int64   `json:"resident"` // bytes; 0: unknown
	Open     int     `json:"open"`     // descriptors; 0: unknown
	MaxOpen  uint64  `json:"max_open"`
	Routines int     `json:"goroutines"`
}

// Traces count the fetches that are traced.
type Traces struct {
	Sent    int64 `json:"sent"`
	Dropped int64 `json:"dropped"` // the collector is away or slow, or has refused them
	Waiting int   `json:"waiting"`
}
