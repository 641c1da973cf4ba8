package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/engine"
)

// quota is this node's part of the limits of a crawl.
//
// Owner: the node's loop.
type quota struct {
	loop    *loop
	crawl   *engine.Node
	lease   *nodeLease
	bucket  jetstream.KeyValue
	process string // in the limits

	limits   limits        // as the bucket shows them
	revision uint64        // of these; 0: there are none
	mine     allowance     // as the engine has it
	short    bool          // the engine wants more
	fresh    bool          // and has wanted none before
	unused   bool          // the engine has no use for what it has
	leaves   bool          // the node is to leave, once it has given that back
	left     bool          // and has
	busy     bool          // the key is being written
	unsaid   bool          // it has not been, and may show more than mine
	atLimit  bool          // the limit is reached, as the engine knows it
	late     bool          // MaxTime is over
	begun    time.Duration // when the crawl began, on this node's clock
}

// see takes in a revision of the limits. If it cannot be read, those before it hold, and replace it
// with the next write.
func (q *quota) see(revision uint64, text []byte) error {
	if revision <= q.revision {
		return nil
	}
	q.revision = revision
	var l limits
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	q.limits = l
	return nil
}

// keep takes more of the limits for the engine, gives back what it has no use for, and stops the
// crawl at one. What could not be had is asked for again now and then.
func (q *quota) keep(again bool) {
	if q.limits.MaxTime > 0 && !q.late && now() >= q.begun+q.limits.MaxTime {
		q.late = true
		_ = q.crawl.Stop("max-time") // it may have ended
	}
	if over := q.limits.reached(); over != q.atLimit {
		q.atLimit = over
		_ = q.crawl.LimitReached(over)
	}
	if due, more := q.due(again); due && q.lease.own.Until() > 0 {
		// Others take the allowance of one who has not joined for lost.
		q.account(more)
	}
	if q.leaves && !q.left && !q.busy && !q.has() {
		q.left = true
		q.lease.own.Leave()
	}
}

// due says whether the key is to be written, and whether the engine needs more. What has failed
// waits for the next tick.
func (q *quota) due(again bool) (due, more bool) {
	switch {
	case q.limits.URLs == 0 || q.busy || !again && (q.unsaid || !q.fresh && !q.leaves):
		return false, false
	case q.has() && (q.leaves || q.unused):
		return true, false
	}
	return q.short && !q.leaves, true
}

// has reports whether there is something to give back.
func (q *quota) has() bool { return q.unsaid || q.mine.Taken > q.mine.Begun }

// wrote takes in what became of an account.
func (q *quota) wrote(mine allowance, err error) { q.mine, q.busy, q.unsaid = mine, false, err != nil }

// want takes in that the engine wants more.
func (q *quota) want() {
	q.fresh = q.fresh || !q.short
	q.short = true
}

// leave has the node leave, once it has given back what it has.
func (q *quota) leave() { q.leaves = true }

// account writes how much of its allowance the node has begun, and takes more or gives the rest
// back.
//
// The engine never begins more than the bucket allows, even if a write fails: it learns of a
// smaller allowance before the write, and of a larger one only after the write has succeeded.
func (q *quota) account(more bool) {
	q.busy, q.fresh = true, false
	from, revision, mine, runs := q.limits, q.revision, q.mine, q.lease.running()
	q.loop.begin(func(ctx context.Context) (then func()) {
		allowed := mine.Taken
		if !more {
			allowed = 0
		}
		begun, err := q.crawl.Allow(ctx, allowed)
		if err != nil {
			return func() { q.wrote(mine, err) }
		}
		mine = allowance{max(allowed, begun), begun}
		next, taken := from.with(q.process, mine, more, runs)
		if !maps.Equal(next.Allowed, from.Allowed) {
			revision, err = q.write(ctx, next, revision)
		}
		if err != nil {
			return func() { q.wrote(mine, err) }
		}
		grown := taken.Taken > mine.Taken
		q.loop.post(func() { q.accounted(next, revision, grown) })
		if grown { // the engine says so if that is not enough, either
			_, _ = q.crawl.Allow(ctx, taken.Taken) // a crawl that is over begins nothing
		}
		return func() { q.wrote(taken, nil) }
	})
}

// accounted takes in that the bucket has the limits, and whether there was more for the engine.
func (q *quota) accounted(l limits, revision uint64, more bool) {
	if revision > q.revision {
		q.limits, q.revision = l, revision
	}
	q.short = q.short && !more
}

// write replaces a revision of the limits. It is an operation.
func (q *quota) write(ctx context.Context, l limits, revision uint64) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	text, err := json.Marshal(l)
	if err != nil {
		return 0, err
	}
	return q.bucket.Update(ctx, keyLimits, text, revision)
}

// join takes the limits of a crawl that began with some, in place of those of a node, which may
// raise them. It returns ErrLimit if one is reached.
func (q *quota) join(ctx context.Context, r *remote, first limits, o *weft.Options, a aside) error {
	for {
		e, err := q.bucket.Get(ctx, keyLimits)
		var l limits
		switch {
		case errors.Is(err, jetstream.ErrKeyNotFound):
			l = first
		case err != nil:
			return r.servers.refused(err)
		default:
			q.limits = first
			if err := q.see(e.Revision(), e.Value()); err != nil {
				a.key(keyLimits, err)
			}
			l = q.limits
		}
		next, err := l.agree(o)
		switch {
		case err != nil:
			return err
		case e == nil && next.URLs == 0 && next.MaxTime == 0:
			return nil
		case e != nil && next.URLs == l.URLs && next.MaxTime == l.MaxTime:
			o.Limits.Limit, o.Limits.MaxTime = 0, 0
			return q.sinceBegun(ctx, r)
		}
		text, _ := json.Marshal(next) // numbers and times
		if e == nil {
			_, err = q.bucket.Create(ctx, keyLimits, text)
		} else {
			_, err = q.bucket.Update(ctx, keyLimits, text, e.Revision())
		}
		if err != nil && !errors.Is(err, jetstream.ErrKeyExists) { // another node was faster
			return r.servers.refused(err)
		}
	}
}

// sinceBegun finds out how long the crawl has lasted, by the clocks of the servers.
func (q *quota) sinceBegun(ctx context.Context, r *remote) error {
	plan, err := q.bucket.Get(ctx, keyPlan)
	if err != nil {
		return r.servers.refused(err)
	}
	status, err := r.stream(ctx, r.name.bucketStream())
	if err != nil {
		return err
	}
	lasted := status.CachedInfo().TimeStamp.Sub(plan.Created())
	q.begun = now() - lasted
	if limit := q.limits.stop(lasted); limit != "" {
		return &limitError{r.name, limit}
	}
	return nil
}
