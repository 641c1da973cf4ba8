package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// takeover is the work of the operations of partitions: it brings partitions from their logs to the
// engine, takes them from it, and writes snapshots. It owns nothing; a partition has one operation
// at a time, which knows where the partition is.
type takeover struct {
	remote   *remote
	crawl    *engine.Node
	recorder *recorder
	outbox   *outbox
	reader   *logReader
	news     *batches[*newcomer] // partitions that nobody has had before
	restored *restores
}

// place is the location of a partition in this node.
type place struct {
	engine bool // the engine has it
	disk   bool // the disk has an earlier state of it, from before another node had it
}

// newcomer is a partition that nobody has had before, on its way to the engine.
type newcomer struct {
	partition int
	joined    *promise[error]
}

// newcomers has the engine take many new partitions at once.
func newcomers(ops *operations, crawl *engine.Node) *batches[*newcomer] {
	return &batches[*newcomer]{ops: ops, most: math.MaxInt, handle: func(ctx context.Context, some []*newcomer) {
		numbers := make([]int, len(some))
		for i, c := range some {
			numbers[i] = c.partition
		}
		err := crawl.JoinNew(ctx, numbers...)
		for _, c := range some {
			c.joined.keep(err)
		}
	}}
}

// restore makes a partition this node's: first its log refuses all others, then the engine gets
// what the log has. A disk that has the state of the epoch before is used as it is.
func (t *takeover) restore(ctx context.Context, at *place, o ownership.Order) error {
	p := o.Partition
	if at.engine && o.Before == o.Epoch { // it was kept
		return t.crawl.Release(ctx, p)
	}
	before, end, err := last{bare: true}, &logEnd{epoch: o.Epoch}, error(nil)
	if o.Before > 0 { // else there is no earlier owner to be refused
		before, end, err = t.recorder.begin(ctx, p, o.Epoch)
	}
	if err != nil {
		return err
	}
	switch {
	case at.engine && o.Mine && (before.epoch == o.Before || before.seq == 0):
		if err := t.crawl.Mark(ctx, p, o.Epoch); err != nil {
			return err
		}
		t.recorder.permit(p, end)
		return t.crawl.Release(ctx, p)
	case at.engine, at.disk:
		if err := t.forget(ctx, at, p); err != nil {
			return err
		}
	}
	if err := t.crawl.Mark(ctx, p, o.Epoch); err != nil {
		return err
	}
	at.disk = true
	to := end.since(t.crawl.Posted())
	// The log takes changes before the engine has the partition: what the engine finds must not be
	// taken for another's, sent as links, and found to be known here when it arrives. No log would
	// have it.
	t.recorder.permit(p, end)
	if before.bare {
		err = t.joinNew(ctx, p)
	} else {
		err = t.join(ctx, p, before.whole, to)
	}
	if err != nil {
		t.recorder.revoke(p)
		return err
	}
	*at = place{engine: true}
	return nil
}

// joinNew has the engine take over a partition that nobody has had before.
func (t *takeover) joinNew(ctx context.Context, p int) error {
	c := &newcomer{p, newPromise[error]()}
	t.news.add(c)
	err, late := c.joined.wait(ctx)
	return errors.Join(err, late)
}

// join has the engine take over a partition whose log has something, when the log is read.
func (t *takeover) join(ctx context.Context, p int, snapshot, to uint64) (err error) {
	urls, end := 0, t.restored.begin()
	defer func() { end(urls, err) }()
	log, err := t.reader.read(ctx, p, snapshot, to)
	if err != nil {
		return err
	}
	defer log.leave()
	urls, err = t.crawl.Join(ctx, p, log.blocks(ctx))
	return err
}

// leave takes a partition from the engine, when what is known of it is in its log.
func (t *takeover) leave(ctx, node context.Context, at *place, p int) error {
	posted, err := t.crawl.Leave(ctx, p)
	if err != nil {
		return err
	}
	*at = place{disk: true}
	return t.outbox.wait(node, posted)
}

// giveUp takes a partition from the engine that another node owns.
func (t *takeover) giveUp(ctx context.Context, at *place, p int) error {
	t.recorder.revoke(p)
	return t.remove(ctx, at, p)
}

func (t *takeover) remove(ctx context.Context, at *place, p int) error {
	if !at.engine {
		return nil
	}
	_, err := t.crawl.Leave(ctx, p)
	if err == nil {
		*at = place{disk: true}
	}
	return err
}

// forget takes a partition from the engine and from the disk.
func (t *takeover) forget(ctx context.Context, at *place, p int) error {
	if err := t.remove(ctx, at, p); err != nil {
		return err
	}
	if err := t.crawl.Drop(ctx, p); err != nil {
		return err
	}
	at.disk = false
	return nil
}

// snapshot appends a snapshot to a log, which takes the place of all up to a message. It returns a
// warning.
func (t *takeover) snapshot(ctx context.Context, at place, p int, end *logEnd, from uint64) error {
	size, err := 0, error(nil)
	made := at.engine && t.recorder.end(p) == end
	if made {
		size, err = t.export(ctx, p, end, from)
	}
	end.snapshotMade(size, made && err == nil)
	if made && err == nil {
		err = t.recorder.log.Purge(ctx, jetstream.WithPurgeSubject(t.remote.name.log(p)), jetstream.WithPurgeSequence(from+1))
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, errLost) && !errors.Is(err, engine.ErrEnded) {
		return fmt.Errorf("snapshot of partition %d: %w", p, err)
	}
	return nil
}

// export appends a snapshot in pieces, and its end. It returns how many bytes the pieces have.
func (t *takeover) export(ctx context.Context, p int, end *logEnd, from uint64) (size int, err error) {
	h := nats.Header{headerKind: {kindSnapshot}, headerSnapshot: {strconv.FormatUint(from, 10)}}
	err = t.crawl.Export(ctx, p, func(block []byte) error {
		data := pack([][]byte{block})
		size += len(data)
		return t.recorder.add(ctx, p, end, h, data)
	})
	if err != nil {
		return 0, err
	}
	// The disk, and so the snapshot, may say of a page that it is done before others have its
	// links.
	if err := t.outbox.done.wait(ctx, t.crawl.Posted()); err != nil { // in its own time
		return 0, err
	}
	h.Set(headerKind, kindEnd)
	return size, t.recorder.add(ctx, p, end, h, pack(nil))
}
