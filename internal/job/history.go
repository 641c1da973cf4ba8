package job

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"time"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// History is a job's memory of its runs, apart from its URLs.
type History struct {
	Summary record.Summary // of the visit
	List    List
	Clock   Clock     // when this was saved
	Ended   time.Time // end of the last run; zero while it runs, or if it was killed
	Turning bool      // a visit starts: finished URLs are becoming pending
	Retry   Retry     // the last one of the visit; empty: there was none

	Narrowed bool // the visit asks chosen URLs only
	Kept     Kept // the others, and those that are gone for long

	NotFollowed map[string]int // of earlier visits, as Summary.NotFollowed
}

// List is the length of SeedSeq as far as it was read, and a hash of it: a resumed job reads it
// again.
type List struct {
	Seeds  int    `json:"seeds"`
	Sum    uint64 `json:"sum"`
	Listed bool   `json:"listed"` // it was read to its end
}

// Add takes in the next seed.
func (l *List) Add(u weburl.URL) {
	l.Seeds++
	l.Sum = fnv1a(fmt.Sprintf("%x %s", l.Sum, u))
}

// fnv1a is the FNV-1a hash of 64 bits.
func fnv1a(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// nextVisit returns the history with which a finished job starts its next visit.
func (h History) nextVisit() History {
	next := History{Summary: record.NewSummary(), List: h.List, Clock: h.Clock, Turning: true, NotFollowed: maps.Clone(h.Summary.NotFollowed)}
	if next.NotFollowed == nil {
		next.NotFollowed = make(map[string]int)
	}
	for reason, n := range h.NotFollowed {
		next.NotFollowed[reason] += n
	}
	next.Summary.Hosts = h.Summary.Hosts
	next.Summary.Visit = max(1, h.Summary.Visit) + 1
	return next
}

// Kept counts finished URLs that a visit leaves as they are.
type Kept struct {
	Done    int `json:"done,omitempty"`
	Refused int `json:"refused,omitempty"`
}

// TakeBack takes in that one of the URLs, which was done or refused, is asked after all.
func (k *Kept) TakeBack(was store.State) {
	if was == store.Refused {
		k.Refused--
	} else {
		k.Done--
	}
}

// Encode returns the history as the store keeps it.
func (h *History) Encode() []byte { return encode(h.stored()) }

// stored is the history on disk. Its keys are part of the format of a job.
type stored struct {
	Summary     storedSummary  `json:"summary"`
	List        List           `json:"list"`
	Hosts       int            `json:"hosts"`
	Clock       Clock          `json:"clock,omitzero"`
	Ended       time.Time      `json:"ended,omitzero"`
	Turning     bool           `json:"turning,omitempty"`
	Retry       Retry          `json:"retry,omitempty"`
	Narrowed    bool           `json:"narrowed,omitempty"`
	Kept        Kept           `json:"kept,omitzero"`
	NotFollowed map[string]int `json:"not_followed,omitempty"`
}

type storedSummary struct {
	Started      time.Time               `json:"started"`
	Elapsed      time.Duration           `json:"elapsed"`
	Done         int                     `json:"done"` // with those refused
	Refused      int                     `json:"refused"`
	Pages        int                     `json:"pages"`
	Redirects    int                     `json:"redirects"`
	Assets       int                     `json:"assets,omitempty"`
	External     int                     `json:"external,omitempty"`
	Duplicates   int                     `json:"duplicates"`
	Near         int                     `json:"near"`
	Robots       int                     `json:"robots"`
	SeedsFetched int                     `json:"seeds_fetched"`
	Statuses     map[int]record.Count    `json:"statuses"`
	ContentTypes map[string]record.Count `json:"content_types"`
	Errors       map[string]record.Count `json:"errors"`
	Items        int                     `json:"items,omitempty"`
	Missing      map[string]int          `json:"missing_fields,omitempty"`
	NotFollowed  map[string]int          `json:"not_followed"`
	Opened       []string                `json:"opened"`
	Traps        []string                `json:"traps,omitempty"`
	MoreTraps    int                     `json:"more_traps,omitempty"`
	GivenUp      []record.GivenUp        `json:"given_up,omitempty"`
	MoreGivenUp  int                     `json:"more_given_up,omitempty"`
	NeedScripts  int                     `json:"need_scripts,omitempty"`
	NeedsFirst   string                  `json:"need_scripts_example,omitempty"`
	Rendered     int                     `json:"rendered,omitempty"`
	NotRendered  int                     `json:"not_rendered,omitempty"`
	Unrendered   []record.Unrendered     `json:"not_rendered_by,omitempty"`
	FirstError   string                  `json:"first_error"`
	Slowest      []record.Record         `json:"slowest"`
	Bytes        int64                   `json:"bytes"`
	Pending      int                     `json:"pending"`
	OverLimit    int                     `json:"over_limit"`
	OverVariants int                     `json:"over_variants"`
	Stopped      string                  `json:"stopped"`
	Interrupted  bool                    `json:"interrupted"`
	Finished     bool                    `json:"finished"`
	Runs         int                     `json:"runs"`
	Skipped      int                     `json:"skipped,omitempty"`
	Visit        int                     `json:"visit"`
	Unchanged    int                     `json:"unchanged"`
	Changed      int                     `json:"changed"`
	Gone         int                     `json:"gone"`
	New          int                     `json:"new"`
	BytesSaved   int64                   `json:"bytes_saved"`
}

// UnmarshalJSON also reads the keys of earlier versions, such as SeedsFetched for seeds_fetched.
func (s *storedSummary) UnmarshalJSON(b []byte) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	keys := make(map[string]json.RawMessage, len(fields))
	for name, value := range fields {
		keys[wordStart.ReplaceAllString(name, "${1}_$2")] = value // ignoring case
	}
	b, err := json.Marshal(keys)
	if err != nil {
		return err
	}
	type plain storedSummary
	return json.Unmarshal(b, (*plain)(s))
}

