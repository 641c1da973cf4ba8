package engine

import (
	"context"
	"iter"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/internal/shard/share"
)

// The methods of this file are for whoever connects the nodes of a crawl: see Config.Node. Any goroutine
// may call them, but none that the coordinator's loop waits for.

// post runs fn on the coordinator's loop, once the crawl runs.
func (c *Crawl) post(fn func(*Coordinator)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.mu.ran {
		c.coordinator.node.early = append(c.coordinator.node.early, fn)
		return nil
	}
	if c.mu.inbox.Post(func() { c.coordinator.whenReady(fn) }) != nil {
		return ErrEnded
	}
	return nil
}

// WhenReady has fn run on the coordinator's loop when the crawl can be steered, after those that were given before
// it. A crawl that ends may never run it.
func (c *Crawl) WhenReady(fn func(*Coordinator)) error { return c.post(fn) }

// result is how something on the coordinator's loop has ended.
type result struct {
	posted uint64
	err    error
}

// await has fn start something on the coordinator's loop, and waits until that calls done.
func (c *Crawl) await(ctx context.Context, fn func(d *Coordinator, done func(uint64, error))) (posted uint64, err error) {
	ended := make(chan result, 1)
	err = c.post(func(d *Coordinator) { fn(d, func(posted uint64, err error) { ended <- result{posted, err} }) })
	if err != nil {
		return 0, err
	}
	select {
	case r := <-ended:
		return r.posted, r.err
	case <-c.over:
		return 0, ErrEnded
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// Deliver takes in the links of a message of another node. It returns at once; done is called on the
// coordinator's loop when they are committed, with the last message of the outbox by then: once that is
// delivered, nothing of them can be lost any more. A crawl that ends may never call it. An error means that
// nothing was taken in.
func (c *Crawl) Deliver(links []byte, done func(posted uint64, err error)) error {
	urls, err := changelog.Read(links)
	if err != nil {
		return err
	}
	return c.post(func(d *Coordinator) { d.deliver(urls, done) })
}

// Outbox returns the messages after one, in the order of posting, at most of so many bytes, but one if there
// is any. It blocks on the disk.
func (c *Crawl) Outbox(after uint64, bytes int) ([]store.Message, error) {
	return c.coordinator.cfg.Job.Store.Outbox(after, bytes)
}

// Posted returns the ID of the last message that was posted, 0 if none was.
func (c *Crawl) Posted() uint64 { return c.coordinator.cfg.Job.Store.Posted() }

// Waiting returns how many messages are in the outbox, and how many bytes they have.
func (c *Crawl) Waiting() (messages, bytes int64) { return c.coordinator.cfg.Job.Store.Waiting() }

// Delivered removes messages from the outbox with the next batch. Those in stay are kept on the disk until Forget; those
// of the same IDs in as take the place of some.
func (c *Crawl) Delivered(all, stay, as []store.Message) error {
	return c.post(func(d *Coordinator) { d.delivered(all, stay, as) })
}

// Forget removes messages that were kept, by their IDs, with the next batch. It causes no batch.
func (c *Crawl) Forget(ids ...uint64) error {
	return c.post(func(d *Coordinator) { d.committer.open.state.Forget(ids...) })
}

// Open takes in a message of Opened. What is given to Deliver after it returns is judged by it.
func (c *Crawl) Open(what []byte) error {
	open, err := opening(string(what))
	if err != nil {
		return err
	}
	return c.post(open)
}

// Activity reports whether the node is idle: nothing is left to do, and nothing to be sent; and a number
// that grows with all that comes from other nodes.
func (c *Crawl) Activity(ctx context.Context) (idle bool, n uint64, err error) {
	_, err = c.await(ctx, func(d *Coordinator, done func(uint64, error)) {
		idle, n = d.activity()
		done(0, nil)
	})
	return idle, n, err
}

// End ends the crawl, which is over on all nodes.
func (c *Crawl) End() error { return c.post((*Coordinator).end) }

// Allow sets how many URLs may be begun in this run: those that were fetched for the first time. It returns how
// many were, which is the least that may be. It needs NodeConfig.Short.
func (c *Crawl) Allow(ctx context.Context, most int) (begun int, err error) {
	_, err = c.await(ctx, func(d *Coordinator, done func(uint64, error)) {
		begun = d.allow(most)
		done(0, nil)
	})
	return begun, err
}

// LimitReached takes in whether no more will be allowed: then the crawl stops here if anything is left.
func (c *Crawl) LimitReached(is bool) error {
	return c.post(func(d *Coordinator) { d.reachLimit(is) })
}

// Stop ends the crawl here in good order, by a limit.
func (c *Crawl) Stop(limit string) error { return c.post(func(d *Coordinator) { d.stop(limit) }) }

// Left ends the crawl here: its partitions have left, or stay on this disk. See NodeConfig.Leaving.
func (c *Crawl) Left() error { return c.post((*Coordinator).haveLeft) }

// Replied takes in what the homes of addresses have replied to NodeConfig.Ask: those that own their partitions, as
// far as the caller has seen.
func (c *Crawl) Replied(replies []share.Reply) error {
	return c.post(func(d *Coordinator) { d.hear(replies) })
}

// HomesMoved has the new homes of addresses asked again: those of the given partitions, of so many in all.
func (c *Crawl) HomesMoved(parts map[int]bool, partitions int) error {
	return c.post(func(d *Coordinator) {
		d.node.sharing.holder.Moved(d.clock.now(), parts, partitions)
		d.tellHomes()
	})
}

// Declare calls done, on the coordinator's loop, with the addresses that the node holds of the given tables, of so
// many partitions in all. Until then it takes in no later Replied. A crawl that ends may never call done.
func (c *Crawl) Declare(tables []share.Table, partitions int, done func([]share.Declaration)) error {
	return c.post(func(d *Coordinator) { done(d.node.sharing.holder.Declare(tables, partitions)) })
}

// Leave gives partitions away: it leases nothing more of them, waits for what is in flight, has their URLs go
// to others, commits all that is known of them, and forgets them. It returns the last message of the outbox
// by then: once that is delivered, another node may have them; then Drop removes them from the disk. If ctx
// ends before they have left, they stay.
func (c *Crawl) Leave(ctx context.Context, numbers ...int) (posted uint64, err error) {
	posted, err = c.await(ctx, func(d *Coordinator, done func(uint64, error)) { d.leave(numbers, done) })
	if err == nil || ctx.Err() == nil {
		return posted, err
	}
	left := false
	if _, failed := c.await(context.WithoutCancel(ctx), func(d *Coordinator, done func(uint64, error)) {
		left = !d.stay(numbers)
		d.afterCommit(done) // that of what has left, or a later one
	}); failed != nil || !left {
		return 0, err
	}
	return c.coordinator.cfg.Job.Store.Posted(), nil
}

// Drop removes partitions from the disk that have left, or were never imported to their end.
func (c *Crawl) Drop(ctx context.Context, numbers ...int) error {
	unsee := func(seen [][16]byte) error {
		_, err := c.await(ctx, func(d *Coordinator, done func(uint64, error)) {
			d.betweenBatches(func() {
				d.frontier.Unsee(seen)
				done(0, nil)
			})
		})
		return err
	}
	for _, n := range numbers {
		if err := c.coordinator.cfg.Job.Store.Drop(ctx, n, unsee); err != nil {
			return err
		}
	}
	return nil
}

// Join takes a partition over: blocks are its snapshot and its log, in order. The disk has nothing of it:
// see Drop. It returns when the partition is ours, and that is committed, with the number of its URLs. After
// an error it is not, and Drop removes what was imported.
func (c *Crawl) Join(ctx context.Context, number int, blocks iter.Seq2[[]byte, error]) (urls int, err error) {
	var now time.Time
	if _, err := c.await(ctx, func(d *Coordinator, done func(uint64, error)) {
		now = d.clock.now()
		d.drainPartitions([]int{number}, func() { done(0, nil) })
	}); err != nil {
		return 0, c.giveUpJoin(number, err)
	}
	if err := c.imports.all(number, now, blocks); err != nil {
		return 0, c.giveUpJoin(number, err)
	}
	if urls, err = c.settle(ctx, number); err != nil {
		return 0, c.giveUpJoin(number, err)
	}
	_, err = c.await(context.WithoutCancel(ctx), func(d *Coordinator, done func(uint64, error)) { d.own([]int{number}, done) })
	return urls, err
}

// settlesAtOnce bounds the partitions that are settled at once: each takes some megabytes of memory.
const settlesAtOnce = 4

// settle has the frontier adopt a partition that was imported, and returns the number of its URLs.
func (c *Crawl) settle(ctx context.Context, number int) (urls int, err error) {
	select {
	case c.settling <- struct{}{}:
		defer func() { <-c.settling }()
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	err = c.coordinator.cfg.Job.Store.Settle(number, func(origins []frontier.OriginState, seen [][16]byte) error {
		urls += len(seen)
		_, err := c.await(ctx, func(d *Coordinator, done func(uint64, error)) {
			d.frontier.Adopt(number, origins, seen)
			done(0, nil)
		})
		return err
	})
	return urls, err
}

// JoinNew takes over partitions that nobody has had before. The disk has nothing of them.
func (c *Crawl) JoinNew(ctx context.Context, numbers ...int) error {
	_, err := c.await(ctx, func(d *Coordinator, done func(uint64, error)) {
		d.drainPartitions(numbers, func() { d.own(numbers, done) })
	})
	return err
}

// Mark records on the disk the epoch under which the node owns a partition from now on: see store.Batch.SetEpoch. Call it
// before Join or JoinNew.
func (c *Crawl) Mark(ctx context.Context, number int, epoch uint64) error {
	_, err := c.await(ctx, func(d *Coordinator, done func(uint64, error)) { d.mark(number, epoch, done) })
	return err
}

// Release lets fetches of partitions begin that were held: see NodeConfig.Held.
func (c *Crawl) Release(ctx context.Context, numbers ...int) error {
	_, err := c.await(ctx, func(d *Coordinator, done func(uint64, error)) {
		d.node.activity++
		d.frontier.Release(d.clock.now(), numbers...)
		d.Dispatch()
		done(0, nil)
	})
	return err
}

// giveUpJoin undoes what Join has done to the frontier.
func (c *Crawl) giveUpJoin(number int, err error) error {
	_ = c.post(func(d *Coordinator) { d.abandonJoin(number) }) // a crawl that is over joins nothing
	return err
}

// Export passes on a snapshot of a partition, in blocks of at most about a megabyte. Changes since its
// beginning may be in it or not: whoever joins replays all of them. It ends at the error of fn.
func (c *Crawl) Export(ctx context.Context, number int, fn func(block []byte) error) error {
	var job, calendar time.Time
	if _, err := c.await(ctx, func(d *Coordinator, done func(uint64, error)) {
		job, calendar = d.clock.now(), d.loop.Wall()
		done(0, nil)
	}); err != nil {
		return err
	}
	return exportAll(c.coordinator.cfg.Job.Store, number, job, calendar, fn)
}

// Export is like [Crawl.Export], for a job that no crawl has open.
func Export(j *job.Job, number int, fn func(block []byte) error) error {
	h, err := j.SavedHistory()
	if err != nil {
		return err
	}
	return exportAll(j.Store, number, h.Clock.Job, h.Clock.Calendar, fn)
}
