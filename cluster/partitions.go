package cluster

import (
	"context"
	"errors"
	"fmt"
	"math/big"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// partitions are those of the crawl, as this node has them. What is to be done with one is done by
// an operation after another: see takeover.
//
// Owner: the node's loop.
type partitions struct {
	all     []part
	unknown int // number of those on the disk whose owner is not known yet

	name     layout
	loop     *loop
	own      *ownership.Node
	inbox    *inbox
	outbox   *outbox
	takeover *takeover
	requests *requests
	warn     func(error)
	busy     func()      // is called when there is work for the node, before it has it
	fail     func(error) // ends the node
}

// part is a partition as this node has it.
type part struct {
	place   place // as the last operation has left it
	spare   bool  // another node owns it; its state stays until that node has started it, for Restore
	listed  bool  // in lists of hosts and URLs: from its start until another node's
	unknown bool  // it is on the disk, and may be another's by now
	queue   []operation
	stay    context.CancelFunc // calls off the drain that runs; nil: none does
}

// operation is something that takes time, with a partition at a place. It returns where the
// partition is then, and what the node's loop is to do.
type operation func(ctx context.Context, at place) (_ place, then func())

// onDisk takes in the partitions that the job folder has, and returns those that were the node's.
func (s *partitions) onDisk(f *folder) (ours []int, err error) {
	for p, it := range f.parts {
		switch {
		case p >= len(s.all):
			return nil, fmt.Errorf("%s: partition %d, expected less than %d", f.dir, p, len(s.all))
		case it.State == store.Owned:
			ours = append(ours, p)
			s.all[p].place.engine, s.all[p].unknown = true, true
			s.unknown++
		default:
			s.all[p].place.disk, s.all[p].spare = true, true
		}
	}
	return ours, nil
}

// settle gives up the partitions on the disk that others have by now.
func (s *partitions) settle() {
	if s.unknown == 0 || s.own.Until() == 0 {
		return // all are known, or nobody has answered yet
	}
	for p := range s.all {
		owner, _ := s.own.Owner(p)
		if !s.all[p].unknown || owner.ID == s.own.Self().ID {
			continue
		}
		s.known(p)
		s.drop(p)
	}
}

// known takes in whose a partition on the disk is.
func (s *partitions) known(p int) {
	if !s.all[p].unknown {
		return
	}
	s.all[p].unknown = false
	s.unknown--
	s.outbox.mayBegin(s.unknown)
}

// do runs an operation of a partition after those before it.
func (s *partitions) do(p int, op operation) {
	q := &s.all[p].queue
	if *q = append(*q, op); len(*q) == 1 {
		s.runNext(p)
	}
}

func (s *partitions) runNext(p int) {
	part := &s.all[p]
	op, at := part.queue[0], part.place
	s.loop.begin(func(ctx context.Context) func() {
		at, then := op(ctx, at)
		return func() {
			part.place = at
			then()
			if part.queue = part.queue[1:]; len(part.queue) > 0 {
				s.runNext(p)
			}
		}
	})
}

// take restores a partition that is this node's from now on.
func (s *partitions) take(o ownership.Order) {
	p, part := o.Partition, &s.all[o.Partition]
	part.listed = part.listed && o.Before == o.Epoch
	s.do(p, func(ctx context.Context, at place) (place, func()) {
		var err error
		ended := s.requests.retry(ctx, func(context.Context) error {
			var away *absent
			if err = s.takeover.restore(ctx, &at, o); errors.As(err, &away) || errors.Is(err, jetstream.ErrStreamNotFound) {
				return err // a node whose log was deleted ends, and says so
			}
			return nil
		})
		return at, func() {
			s.known(p)
			switch {
			case errors.Is(err, errLost), ended != nil, ctx.Err() != nil:
			case err != nil:
				s.fail(fmt.Errorf("crawl %s: partition %d: %w", s.name, p, err))
			case s.own.Epoch(p) == o.Epoch:
				s.busy()
				s.own.Started(p, o.Epoch)
				part.listed = true
				s.inbox.read(p)
			}
		}
	})
}

// drain hands a partition over: nothing more of it is fetched, and what is known of it is in its
// log.
func (s *partitions) drain(p int) {
	s.busy() // nobody has its URLs until another node does
	until, stay := context.WithCancel(s.loop.ops.ctx)
	s.all[p].stay = stay
	s.inbox.leave(p)
	s.do(p, func(ctx context.Context, at place) (place, func()) {
		left := until.Err() == nil && at.engine && s.takeover.leave(until, ctx, &at, p) == nil
		return at, func() {
			if until.Err() != nil {
				return // called off: what is next in the queue takes the partition back, or forgets it
			}
			s.callOff(p)
			if left {
				s.own.Drained(p)
			}
		}
	})
}

// keep takes back that a partition is handed over.
func (s *partitions) keep(p int) {
	s.callOff(p)
	epoch := s.own.Epoch(p)
	s.take(ownership.Order{Kind: ownership.Take, Partition: p, Epoch: epoch, Before: epoch, Mine: true})
}

// callOff ends the drain that runs, if one does.
func (s *partitions) callOff(p int) {
	if stay := s.all[p].stay; stay != nil {
		stay()
		s.all[p].stay = nil
	}
}

// drop takes a partition that another node owns from the engine. Its state stays on the disk for
// now.
func (s *partitions) drop(p int) {
	s.inbox.leave(p)
	s.callOff(p)
	s.do(p, func(ctx context.Context, at place) (place, func()) {
		err := s.takeover.giveUp(ctx, &at, p)
		return at, func() {
			s.inbox.forget(p)
			s.all[p].spare = at.disk
			s.failUnlessOver(ctx, err)
		}
	})
}

// removeSpare removes from the disk the partitions that others have started by now.
func (s *partitions) removeSpare() {
	var starters map[ownership.Owner]bool
	for p := range s.all {
		part := &s.all[p]
		if !part.spare || len(part.queue) > 0 {
			continue
		}
		if starters == nil {
			starters = s.own.Starters()
		}
		owner, _ := s.own.Owner(p)
		if part.spare = !starters[owner]; part.spare || owner == s.own.Self() {
			continue
		}
		part.listed = false
		s.do(p, func(ctx context.Context, at place) (place, func()) {
			err := s.takeover.forget(ctx, &at, p)
			return at, func() { s.failUnlessOver(ctx, err) }
		})
	}
}

// snapshot has a snapshot take the place of a log up to a message.
func (s *partitions) snapshot(p int, end *logEnd, from uint64) {
	s.do(p, func(ctx context.Context, at place) (place, func()) {
		if err := s.takeover.snapshot(ctx, at, p, end, from); err != nil {
			s.warn(err)
		}
		return at, func() {}
	})
}

// listed returns the partitions that the node lists, by bits.
func (s *partitions) listed() *big.Int {
	all := new(big.Int)
	for p := range s.all {
		if s.all[p].listed {
			all.SetBit(all, p, 1)
		}
	}
	return all
}

// running returns how many partitions this node fetches from, and whether none is on its way.
func (s *partitions) running() (n int, settled bool) {
	for p := range s.all {
		switch {
		case s.own.Epoch(p) == 0:
		case len(s.all[p].queue) > 0 || !s.inbox.reads(p):
			return 0, false
		default:
			n++
		}
	}
	return n, true
}

// atRest reports whether nothing is to be done with any partition, nor waits in the log of one that
// the node has and the engine has not: one that is restored or handed over.
func (s *partitions) atRest() bool {
	if s.unknown > 0 {
		return false
	}
	for p := range s.all {
		if len(s.all[p].queue) > 0 || s.own.Epoch(p) != 0 && !s.inbox.reads(p) {
			return false
		}
	}
	return true
}

// failUnlessOver ends the node with an error, unless it has ended.
func (s *partitions) failUnlessOver(ctx context.Context, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, engine.ErrEnded) {
		s.fail(err)
	}
}