var wordStart = regexp.MustCompile("([a-z])([A-Z])")

func (h *History) stored() stored {
	s := &h.Summary
	return stored{
		List: h.List, Hosts: s.Hosts, Clock: h.Clock, Ended: h.Ended, Turning: h.Turning, Retry: h.Retry, Narrowed: h.Narrowed, Kept: h.Kept, NotFollowed: h.NotFollowed,
		Summary: storedSummary{
			Started: s.Started, Elapsed: s.Elapsed, Done: s.Recorded(), Refused: s.Refused,
			Pages: s.Pages, Redirects: s.Redirects, Assets: s.Assets, External: s.External, Duplicates: s.Duplicates, Near: s.Near, Items: s.Items, Missing: s.Missing, Robots: s.Robots,
			NeedScripts: s.NeedScripts, NeedsFirst: s.NeedsFirst, Rendered: s.Rendered, NotRendered: s.NotRendered, Unrendered: s.Unrendered,
			SeedsFetched: s.SeedsFetched, Statuses: s.Statuses, ContentTypes: s.ContentTypes, Errors: s.Errors,
			NotFollowed: s.NotFollowed, Opened: s.Opened, FirstError: s.FirstError, Slowest: s.Slowest,
			Traps: s.Traps, MoreTraps: s.MoreTraps, GivenUp: s.GivenUp, MoreGivenUp: s.MoreGivenUp, Bytes: s.Bytes, Pending: s.Pending, OverLimit: s.OverLimit, OverVariants: s.OverVariants,
			Stopped: s.Stopped, Interrupted: s.Interrupted, Finished: s.Finished, Runs: s.Runs, Skipped: s.Skipped, Visit: s.Visit,
			Unchanged: s.Unchanged, Changed: s.Changed, Gone: s.Gone, New: s.New, BytesSaved: s.BytesSaved,
		},
	}
}

func (d *stored) history() History {
	s := &d.Summary
	return History{
		List: d.List, Clock: d.Clock, Ended: d.Ended, Turning: d.Turning, Retry: d.Retry, Narrowed: d.Narrowed, Kept: d.Kept, NotFollowed: d.NotFollowed,
		Summary: record.Summary{
			Counters: record.Counters{
				Pending: s.Pending, Done: s.Done - s.Refused, Refused: s.Refused, OverLimit: s.OverLimit, OverVariants: s.OverVariants,
				Failed: record.Failed(s.Errors, s.Refused), Pages: s.Pages, Redirects: s.Redirects, Assets: s.Assets, External: s.External, Hosts: d.Hosts, Skipped: s.Skipped, Visit: s.Visit, Unchanged: s.Unchanged,
				Changed: s.Changed, Gone: s.Gone, New: s.New, BytesSaved: s.BytesSaved, Robots: s.Robots, Bytes: s.Bytes,
			},
			Started: s.Started, Elapsed: s.Elapsed, Duplicates: s.Duplicates, Near: s.Near, ItemCounts: record.ItemCounts{Items: s.Items, Missing: s.Missing},
			ScriptCounts: record.ScriptCounts{NeedScripts: s.NeedScripts, NeedsFirst: s.NeedsFirst, Rendered: s.Rendered, NotRendered: s.NotRendered}, Unrendered: s.Unrendered, SeedsFetched: s.SeedsFetched,
			Statuses: s.Statuses, ContentTypes: s.ContentTypes, Errors: s.Errors, NotFollowed: s.NotFollowed, Opened: s.Opened,
			Traps: s.Traps, MoreTraps: s.MoreTraps, GivenUp: s.GivenUp, MoreGivenUp: s.MoreGivenUp, FirstError: s.FirstError, Slowest: s.Slowest, Stopped: s.Stopped, Interrupted: s.Interrupted, Finished: s.Finished, Runs: s.Runs, Narrowed: d.Narrowed,
		},
	}
}
