package engine

import (
	"context"
	"iter"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/shard/changelog"
)

// Leave gives partitions away: it leases nothing more of them, waits for what is in flight, has
// their URLs go to others, commits all that is known of them, and forgets them. It returns the last
// message of the outbox by then: once that is delivered, another node may have them; then Drop
// removes them from the disk. If ctx ends before they have left, they stay.
func (n *Node) Leave(ctx context.Context, numbers ...int) (posted uint64, err error) {
	posted, err = n.await(ctx, func(s *sharing, done func(uint64, error)) { s.leave(numbers, done) })
	if err == nil || ctx.Err() == nil {
		return posted, err
	}
	left := false
	if _, failed := n.await(context.WithoutCancel(ctx), func(s *sharing, done func(uint64, error)) {
		left = !s.stay(numbers)
		s.committer.then(done) // that of what has left, or a later one
	}); failed != nil || !left {
		return 0, err
	}
	return n.store.Posted(), nil
}

// Drop removes partitions from the disk that have left, or were never imported to their end.
func (n *Node) Drop(ctx context.Context, numbers ...int) error {
	unsee := func(seen [][16]byte) error {
		_, err := n.await(ctx, func(s *sharing, done func(uint64, error)) {
			s.unsee(seen, func() { done(0, nil) })
		})
		return err
	}
	for _, number := range numbers {
		if err := n.store.Drop(ctx, number, unsee); err != nil {
			return err
		}
	}
	return nil
}

// Join takes a partition over: blocks are its snapshot and its log, in order. The disk has nothing
// of it: see Drop. It returns when the partition is ours, and that is committed, with the number of
// its URLs. After an error it is not, and Drop removes what was imported.
func (n *Node) Join(ctx context.Context, number int, blocks iter.Seq2[[]byte, error]) (urls int, err error) {
	var now time.Time
	if _, err := n.await(ctx, func(s *sharing, done func(uint64, error)) {
		now = s.clock.now()
		s.drainPartitions([]int{number}, func() { done(0, nil) })
	}); err != nil {
		return 0, n.giveUpJoin(number, err)
	}
	if err := n.imports.all(number, now, blocks); err != nil {
		return 0, n.giveUpJoin(number, err)
	}
	if urls, err = n.settle(ctx, number); err != nil {
		return 0, n.giveUpJoin(number, err)
	}
	_, err = n.await(context.WithoutCancel(ctx), func(s *sharing, done func(uint64, error)) { s.own([]int{number}, done) })
	return urls, err
}

// settlesAtOnce bounds the partitions that are settled at once: each takes some megabytes of
// memory.
const settlesAtOnce = 4

// settle has the frontier adopt a partition that was imported, and returns the number of its URLs.
func (n *Node) settle(ctx context.Context, number int) (urls int, err error) {
	select {
	case n.settling <- struct{}{}:
		defer func() { <-n.settling }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	err = n.store.Settle(number, func(origins []frontier.OriginState, seen [][16]byte) error {
		urls += len(seen)
		_, err := n.await(ctx, func(s *sharing, done func(uint64, error)) {
			s.frontier.Partitions().Adopt(number, origins, seen)
			done(0, nil)
		})
		return err
	})
	return urls, err
}

// JoinNew takes over partitions that nobody has had before. The disk has nothing of them.
func (n *Node) JoinNew(ctx context.Context, numbers ...int) error {
	_, err := n.await(ctx, func(s *sharing, done func(uint64, error)) {
		s.drainPartitions(numbers, func() { s.own(numbers, done) })
	})
	return err
}

// Mark records on the disk the epoch under which the node owns a partition from now on: see
// store.Batch.SetEpoch. Call it before Join or JoinNew.
func (n *Node) Mark(ctx context.Context, number int, epoch uint64) error {
	_, err := n.await(ctx, func(s *sharing, done func(uint64, error)) { s.mark(number, epoch, done) })
	return err
}

// Release lets fetches of partitions begin that were held: see NodeConfig.Held.
func (n *Node) Release(ctx context.Context, numbers ...int) error {
	_, err := n.await(ctx, func(s *sharing, done func(uint64, error)) {
		s.release(numbers)
		done(0, nil)
	})
	return err
}

// giveUpJoin undoes what Join has done to the frontier.
func (n *Node) giveUpJoin(number int, err error) error {
	_ = n.post(func(s *sharing) { s.abandonJoin(number) }) // a crawl that is over joins nothing
	return err
}

// Export passes on a snapshot of a partition, in blocks of at most about a megabyte. Changes since
// its beginning may be in it or not: whoever joins replays all of them. It ends at the error of fn.
func (n *Node) Export(ctx context.Context, number int, fn func(block []byte) error) error {
	var job, calendar time.Time
	if _, err := n.await(ctx, func(s *sharing, done func(uint64, error)) {
		job, calendar = s.clock.now(), s.clock.loop.Wall()
		done(0, nil)
	}); err != nil {
		return err
	}
	return exportAll(n.store, number, job, calendar, fn)
}

// Export is like [Node.Export], for a job that no crawl has open.
func Export(j *job.Job, number int, fn func(block []byte) error) error {
	h, err := j.SavedHistory()
	if err != nil {
		return err
	}
	return exportAll(j.Store, number, h.Clock.Job, h.Clock.Calendar, fn)
}

// exportAll passes on a snapshot of a partition, of a moment, in blocks of about commitSize.
func exportAll(s *store.Store, number int, job, calendar time.Time, fn func([]byte) error) error {
	to := exporter{changelog.NewEncoder(job, calendar)}
	pass := func() error {
		block := to.Block()
		to.Encoder = changelog.NewEncoder(job, calendar)
		return fn(block)
	}
	err := s.Export(number, &to, func() error {
		if to.Len() < commitSize {
			return nil
		}
		return pass()
	})
	if err != nil {
		return err
	}
	return pass()
}

// exporter is a journal that writes to one block after the other.
type exporter struct{ *changelog.Encoder }
