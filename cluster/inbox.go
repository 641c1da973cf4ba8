package cluster

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/engine"
)

// inbox gives the engine the links to partitions that the node has started, and acknowledges them
// once their URLs are in a log. When it reads another partition, a new consumer replaces the
// running one.
//
// Owner: the node's loop.
type inbox struct {
	all     []inflow           // by partition
	more    bool               // a partition was added since the consumer began
	began   time.Duration      // when the consumer began
	stop    context.CancelFunc // stops it; nil: there is none
	stopped *promise[bool]     // the consumer's operation has ended; nil: there was none

	remote   *remote
	stream   jetstream.Stream
	loop     *loop
	crawl    *engine.Node
	outbox   *outbox
	watch    *watch
	requests *requests
	aside    aside
	room     room   // for what the engine was given and has not committed
	busy     func() // is called when links come
}

// inflow is the links to a partition, as the node reads them.
type inflow struct {
	wanted  bool   // they are to be read
	read    bool   // by the consumer that runs
	taken   uint64 // the last message that the engine was given
	acks    []*ack // messages that the engine was given and the servers still have
	purging bool
}

// ack is a message of links that the engine was given.
type ack struct {
	seq    uint64
	posted uint64 // the message of the outbox with which it is safe
	done   bool   // posted is known
	since  time.Duration
}

// read begins to read the links to a partition. The running consumer may have left out some of its
// messages, so only the next one reads it.
func (i *inbox) read(p int) {
	i.more = true
	i.all[p].wanted, i.all[p].read = true, false
}

// leave ends the reading of the links to a partition.
func (i *inbox) leave(p int) { i.all[p].wanted, i.all[p].read = false, false }

// reads reports whether the links to a partition are read.
func (i *inbox) reads(p int) bool { return i.all[p].wanted }

// forget forgets which links to a partition the engine was given: another node owns it.
func (i *inbox) forget(p int) { i.all[p].taken, i.all[p].acks = 0, nil }

// empty reports whether the servers have no links that the engine was given.
func (i *inbox) empty() bool {
	return !slices.ContainsFunc(i.all, func(f inflow) bool { return len(f.acks) > 0 || f.purging })
}

// follow reads the partitions that were added. Those that come within a quarter of a beat share one
// consumer.
func (i *inbox) follow() {
	if !i.more || now()-i.began < i.remote.beat/4 {
		return
	}
	i.more, i.began = false, now()
	var partitions []int
	for p := range i.all {
		f := &i.all[p]
		if f.read = f.wanted; f.read {
			partitions = append(partitions, p)
		}
	}
	before := i.stopped
	if i.stop != nil {
		i.stop()
	}
	if len(partitions) == 0 {
		return
	}
	reads, stop := context.WithCancel(i.loop.ops.ctx)
	stopped := newPromise[bool]()
	i.stop, i.stopped = stop, stopped
	i.loop.ops.run(func(ctx context.Context) {
		defer stopped.keep(true)
		if before != nil {
			_, _ = before.wait(context.WithoutCancel(ctx)) // it has been stopped
		}
		i.consume(reads, partitions)
	})
}

// readsAll: a node that owns this fraction of the partitions, 1/readsAll, or more reads the links
// of all. The servers compare what they store and purge with each subject of a consumer: with a
// third of 1,024 partitions for each of three nodes, that was three quarters of their CPU time.
const readsAll = 8

// subjects returns subjects that cover the links to some partitions, and perhaps those to others.
func (i *inbox) subjects(partitions []int) (subjects []string) {
	if len(partitions)*readsAll >= len(i.all) {
		return []string{i.remote.name.allLinks()}
	}
	for _, p := range partitions {
		subjects = append(subjects, i.remote.name.links(p))
	}
	return subjects
}

