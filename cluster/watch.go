package cluster

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// watch has a loop see the keys of the bucket, as they change.
type watch struct {
	remote   *remote
	bucket   jetstream.KeyValue
	loop     *loop
	requests *requests
	see      func(jetstream.KeyValueEntry) // by the loop, of each key
	shown    func()                        // by the loop, when it has seen all that there was
	seen     *revision                     // up to which the loop has seen keys

	keys jetstream.KeyWatcher // the current one. Owner: the loop
}

// begin begins to watch. A watch may end while the servers choose who answers for the bucket: then
// another one follows.
func (w *watch) begin() error {
	first, err := w.bucket.WatchAll(w.loop.ops.ctx)
	if err != nil {
		return w.remote.servers.refused(err)
	}
	w.loop.ops.run(func(ctx context.Context) {
		for keys := first; ; {
			current := keys
			w.loop.post(func() { w.keys = current })
			if !w.follow(ctx, keys.Updates()) {
				endWatch(keys)
				return
			}
			err := w.requests.retry(ctx, func(context.Context) (err error) {
				keys, err = w.bucket.WatchAll(ctx)
				return err
			})
			if err != nil { // the node has ended
				return
			}
		}
	})
	return nil
}

// follow passes keys on, together with those that are there already. It returns when the watch has
// ended, or with false when ctx has.
func (w *watch) follow(ctx context.Context, updates <-chan jetstream.KeyValueEntry) bool {
	for {
		var some []jetstream.KeyValueEntry
		var more bool
		select {
		case e, ok := <-updates:
			some, more = append(some, e), ok
		case <-ctx.Done():
			return false
		}
		for there := more; there && more; {
			select {
			case e, ok := <-updates:
				some, more = append(some, e), ok
			default:
				there = false
			}
		}
		if !more {
			some = some[:len(some)-1]
		}
		// What comes faster than the loop takes it waits in the client, which has a bound.
		if _, err := ask(ctx, w.loop, func() struct{} { w.take(some); return struct{}{} }); err != nil {
			return false
		}
		if !more {
			return true
		}
	}
}

// take has the loop see keys.
func (w *watch) take(some []jetstream.KeyValueEntry) {
	for _, e := range some {
		if e == nil { // all that there was
			w.shown()
			continue
		}
		w.see(e)
		w.seen.reach(e.Revision())
	}
}

// reached waits until the loop has seen a revision. A bucket that has not come so far when the
// servers are asked is older than whoever names the revision: restored from a copy, say.
func (w *watch) reached(ctx context.Context, revision uint64) error {
	for w.seen.now() < revision {
		soon, cancel := context.WithTimeout(ctx, w.remote.beat)
		err := w.seen.wait(soon, revision)
		cancel()
		if err == nil || ctx.Err() != nil {
			return err
		}
		if at, err := w.bucket.Put(ctx, keyProbe, nil); err == nil && at < revision {
			return fmt.Errorf("it names revision %d of bucket %s, which has %d", revision, w.remote.name.bucket(), at)
		}
	}
	return nil
}
