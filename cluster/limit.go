package cluster

import (
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
)

// limits are those of a crawl, over all nodes: a key of the bucket, if there are any. Each process
// takes from it an allowance: URLs that it may fetch.
//
// Invariant: Gone and the allowances are at most URLs together, and no process begins more than its
// allowance.
type limits struct {
	URLs    int                  `json:"urls,omitempty"`     // 0: any number
	Gone    int                  `json:"gone"`               // to ended processes, and not given back
	Allowed map[string]allowance `json:"slices,omitempty"`   // by process
	MaxTime time.Duration        `json:"max_time,omitempty"` // since the plan was written; 0: any
}

// allowance is the URLs that a process may begin, and those that it had begun when it said so last.
type allowance struct {
	Taken int `json:"taken"`
	Begun int `json:"begun"`
}

// ErrLimit is returned by Join for a crawl that a limit has stopped.
var ErrLimit = errors.New("the crawl has reached a limit")

// limitError is ErrLimit with the limit, such as --limit 200.
type limitError struct {
	crawl layout
	limit string
}

func (e *limitError) Error() string {
	return fmt.Sprintf("crawl %s: %v: %s, expected a higher one to continue it", e.crawl, ErrLimit, e.limit)
}

func (e *limitError) Is(err error) bool { return err == ErrLimit }

// name is that of weft.Summary.Stopped.
func (e *limitError) name() string {
	option, _, _ := strings.Cut(e.limit, " ")
	return strings.TrimPrefix(option, "--")
}

// reached reports whether all URLs that may be fetched are begun.
func (l *limits) reached() bool {
	begun := l.Gone
	for _, s := range l.Allowed {
		begun += s.Begun
	}
	return l.URLs > 0 && begun >= l.URLs
}

// stop returns the limit that stops a crawl that has lasted for so long; empty: none does.
func (l *limits) stop(lasted time.Duration) string {
	switch {
	case l.reached():
		return fmt.Sprint("--limit ", l.URLs)
	case l.MaxTime > 0 && lasted >= l.MaxTime:
		return fmt.Sprint("--max-time ", l.MaxTime)
	}
	return ""
}

// mostAllowed is the most URLs that a process may begin and has not: as much of the limit is lost
// when it dies.
const mostAllowed = 1000

// with returns the limits after a process has begun some of the URLs of its allowance and, if it
// wants more, has taken more. What ended processes hold is gone: how much of it they have begun is
// unknown.
func (l *limits) with(me string, mine allowance, more bool, runs map[string]bool) (limits, allowance) {
	next := *l
	next.Allowed = maps.Clone(l.Allowed)
	if next.Allowed == nil {
		next.Allowed = make(map[string]allowance)
	}
	left := next.URLs - mine.Taken
	for process, s := range l.Allowed {
		switch {
		case process == me:
		case !runs[process]:
			delete(next.Allowed, process)
			next.Gone += s.Taken
		default:
			left -= s.Taken
		}
	}
	if left -= next.Gone; more && left > 0 {
		mine.Taken += min(max(1, left/(2*max(1, len(runs)))), mostAllowed-(mine.Taken-mine.Begun), left)
	}
	next.Allowed[me] = mine
	return next, mine
}

// agree returns the limits of a crawl that a node joins: it may leave them out, and raise them.
func (l limits) agree(o *weft.Options) (limits, error) {
	switch {
	case o.Limits.Limit != 0 && (l.URLs == 0 || o.Limits.Limit < l.URLs):
		return l, differ("Limit", limitWords(l.URLs), strconv.Itoa(o.Limits.Limit))
	case o.Limits.MaxTime != 0 && (l.MaxTime == 0 || o.Limits.MaxTime < l.MaxTime):
		return l, differ("MaxTime", limitWords(l.MaxTime), o.Limits.MaxTime.String())
	}
	l.URLs, l.MaxTime = max(l.URLs, o.Limits.Limit), max(l.MaxTime, o.Limits.MaxTime)
	return l, nil
}

func limitWords[N int | time.Duration](n N) string {
	if n == 0 {
		return "none"
	}
	return fmt.Sprint("at least ", n)
}

func differ(option, was, now string) error {
	return &weft.OptionError{Option: option, Value: now, Err: &weft.PlanError{Differences: []weft.Difference{{Option: option, Was: was, Now: now}}}}
}
