package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/engine"
)

// reader reads the links of the partitions that are open. When one opens, a new consumer replaces the running one.
// Owner: the node's goroutine.
type reader struct {
	opened bool          // a partition has opened since the consumer began
	began  time.Duration // when the consumer began
	stop   context.CancelFunc
	ended  chan struct{} // closed when the consumer's goroutine has ended
	room   room          // for what the engine was given and has not committed
}

// open starts or stops the reading of links to a partition. The running consumer may have left out some of its
// messages, so only the next one reads the partition.
func (n *node) open(p int, on bool) {
	n.reader.opened = n.reader.opened || on
	n.parts[p].open, n.parts[p].read = on, false
}

// follow makes the reader read the partitions that are open. Those that open within a quarter of a beat share one
// consumer.
func (r *reader) follow(n *node) {
	if !r.opened || now()-r.began < n.beat/4 {
		return
	}
	r.opened, r.began = false, now()
	var open []int
	for p := range n.parts {
		part := &n.parts[p]
		if part.read = part.open; part.open {
			open = append(open, p)
		}
	}
	before := r.ended
	if r.stop != nil {
		r.stop()
	}
	if len(open) == 0 {
		return
	}
	ctx, stop := context.WithCancel(n.ctx)
	ended := make(chan struct{})
	r.stop, r.ended = stop, ended
	n.ops.Go(func() {
		defer close(ended)
		if before != nil {
			<-before
		}
		n.readLinks(ctx, open)
	})
}

// readsAll: a node that owns this fraction of the partitions, 1/readsAll, or more reads the links of all. The servers
// compare what they store and purge with each subject of a consumer: with a third of 1,024 partitions for each of
// three nodes, that was three quarters of their CPU time.
const readsAll = 8

// linksOf returns subjects that cover the links to some partitions, and perhaps those to others.
func (n *node) linksOf(open []int) (subjects []string) {
	if len(open)*readsAll >= len(n.parts) {
		return []string{n.allLinks()}
	}
	for _, p := range open {
		subjects = append(subjects, n.links(p))
	}
	return subjects
}

// readLinks gives the engine the links of some partitions, until ctx ends.
func (n *node) readLinks(ctx context.Context, open []int) {
	reads := make([]bool, len(n.parts))
	for _, p := range open {
		reads[p] = true
	}
	subjects := n.linksOf(open)
	_ = n.outbox.retry(ctx, func(context.Context) error { // until ctx ends
		all, stop, err := n.consume(ctx, n.linkStream(), subjects, cap(n.reader.room)*roomUnit)
		if err != nil {
			return err
		}
		defer stop()
		for {
			msg, err := all.Next(jetstream.NextContext(ctx)) // a consumer that begins anew just then is not stopped
			if err != nil {
				return err
			}
			p := numberOf(msg.Subject())
			if p < 0 || p >= len(reads) || !reads[p] {
				continue
			}
			n.receive(ctx, p, msg)
		}
	})
}

// ack is a message of links that the engine was given.
type ack struct {
	seq    uint64
	posted uint64 // the message of the outbox with which it is safe
	done   bool   // posted is known
	since  time.Duration
}

// mostSafe and purgeAfter bound what is acknowledged at once: the messages of a partition, and the beats for which
// they wait for more. Each purge makes the servers recount what waits for each consumer, over all its subjects.
// Whoever takes a partition over is given again what was not purged, and already knows those URLs.
const (
	mostSafe   = 64
	purgeAfter = 5
)

