package cluster

import (
	"context"
	"errors"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/shard/ending"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// endOfCrawl finds out whether this node is idle, and whether the crawl is over.
//
// Owner: the node's loop.
type endOfCrawl struct {
	loop     *loop
	remote   *remote
	streams  *streams
	crawl    *engine.Node
	own      *ownership.Node
	requests *requests
	aside    aside

	judge  ending.Judge
	seeded bool   // the seeds are in the streams
	over   bool   // nothing is left to do anywhere
	asking bool   // whether the engine is idle
	work   uint64 // grows with all that ends idleness
}

// busy says that the node has work, before it has it.
func (e *endOfCrawl) busy() {
	e.work++
	e.own.Busy()
}

// ask finds out whether the node is idle: the engine has nothing to do, nothing waits to be sent,
// and every message that was taken in is acknowledged. The loop passes to then whether the engine
// is, and whether nothing has come meanwhile.
func (e *endOfCrawl) ask(then func(idle, still bool)) {
	if e.asking {
		return
	}
	e.asking = true
	work := e.work
	e.loop.begin(func(ctx context.Context) func() {
		idle, _, err := e.crawl.Activity(ctx)
		return func() {
			e.asking = false
			if err == nil && !idle {
				e.own.Busy() // a person has given it work, or it has not been idle at all
			}
			then(idle, err == nil && work == e.work)
		}
	})
}

// rest takes in that the node is idle. Its seeds are then in the streams: nobody asks for the end
// before.
func (e *endOfCrawl) rest() {
	if e.seeded {
		e.own.Idle()
		return
	}
	e.create(keySeeded)
}

// create writes a key that is written once.
func (e *endOfCrawl) create(key string) {
	e.loop.ops.run(func(ctx context.Context) {
		_ = e.requests.retry(ctx, func(ctx context.Context) error {
			// A node that ends leaves it to others.
			_, err := e.streams.bucket.Create(ctx, key, []byte(e.own.Self().ID))
			if errors.Is(err, jetstream.ErrKeyExists) {
				return nil
			}
			return err
		})
	})
}

// judgeEnd asks whether the crawl is over, if that is this node's to ask.
func (e *endOfCrawl) judgeEnd() {
	if !e.seeded || e.own.Epoch(0) == 0 || !e.own.Acts(now(), 0) {
		return
	}
	switch step, round := e.judge.Look(e.own); step {
	case ending.Streams:
		e.loop.begin(func(ctx context.Context) func() {
			empty, err := e.noLinks(ctx)
			return func() {
				if e.judge.Read(now(), round, empty && err == nil) {
					e.own.Ask()
				}
			}
		})
	case ending.Over:
		e.create(keyOver)
	}
}

// noLinks reports whether no message of links is left. It is an operation, and removes what is left
// for no partition.
func (e *endOfCrawl) noLinks(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	left, safe, err := e.remote.linksLeft(ctx, e.streams.links)
	if err != nil || left == 0 {
		return safe, err
	}
	strays, err := e.remote.strays(ctx, e.streams.links, e.own.Partitions())
	for _, subject := range strays {
		e.aside.subject(subject, errors.New("expected that of a partition"))
		if err := e.streams.links.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return false, err
		}
	}
	return false, err
}
