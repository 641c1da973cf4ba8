package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/internal/shard/sending"
)

// outbox publishes what the engine has for other nodes and for the logs.
//
// It publishes in phases: first what commits have found, then, once the servers have acknowledged
// all of it, what they have done. Package sending says what goes out together, and when.
//
// Owner: the goroutine of its loop.
type outbox struct {
	loop     *loop
	crawl    *engine.Node
	recorder *recorder
	links    *linkSender
	stream   jetstream.Stream // of links
	figures  *figures
	look     time.Duration // between two looks at the stream
	// grown is called on any goroutine when a log has got changes; delivered, when messages are.
	grown     func(p int, end *logEnd)
	delivered func()

	queue  *sending.Queue
	begun  bool      // see mayBegin
	wanted uint64    // the last message for which somebody waits
	sent   sentLinks // those that the stream has
	looked time.Time // at the stream

	done *revision // the ID of the last message that is delivered, and all before it
}

// mayBegin lets messages go out, unless it is not known yet who owns some partitions on the disk:
// what has ended in them would be taken for another's.
func (o *outbox) mayBegin(unknown int) {
	if unknown == 0 {
		o.loop.post(func() { o.begun = true })
	}
}

// committed says that the store has all messages up to last, and when the first change in them was
// made.
func (o *outbox) committed(last uint64, since time.Time) {
	o.figures.lag.committed(last, time.Now())
	o.loop.post(func() { o.queue.Committed(last, since) })
}

// wait waits until a message and all before it are delivered. It makes them go out without waiting
// for more.
func (o *outbox) wait(ctx context.Context, id uint64) error {
	o.loop.post(func() { o.wanted = max(o.wanted, id) })
	return o.done.wait(ctx, id)
}

// has reports whether a message and all before it are delivered.
func (o *outbox) has(id uint64) bool { return o.done.now() >= id }

// outboxBytes bounds the part of the outbox that is read at once.
const outboxBytes = 4 << 20

// run publishes until ctx ends.
func (o *outbox) run(ctx context.Context) error {
	for after, wait := uint64(0), forever; o.loop.turn(wait); {
		if !o.begun {
			continue
		}
		var err error
		switch after, err = o.fill(after); {
		case errors.Is(err, store.ErrClosed):
			return nil
		case err != nil:
			return err
		}
		var phase []store.Message
		if phase, wait = o.queue.Next(time.Now(), o.wanted); phase == nil {
			if wait == 0 {
				wait = forever
			}
			continue
		}
		switch err := o.publish(ctx, phase); {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		o.deliver(o.queue.Sent(time.Now()))
	}
	return nil
}

// fill adds what the outbox has after a message to the queue, and returns its last message.
func (o *outbox) fill(after uint64) (uint64, error) {
	for !o.queue.Full() {
		all, err := o.crawl.Outbox(after, outboxBytes)
		if err != nil {
			return after, err
		}
		if len(all) == 0 {
			break
		}
		o.queue.Add(all...)
		after = all[len(all)-1].ID
	}
	return after, nil
}

// deliver takes in that the servers have these messages and all before them.
func (o *outbox) deliver(all []store.Message) {
	if len(all) == 0 {
		return
	}
	gone, stay, as := o.sent.split(all)
	_ = o.crawl.Delivered(gone, stay, as) // a crawl that is over sends them again
	o.forgetSent()
	last := all[len(all)-1].ID
	o.figures.lag.acknowledged(last, time.Now())
	o.done.reach(last)
	o.delivered()
}

// forgetSent removes from the disk what receivers have, by a look at the stream once a beat.
func (o *outbox) forgetSent() {
	if ids := o.sent.forget(); len(ids) > 0 {
		_ = o.crawl.Forget(ids...) // a crawl that is over sends them again
	}
	if len(o.sent.all) == 0 || time.Since(o.looked) < o.look {
		return
	}
	o.looked = time.Now()
	o.loop.begin(func(ctx context.Context) (then func()) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		info, err := o.stream.Info(ctx)
		return func() {
			if err == nil { // else the next look will do
				o.sent.first = info.State.FirstSeq
			}
		}
	})
}

// atOnce bounds the messages that are published at once. The servers agree on many as they do on
// one.
const atOnce = 1024

// publish delivers the messages of a phase, in any order but that of each partition's log.
func (o *outbox) publish(ctx context.Context, phase []store.Message) error {
	logs, links := make(map[int][]store.Message), make(map[int][][]byte)
	for _, m := range phase {
		switch m.Kind {
		case changelog.Widened:
			if err := o.links.widen(ctx, m.Data); err != nil {
				return err
			}
		case changelog.Links:
			links[m.Partition] = append(links[m.Partition], m.Data)
		default:
			logs[m.Partition] = append(logs[m.Partition], m)
		}
	}
	var all []func() (sent, error)
	for p, blocks := range links {
		all = append(all, func() (sent, error) {
			last, err := o.links.send(ctx, p, blocks)
			return sent{last: last}, err
		})
	}
	for p, messages := range logs {
		all = append(all, func() (sent, error) { return o.record(ctx, p, messages) })
	}
	results, err := together(atOnce, all)
	for _, s := range results {
		o.sent.add(s)
	}
	return err
}

// record appends changes to the log of a partition. If the partition was lost since they were made,
// it sends the URLs among them to the owner as links; that may be this node again.
func (o *outbox) record(ctx context.Context, p int, all []store.Message) (sent, error) {
	lost, end, err := o.recorder.append(ctx, p, all)
	if err != nil {
		return sent{}, err
	}
	if end != nil {
		o.grown(p, end)
	}
	return o.links.found(ctx, p, lost)
}