// receive gives the engine a message of links. One that cannot be read has none, and is acknowledged like others: as
// long as it were there, the crawl would not be over.
func (n *node) receive(ctx context.Context, p int, msg jetstream.Msg) {
	at, err := msg.Metadata()
	if err != nil {
		return
	}
	seq := at.Sequence.Stream
	blocks, err := unpack(msg.Data())
	if err == nil {
		err = n.reached(ctx, number(msg.Headers().Get(headerOpened)))
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		n.setLinksAside(seq, err)
		blocks = nil
	}
	size := 0
	for _, b := range blocks {
		size += len(b)
	}
	if n.reader.room.take(ctx, size) != nil {
		return
	}
	n.mail.post(func() {
		release := func() { n.reader.room.give(size) }
		// A consumer that has ended may have left out a message before this one. The next begins with what this
		// one has not delivered.
		if ctx.Err() != nil {
			release()
			return
		}
		n.deliver(p, seq, blocks, release)
	})
}

// deliver gives the engine a message of links, unless it was given it before.
func (n *node) deliver(p int, seq uint64, blocks [][]byte, release func()) {
	part := &n.parts[p]
	if !part.read || seq <= part.taken {
		release()
		return
	}
	n.wake()
	part.taken = seq
	a := &ack{seq: seq, since: now()}
	part.acks = append(part.acks, a)
	left := new(atomic.Int64)
	left.Store(int64(len(blocks)))
	safe := func(posted uint64) {
		n.mail.post(func() {
			release()
			a.posted, a.done = posted, true
		})
	}
	if len(blocks) == 0 {
		safe(0)
	}
	for _, b := range blocks {
		err := n.crawl.Deliver(b, func(posted uint64, err error) {
			if left.Add(-1) == 0 && err == nil {
				safe(posted)
			}
		})
		if err != nil && !errors.Is(err, engine.ErrEnded) {
			n.setLinksAside(seq, err)
			if left.Add(-1) == 0 {
				safe(n.crawl.Posted()) // with what was readable of it
			}
		}
	}
}

// acknowledge purges messages of links whose URLs are in the logs: all of them, or only those that are due.
func (n *node) acknowledge(all bool) {
	for p := range n.parts {
		part := &n.parts[p]
		if len(part.acks) == 0 || part.purging {
			continue
		}
		safe := 0
		for safe < len(part.acks) && part.acks[safe].done && n.outbox.delivered(part.acks[safe].posted) {
			safe++
		}
		if safe > 0 && (all || safe >= mostSafe || now()-part.acks[0].since > purgeAfter*n.beat) {
			n.purge(p, part.acks[safe-1].seq)
		}
	}
}

// purge removes the messages of links to a partition up to one.
func (n *node) purge(p int, seq uint64) {
	part := &n.parts[p]
	part.purging = true
	n.ops.Go(func() {
		err := n.outbox.retry(n.ctx, func(ctx context.Context) error {
			return n.streams.links.Purge(ctx, jetstream.WithPurgeSubject(n.links(p)), jetstream.WithPurgeSequence(seq+1))
		})
		if err != nil {
			return // the node ends: who has the partition next gets them again
		}
		n.mail.post(func() {
			part.purging = false
			part.acks = slices.DeleteFunc(part.acks, func(a *ack) bool { return a.seq <= seq })
		})
	})
}

// gatherer has the engine take many new partitions at once.
type gatherer struct {
	mu      sync.Mutex
	running bool
	next    *gathered
}

type gathered struct {
	numbers []int
	ended   chan struct{}
	err     error
}

// join takes a partition over that nobody has had before, with others that come meanwhile.
func (g *gatherer) join(ctx context.Context, crawl *engine.Node, p int) error {
	g.mu.Lock()
	if g.next == nil {
		g.next = &gathered{ended: make(chan struct{})}
	}
	mine := g.next
	mine.numbers = append(mine.numbers, p)
	if g.running {
		g.mu.Unlock()
		<-mine.ended
		return mine.err
	}
	g.running = true
	for g.next != nil {
		one := g.next
		g.next = nil
		g.mu.Unlock()
		one.err = crawl.JoinNew(ctx, one.numbers...)
		close(one.ended)
		g.mu.Lock()
	}
	g.running = false
	g.mu.Unlock()
	return mine.err
}