// consume gives the engine the links to some partitions, until ctx ends. It is an operation.
func (i *inbox) consume(ctx context.Context, partitions []int) {
	reads := make([]bool, len(i.all))
	for _, p := range partitions {
		reads[p] = true
	}
	subjects := i.subjects(partitions)
	_ = i.requests.retry(ctx, func(context.Context) error { // until ctx ends
		all, stop, err := i.remote.servers.consume(ctx, i.remote.name.linkStream(), subjects, i.room.bytes())
		if err != nil {
			return err
		}
		defer stop()
		for {
			// A consumer that begins anew just then is not stopped.
			msg, err := all.Next(jetstream.NextContext(ctx))
			if err != nil {
				return err
			}
			p := numberOf(msg.Subject())
			if p < 0 || p >= len(reads) || !reads[p] {
				continue
			}
			i.receive(ctx, p, msg)
		}
	})
}

// receive gives the engine a message of links. One that cannot be read has none, and is
// acknowledged like others: as long as it were there, the crawl would not be over. It is part of an
// operation.
func (i *inbox) receive(ctx context.Context, p int, msg jetstream.Msg) {
	at, err := msg.Metadata()
	if err != nil {
		return
	}
	seq := at.Sequence.Stream
	blocks, err := unpack(msg.Data())
	if err == nil {
		err = i.watch.reached(ctx, number(msg.Headers().Get(headerWidened)))
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		i.aside.links(seq, err)
		blocks = nil
	}
	size := 0
	for _, b := range blocks {
		size += len(b)
	}
	if i.room.take(ctx, size) != nil {
		return
	}
	i.loop.post(func() {
		release := func() { i.room.give(size) }
		// A consumer that has ended may have left out a message before this one. The next begins
		// with what this one has not delivered.
		if ctx.Err() != nil {
			release()
			return
		}
		i.deliver(p, seq, blocks, release)
	})
}

// deliver gives the engine a message of links, unless it was given it before.
func (i *inbox) deliver(p int, seq uint64, blocks [][]byte, release func()) {
	f := &i.all[p]
	if !f.read || seq <= f.taken {
		release()
		return
	}
	i.busy()
	f.taken = seq
	a := &ack{seq: seq, since: now()}
	f.acks = append(f.acks, a)
	missing := newCountdown(len(blocks))
	safe := func(posted uint64) {
		i.loop.post(func() {
			release()
			a.posted, a.done = posted, true
		})
	}
	if len(blocks) == 0 {
		safe(0)
	}
	for _, b := range blocks {
		err := i.crawl.Deliver(b, func(posted uint64, err error) {
			if missing.last() && err == nil {
				safe(posted)
			}
		})
		if err != nil && !errors.Is(err, engine.ErrEnded) {
			i.aside.links(seq, err)
			if missing.last() {
				safe(i.crawl.Posted()) // with what was readable of it
			}
		}
	}
}

// mostSafe and purgeAfter bound what is acknowledged at once: the messages of a partition, and the
// beats for which they wait for more. Each purge makes the servers recount what waits for each
// consumer, over all its subjects. Whoever takes a partition over is given again what was not
// purged, and already knows those URLs.
const (
	mostSafe   = 64
	purgeAfter = 5
)

// acknowledge purges messages of links whose URLs are in the logs: all of them, or only those that
// are due.
func (i *inbox) acknowledge(all bool) {
	for p := range i.all {
		f := &i.all[p]
		if len(f.acks) == 0 || f.purging {
			continue
		}
		safe := 0
		for safe < len(f.acks) && f.acks[safe].done && i.outbox.has(f.acks[safe].posted) {
			safe++
		}
		if safe > 0 && (all || safe >= mostSafe || now()-f.acks[0].since > purgeAfter*i.remote.beat) {
			i.purge(p, f.acks[safe-1].seq)
		}
	}
}

// purge removes the messages of links to a partition up to one.
func (i *inbox) purge(p int, seq uint64) {
	f := &i.all[p]
	f.purging = true
	i.loop.begin(func(ctx context.Context) (then func()) {
		err := i.requests.retry(ctx, func(ctx context.Context) error {
			return i.stream.Purge(ctx, jetstream.WithPurgeSubject(i.remote.name.links(p)), jetstream.WithPurgeSequence(seq+1))
		})
		return func() {
			if err != nil {
				return // the node ends: who has the partition next gets them again
			}
			f.purging = false
			f.acks = slices.DeleteFunc(f.acks, func(a *ack) bool { return a.seq <= seq })
		}
	})
}
