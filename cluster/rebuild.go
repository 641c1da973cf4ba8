package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nuid"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// rebuilding writes what the servers have lost, into streams that are marked until all is there.
type rebuilding struct {
	remote   *remote
	id       string // of a node that has no folder
	streams  streams
	requests *requests
	logs     *recorder
	links    *linkSender
}

// rebuild makes the lost streams, and puts into them what the folders have. It ends if one of them
// is deleted meanwhile, as another that restores the crawl does.
func rebuild(ctx context.Context, at *remote, p Plan, lost []string, all []*remains, logs []truth) (err error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &rebuilding{remote: at, id: restorer + nuid.Next()}
	for _, name := range lost {
		if err := r.makeHalf(ctx, name); err != nil {
			return err
		}
	}
	if r.streams, err = at.open(ctx); err != nil {
		return err
	}
	w := newWarnings(at.servers.warn)
	r.requests = &requests{remote: at, warnings: w, ctx: ctx, made: r.streams.made, fail: stop}
	r.links = &linkSender{remote: at, bucket: r.streams.bucket, requests: r.requests, widened: newRevision()}
	r.logs = newRecorder(at, &r.streams, r.requests, aside{at.name, w}, new(figures), processOf(r.id, 1), r.links.widened)
	if err := r.fill(ctx, p, lost, all, logs); err != nil {
		return err
	}
	for _, name := range lost {
		if err := r.makeWhole(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// fill puts into the streams what the folders have. The plan comes last.
func (r *rebuilding) fill(ctx context.Context, p Plan, lost []string, all []*remains, logs []truth) error {
	noBucket := slices.Contains(lost, r.remote.name.bucketStream())
	if noBucket {
		if err := r.fillBucket(ctx, p.Partitions, all); err != nil {
			return err
		}
	}
	for _, f := range all {
		if err := r.sendFinds(ctx, f); err != nil {
			return fmt.Errorf("%s: %w", f.dir, err)
		}
	}
	for p, t := range logs {
		if err := r.fillLog(ctx, p, t); err != nil {
			return err
		}
	}
	if !noBucket {
		return nil
	}
	return r.write(ctx, keyPlan, p.text)
}

// makeHalf makes a stream that is marked until makeWhole. What an earlier attempt has put into one
// is deleted; a bucket is emptied by fillBucket.
func (r *rebuilding) makeHalf(ctx context.Context, name string) (err error) {
	if name == r.remote.name.bucketStream() {
		_, err = r.remote.makeBucket(ctx, half)
		return err
	}
	if err := r.remote.remove(ctx, name); err != nil {
		return err
	}
	_, err = r.remote.makeStream(ctx, name, half)
	return err
}

func (r *rebuilding) makeWhole(ctx context.Context, name string) (err error) {
	if name == r.remote.name.bucketStream() {
		_, err = r.remote.makeBucket(ctx, nil)
	} else {
		_, err = r.remote.makeStream(ctx, name, nil)
	}
	return err
}

// fillBucket writes a bucket in which no partition has an owner. Its revisions begin beyond those
// of the lost one, which logs and links may name.
func (r *rebuilding) fillBucket(ctx context.Context, partitions int, all []*remains) error {
	s, err := r.remote.stream(ctx, r.remote.name.bucketStream())
	if err != nil {
		return err
	}
	if err := s.Purge(ctx, jetstream.WithPurgeSequence(uint64(time.Now().UnixMilli()))); err != nil {
		return r.remote.servers.refused(err)
	}
	for _, f := range all {
		for u, err := range f.job.Scope() {
			if err == nil {
				err = r.links.widen(ctx, []byte(u.String()))
			}
			if err != nil {
				return err
			}
		}
		for network, err := range f.job.SavedNetworks() {
			if err == nil {
				err = r.links.widen(ctx, []byte(network.String()))
			}
			if err != nil {
				return err
			}
		}
	}
	for _, w := range ownership.Vacated(r.id, partitions) {
		if err := r.write(ctx, w.Key, w.Value); err != nil {
			return err
		}
	}
	return nil
}

// write writes a key.
func (r *rebuilding) write(ctx context.Context, key string, value []byte) error {
	return r.requests.retry(ctx, func(ctx context.Context) error {
		_, err := r.streams.bucket.Put(ctx, key, value)
		return err
	})
}

// sendFinds sends the links that a node could not send, or that may not have reached their
// receiver. Whoever owns the partition of a URL now need not know it.
func (r *rebuilding) sendFinds(ctx context.Context, f *remains) error {
	for after := uint64(0); ; {
		some, err := f.job.Store.Outbox(after, outboxBytes)
		if err != nil || len(some) == 0 {
			return err
		}
		after = some[len(some)-1].ID
		for _, m := range some {
			switch m.Kind {
			case changelog.Widened:
				err = r.links.widen(ctx, m.Data)
			case changelog.Links:
				_, err = r.links.send(ctx, m.Partition, [][]byte{m.Data})
			case changelog.Found:
				_, err = r.links.found(ctx, m.Partition, []store.Message{m})
			}
			if err != nil {
				return err
			}
		}
	}
}

// fillLog writes the log of a partition under the epoch of its state. So a node continues with its
// own folder only if the folder has this epoch.
func (r *rebuilding) fillLog(ctx context.Context, p int, t truth) error {
	if t.from == nil {
		return nil
	}
	end := &logEnd{epoch: t.epoch}
	err := engine.Export(t.from.job, p, func(block []byte) error {
		return r.logs.add(ctx, p, end, nats.Header{}, pack([][]byte{block}))
	})
	if err != nil {
		return fmt.Errorf("%s: %w", t.from.dir, err)
	}
	return nil
}
