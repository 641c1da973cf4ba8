package cluster

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// part is a partition as this node has it.
type part struct {
	local   bool // the engine has it. Owner: the operations of the partition
	remains bool // the disk has an earlier state of it, from before another node had it. Owner: the same
	spare   bool // another node owns it; its state stays until that node has started it, for Restore
	listed  bool // for whoever asks for hosts and URLs: from its start on, until another node has started it
	unknown bool // it is on the disk, and may be another's by now
	open    bool // messages of links are to be taken in
	read    bool // by the consumer that runs
	queue   []operation
	stay    context.CancelFunc // calls off the drain that runs; nil: none does
	taken   uint64             // the last message of links that the engine was given
	acks    []*ack
	purging bool
}

// operation is something that takes time: it returns what is to be done then by the node's goroutine.
type operation func(context.Context) (then func())

// settle gives up the partitions on the disk that others have by now.
func (n *node) settle() {
	if n.own.Until() == 0 {
		return // nobody has answered yet
	}
	for p := range n.parts {
		owner, _ := n.own.Owner(p)
		if !n.parts[p].unknown || owner.ID == n.dir.Node {
			continue
		}
		n.known(p)
		n.drop(p)
	}
}

// known takes in whose a partition on the disk is.
func (n *node) known(p int) {
	if !n.parts[p].unknown {
		return
	}
	n.parts[p].unknown = false
	n.unknown--
	n.outbox.mayBegin(n.unknown)
}

// do runs an operation of a partition after those before it.
func (n *node) do(p int, op operation) {
	q := &n.parts[p].queue
	if *q = append(*q, op); len(*q) == 1 {
		n.runNext(p)
	}
}

func (n *node) runNext(p int) {
	op := n.parts[p].queue[0]
	n.ops.Go(func() {
		then := op(n.ctx)
		n.mail.post(func() {
			then()
			q := &n.parts[p].queue
			if *q = (*q)[1:]; len(*q) > 0 {
				n.runNext(p)
			}
		})
	})
}

// take restores a partition that is this node's from now on.
func (n *node) take(o ownership.Order) {
	p := o.Partition
	n.parts[p].listed = n.parts[p].listed && o.Before == o.Epoch
	n.do(p, func(ctx context.Context) func() {
		var err error
		ended := n.outbox.retry(ctx, func(context.Context) error {
			var away *absent
			if err = n.restore(ctx, o); errors.As(err, &away) || errors.Is(err, jetstream.ErrStreamNotFound) {
				return err // a node whose log was deleted ends, and says so
			}
			return nil
		})
		return func() {
			n.known(p)
			switch {
			case errors.Is(err, errLost), ended != nil, ctx.Err() != nil:
			case err != nil:
				n.fail(fmt.Errorf("crawl %s: partition %d: %w", n.layout, p, err))
			case n.own.Epoch(p) == o.Epoch:
				n.wake()
				n.own.Started(p, o.Epoch)
				n.parts[p].listed = true
				n.open(p, true)
			}
		}
	})
}

// drain hands a partition over: nothing more of it is fetched, and what is known of it is in its log.
func (n *node) drain(p int) {
	n.wake() // nobody has its URLs until another node does
	ctx, stay := context.WithCancel(n.ctx)
	n.parts[p].stay = stay
	n.open(p, false)
	n.do(p, func(context.Context) func() {
		left := false
		if ctx.Err() == nil && n.parts[p].local {
			posted, err := n.crawl.Leave(ctx, p)
			if left = err == nil; left {
				n.parts[p].local, n.parts[p].remains = false, true
				left = n.outbox.wait(n.ctx, posted) == nil
			}
		}
		return func() {
			if ctx.Err() != nil {
				return // called off: what is next in the queue takes the partition back, or forgets it
			}
			n.callOff(p)
			if left {
				n.own.Drained(p)
			}
		}
	})
}

// callOff ends the drain that runs, if one does.
func (n *node) callOff(p int) {
	if stay := n.parts[p].stay; stay != nil {
		stay()
		n.parts[p].stay = nil
	}
}

// drop takes a partition that another node owns from the engine. Its state stays on the disk for now.
func (n *node) drop(p int) {
	n.open(p, false)
	n.callOff(p)
	n.do(p, func(ctx context.Context) func() {
		n.outbox.release(p)
		err := n.giveUp(ctx, p)
		return func() {
			n.parts[p].taken, n.parts[p].acks = 0, nil
			n.parts[p].spare = n.parts[p].remains
			n.failUnlessOver(ctx, err)
		}
	})
}

// spared removes from the disk the partitions that others have started by now.
func (n *node) spared() {
	var holders map[ownership.Owner]bool
	for p := range n.parts {
		part := &n.parts[p]
		if !part.spare || len(part.queue) > 0 {
			continue
		}
		if holders == nil {
			holders = n.own.Holders()
		}
		owner, _ := n.own.Owner(p)
		if part.spare = !holders[owner]; part.spare || owner == n.own.Self() {
			continue
		}
		part.listed = false
		n.do(p, func(ctx context.Context) func() {
			err := n.forget(ctx, p)
			return func() { n.failUnlessOver(ctx, err) }
		})
	}
}

// listed returns which partitions the node lists.
func (n *node) listed() []bool {
	all := make([]bool, len(n.parts))
	for p := range n.parts {
		all[p] = n.parts[p].listed
	}
	return all
}

// failUnlessOver ends the node with an error, unless it has ended.
func (n *node) failUnlessOver(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, engine.ErrEnded) {
		n.fail(err)
	}
}

// giveUp removes a partition from the engine.
func (n *node) giveUp(ctx context.Context, p int) error {
	if !n.parts[p].local {
		return nil
	}
	_, err := n.crawl.Leave(ctx, p)
	if err == nil {
		n.parts[p].local, n.parts[p].remains = false, true
	}
	return err
}

// forget removes a partition from the engine and from the disk.
func (n *node) forget(ctx context.Context, p int) error {
	if err := n.giveUp(ctx, p); err != nil {
		return err
	}
	if err := n.crawl.Drop(ctx, p); err != nil {
		return err
	}
	n.parts[p].remains = false
	return nil
}
