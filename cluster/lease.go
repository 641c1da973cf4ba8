package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// PausedLease is the reason of a pause of a node that could not renew its lease.
const PausedLease = "its lease is not renewed, and other nodes may take its hosts"

// errCutOff ends a node whose lease was not renewed for so long that what it has in flight may soon
// be another's to fetch.
var errCutOff = errors.New("this node was cut off from the servers for too long")

// errLate is the reason of a pause before any request has failed.
var errLate = errors.New("the servers have not answered yet")

// nodeLease is this process's right to its partitions: its beat, and the keys of their owners.
// Package ownership says what to write.
//
// Owner: the node's loop.
type nodeLease struct {
	own      *ownership.Node
	loop     *loop
	remote   *remote
	bucket   jetstream.KeyValue
	crawl    *engine.Node
	requests *requests

	paused time.Duration // since when it is not renewed; 0: it is
	why    error         // the last beat could not be written; nil: nothing is known of it yet
}

// see takes in a key.
func (l *nodeLease) see(e jetstream.KeyValueEntry, value []byte) error {
	return l.own.See(now(), ownership.Entry{Key: e.Key(), Value: value, Revision: e.Revision()})
}

// renew writes what is due, and returns what the node has to do.
func (l *nodeLease) renew() []ownership.Order {
	writes, orders := l.own.Tick(now())
	for _, w := range writes {
		l.loop.begin(func(ctx context.Context) (then func()) { return l.write(ctx, w) })
	}
	return orders
}

// write writes a key, if it is as package ownership expects it. It is an operation.
func (l *nodeLease) write(ctx context.Context, w ownership.Write) (then func()) {
	revision, err := l.put(ctx, w)
	if err != nil {
		l.requests.verify()
	}
	return func() {
		conflict := errors.Is(err, jetstream.ErrKeyExists)
		if err == nil {
			err = l.own.Wrote(now(), w, revision)
			conflict = err != nil
		}
		if err == nil {
			return
		}
		l.why = l.remote.servers.refused(err)
		failed := func() { l.own.Failed(now(), w) } // which may write it again
		if conflict {
			failed()
		} else { // servers without room refuse at once, and as often as they are asked
			l.loop.after(l.remote.beat/4, failed)
		}
	}
}

func (l *nodeLease) put(ctx context.Context, w ownership.Write) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	if w.Expected == 0 {
		return l.bucket.Create(ctx, w.Key, w.Value)
	}
	return l.bucket.Update(ctx, w.Key, w.Value, w.Expected)
}

// pause has the engine start no fetch until resume.
func (l *nodeLease) pause() {
	l.paused = now()
	l.setPaused(true)
	l.loop.ops.run(func(context.Context) { l.requests.verify() })
	l.remote.servers.warn(fmt.Errorf("no fetch starts until this node's lease is renewed: %w", cmp.Or(l.why, errLate)))
}

func (l *nodeLease) resume() {
	l.paused, l.why = 0, nil
	l.setPaused(false)
	l.remote.servers.warn(errors.New("the lease is renewed: the crawl goes on"))
}

func (l *nodeLease) setPaused(on bool) {
	// A crawl that is over fetches nothing.
	_ = l.crawl.Crawl().WhenReady(func(c *engine.Coordinator) { c.Pause(PausedLease, on) })
}

// cutOff reports whether the node has paused for so long that it has to end.
func (l *nodeLease) cutOff() bool { return l.paused > 0 && now()-l.paused > l.remote.beat }

// running are the processes that have not ended, as the limits name them.
func (l *nodeLease) running() map[string]bool {
	all := make(map[string]bool)
	for id, b := range l.own.Nodes() {
		if b.Running() {
			all[processOf(id, b.Incarnation)] = true
		}
	}
	return all
}
