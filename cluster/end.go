package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/shard/ending"
)

// endOfCrawl is what a node knows of it. Owner: the node's goroutine.
type endOfCrawl struct {
	judge  ending.Judge
	seeded bool // the seeds are in the streams
	over   bool // nothing is left to do anywhere
	asking bool // whether the engine is idle
	quota  quota
	busy   uint64 // grows with all that ends idleness
}

// askIdle finds out whether the node is idle: the engine has nothing to do, nothing waits to be sent, and
// every message that was taken in is acknowledged.
func (n *node) askIdle() {
	if n.end.asking {
		return
	}
	n.end.asking = true
	busy := n.end.busy
	n.ops.Go(func() {
		idle, _, err := n.crawl.Activity(n.ctx)
		n.mail.post(func() {
			n.end.asking = false
			n.end.quota.unused = idle
			switch {
			case err != nil:
			case !idle:
				n.own.Busy() // a person has given it work, or it has not been idle at all
			case busy == n.end.busy && n.restful():
				n.rest()
			default:
				n.acknowledge(true) // nothing comes in, and this keeps the node from rest
			}
		})
	})
}

// restful reports whether nothing waits in the node itself, nor in the log of a partition that it has and
// the engine has not: one that it restores or hands over.
func (n *node) restful() bool {
	if n.unknown > 0 {
		return false
	}
	for p := range n.parts {
		part := &n.parts[p]
		if len(part.queue) > 0 || len(part.acks) > 0 || part.purging || n.own.Epoch(p) != 0 && !part.open {
			return false
		}
	}
	return true
}

// rest takes in that the node is idle. Its seeds are then in the streams: nobody asks for the end before.
func (n *node) rest() {
	if n.end.seeded {
		n.own.Idle()
		return
	}
	n.create(keySeeded)
}

// create writes a key that is written once.
func (n *node) create(key string) {
	n.ops.Go(func() {
		_ = n.outbox.retry(n.ctx, func(ctx context.Context) error { // a node that ends leaves it to others
			_, err := n.bucket.Create(ctx, key, []byte(n.dir.Node))
			if errors.Is(err, jetstream.ErrKeyExists) {
				return nil
			}
			return err
		})
	})
}

// judgeEnd asks whether the crawl is over, if that is this node's to ask.
func (n *node) judgeEnd() {
	if !n.end.seeded || n.own.Epoch(0) == 0 || !n.own.Acts(now(), 0) {
		return
	}
	switch step, round := n.end.judge.Look(n.own); step {
	case ending.Streams:
		n.ops.Go(func() {
			empty, err := n.noLinks(n.ctx)
			n.mail.post(func() {
				if n.end.judge.Read(now(), round, empty && err == nil) {
					n.own.Ask()
				}
			})
		})
	case ending.Over:
		n.create(keyOver)
	}
}

// noLinks reports whether no message of links is left. A server that was the leader until it was cut off does
// not know the last messages. One that has taken a probe, which most servers then have, knows them.
func (n *node) noLinks(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	probe, err := n.js.Publish(ctx, n.probe(), nil)
	if err != nil {
		return false, err
	}
	if err := n.streams.links.Purge(ctx, jetstream.WithPurgeSubject(n.probe())); err != nil {
		return false, err
	}
	s, err := n.streams.links.Info(ctx)
	if err != nil {
		return false, err
	}
	if s.State.Msgs > 0 {
		return false, n.purgeStrays(ctx)
	}
	return s.State.LastSeq >= probe.Sequence, nil
}

// purgeStrays removes links to what is no partition, which nobody would read or acknowledge. It is called when little
// is in the stream.
func (n *node) purgeStrays(ctx context.Context) error {
	s, err := n.streams.links.Info(ctx, jetstream.WithSubjectFilter(n.allLinks()))
	if err != nil {
		return err
	}
	for subject := range s.State.Subjects {
		if p := numberOf(subject); 0 <= p && p < n.plan.Partitions || subject == n.probe() {
			continue
		}
		n.setAside("links", fmt.Sprintf("subject %.200q of stream %s", subject, n.linkStream()), errors.New("expected that of a partition"))
		if err := n.streams.links.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return err
		}
	}
	return nil
}
