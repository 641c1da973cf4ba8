package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft"
)

// limits are those of a crawl, over all nodes: a key of the bucket, if there are any. Each process takes URLs
// that it may fetch from it, a slice at a time.
//
// Invariant: Gone and the slices are at most URLs together, and no process begins more than its slice has.
type limits struct {
	URLs    int              `json:"urls,omitempty"` // 0: any number
	Gone    int              `json:"gone"`           // of processes that have ended: what they took and did not give back
	Slices  map[string]slice `json:"slices,omitempty"`
	MaxTime time.Duration    `json:"max_time,omitempty"` // since the plan was written; 0: any
}

// slice is what a process may fetch, and what it had begun when it said so last.
type slice struct {
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
	for _, s := range l.Slices {
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

// mostSlice bounds what a process may begin and has not: as much of the limit is lost when it dies.
const mostSlice = 1000

// with returns the limits after a process has begun some of the URLs of its slice and, if it wants more, has
// taken more. What ended processes hold is gone: how much of it they have begun is unknown.
func (l *limits) with(me string, mine slice, more bool, runs map[string]bool) (limits, slice) {
	next := *l
	next.Slices = maps.Clone(l.Slices)
	if next.Slices == nil {
		next.Slices = make(map[string]slice)
	}
	left := next.URLs - mine.Taken
	for process, s := range l.Slices {
		switch {
		case process == me:
		case !runs[process]:
			delete(next.Slices, process)
			next.Gone += s.Taken
		default:
			left -= s.Taken
		}
	}
	if left -= next.Gone; more && left > 0 {
		mine.Taken += min(max(1, left/(2*max(1, len(runs)))), mostSlice-(mine.Taken-mine.Begun), left)
	}
	next.Slices[me] = mine
	return next, mine
}

// quota is this node's part of the limits. Owner: the node's goroutine.
type quota struct {
	limits                 // as the bucket shows them
	revision uint64        // of these; 0: there are none
	mine     slice         // as the engine has it
	short    bool          // the engine wants more
	fresh    bool          // and has wanted none before
	unused   bool          // the engine has no use for what it has
	leaves   bool          // the node is to leave, once it has given that back
	left     bool          // and has
	busy     bool          // the key is being written
	unsaid   bool          // it has not been, and may show more than mine
	told     bool          // the engine, that the limit is reached
	late     bool          // MaxTime is over
	begun    time.Duration // when the crawl began, on this node's clock
}

// process is what this process is called in the limits.
func (n *node) process() string { return processOf(n.dir.Node, n.dir.Incarnation) }

func processOf(id string, incarnation uint64) string {
	return id + "." + strconv.FormatUint(incarnation, 10)
}

// running are the processes that have not ended.
func (n *node) running() map[string]bool {
	all := make(map[string]bool)
	for id, b := range n.own.Nodes() {
		if b.Running() {
			all[processOf(id, b.Incarnation)] = true
		}
	}
	return all
}

// seeLimits takes in what the bucket shows of the limits. If that cannot be read, those before it hold, and replace it with
// the next write.
func (n *node) seeLimits(e jetstream.KeyValueEntry) error {
	q := &n.end.quota
	if e.Revision() <= q.revision {
		return nil
	}
	var l limits
	if err := json.Unmarshal(e.Value(), &l); err != nil {
		q.revision = e.Revision()
		return err
	}
	q.limits, q.revision = l, e.Revision()
	return nil
}

// keepLimits takes more of the limits for the engine, gives back what it has no use for, and stops the crawl at
// one. What could not be had is asked for again now and then.
func (n *node) keepLimits(again bool) {
	q := &n.end.quota
	if q.MaxTime > 0 && !q.late && now() >= q.begun+q.MaxTime {
		q.late = true
		_ = n.crawl.Stop("max-time") // it may have ended
	}
	if over := q.reached(); over != q.told {
		q.told = over
		_ = n.crawl.LimitReached(over)
	}
	if due, more := q.due(again); due && n.own.Until() > 0 { // others take the slice of one who has not joined for lost
		n.account(more)
	}
	if q.leaves && !q.left && !q.busy && !q.has() {
		q.left = true
		n.own.Leave()
	}
}

// due says whether the key is to be written, and whether the engine needs more. What has failed waits for the
// next tick.
func (q *quota) due(again bool) (due, more bool) {
	switch {
	case q.URLs == 0 || q.busy || !again && (q.unsaid || !q.fresh && !q.leaves):
		return false, false
	case q.has() && (q.leaves || q.unused):
		return true, false
	}
	return q.short && !q.leaves, true
}

// has reports whether there is something to give back.
func (q *quota) has() bool { return q.unsaid || q.mine.Taken > q.mine.Begun }

// wrote takes in what became of an account.
func (q *quota) wrote(mine slice, err error) { q.mine, q.busy, q.unsaid = mine, false, err != nil }

// wants takes in that the engine wants more.
func (n *node) wants() {
	n.mail.post(func() {
		q := &n.end.quota
		q.fresh = q.fresh || !q.short
		q.short = true
	})
}

// account writes what the node has begun of its slice, and takes more or gives the rest back.
//
// The engine never begins more than the bucket allows, even if a write fails: it learns of a smaller allowance
// before the write, and of a larger one only after the write has succeeded.
func (n *node) account(more bool) {
	q := &n.end.quota
	q.busy, q.fresh = true, false
	from, revision, mine, runs := q.limits, q.revision, q.mine, n.running()
	n.ops.Go(func() {
		allowed := mine.Taken
		if !more {
			allowed = 0
		}
		begun, err := n.crawl.Allow(n.ctx, allowed)
		if err == nil {
			mine = slice{max(allowed, begun), begun}
			next, taken := from.with(n.process(), mine, more, runs)
			if !maps.Equal(next.Slices, from.Slices) {
				revision, err = n.writeLimits(next, revision)
			}
			if err == nil {
				grown := taken.Taken > mine.Taken
				n.mail.post(func() { q.accounted(next, revision, grown) })
				if grown { // the engine says so if that is not enough, either
					_, _ = n.crawl.Allow(n.ctx, taken.Taken) // a crawl that is over begins nothing
				}
				mine = taken
			}
		}
		n.mail.post(func() { q.wrote(mine, err) })
	})
}

// accounted takes in that the bucket has the limits, and whether there was more for the engine.
func (q *quota) accounted(l limits, revision uint64, more bool) {
	if revision > q.revision {
		q.limits, q.revision = l, revision
	}
	q.short = q.short && !more
}

// writeLimits replaces a revision of the limits.
func (n *node) writeLimits(l limits, revision uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(n.ctx, requestTimeout)
	defer cancel()
	text, err := json.Marshal(l)
	if err != nil {
		return 0, err
	}
	return n.bucket.Update(ctx, keyLimits, text, revision)
}

// agree returns the limits of a crawl that a node joins: it may leave them out, and raise them.
func (l limits) agree(o *weft.Options) (limits, error) {
	switch {
	case o.Limit != 0 && (l.URLs == 0 || o.Limit < l.URLs):
		return l, differ("Limit", limitWords(l.URLs), strconv.Itoa(o.Limit))
	case o.MaxTime != 0 && (l.MaxTime == 0 || o.MaxTime < l.MaxTime):
		return l, differ("MaxTime", limitWords(l.MaxTime), o.MaxTime.String())
	}
	l.URLs, l.MaxTime = max(l.URLs, o.Limit), max(l.MaxTime, o.MaxTime)
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

// joinLimits takes the limits of the crawl in place of those of a node, which may raise them. It returns ErrLimit
// if one is reached.
func (n *node) joinLimits(ctx context.Context, o *weft.Options) error {
	for {
		e, err := n.bucket.Get(ctx, keyLimits)
		var l limits
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			l = n.plan.Limits
		case err != nil:
			return n.refused(err)
		default:
			n.end.quota.limits = n.plan.Limits
			if err := n.seeLimits(e); err != nil {
				n.setKeyAside(keyLimits, err)
			}
			l = n.end.quota.limits
		}
		next, err := l.agree(o)
		switch {
		case err != nil:
			return err
		case e == nil && next.URLs == 0 && next.MaxTime == 0:
			return nil
		case e != nil && next.URLs == l.URLs && next.MaxTime == l.MaxTime:
			o.Limit, o.MaxTime = 0, 0
			return n.sinceBegun(ctx)
		}
		text, _ := json.Marshal(next) // numbers and times
		if e == nil {
			_, err = n.bucket.Create(ctx, keyLimits, text)
		} else {
			_, err = n.bucket.Update(ctx, keyLimits, text, e.Revision())
		}
		if err != nil && !errors.Is(err, jetstream.ErrKeyExists) { // another node was faster
			return n.refused(err)
		}
	}
}

// sinceBegun finds out how long the crawl has lasted, by the clocks of the servers.
func (n *node) sinceBegun(ctx context.Context) error {
	q := &n.end.quota
	plan, err := n.bucket.Get(ctx, keyPlan)
	if err != nil {
		return n.refused(err)
	}
	status, err := n.js.Stream(ctx, "KV_"+n.layout.bucket())
	if err != nil {
		return n.refused(err)
	}
	lasted := status.CachedInfo().TimeStamp.Sub(plan.Created())
	q.begun = now() - lasted
	if limit := q.stop(lasted); limit != "" {
		return &limitError{n.layout, limit}
	}
	return nil
}
