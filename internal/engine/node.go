package engine

import (
	"context"
	"time"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/internal/shard/share"
)

// NodeConfig makes a crawl a part of one that several engines share, each with some of its
// partitions: see frontier.Config.Partition. It needs a job.
type NodeConfig struct {
	// Posted is called on the coordinator's loop when the outbox has new messages: with the last of
	// them, and the time of the first change that they report. It does not block.
	Posted func(last uint64, since time.Time)
	// Held are partitions of Config.Frontier.Ours of which nothing is fetched until Release.
	Held []int
	// Gather is the time for which a commit waits for more while the node has more than a few URLs to
	// fetch; 0: as long as without other nodes. What other nodes get leaves with a commit.
	Gather time.Duration

	// Leaving is called once, on the coordinator's loop, when the crawl is to end here and is not
	// over: by a limit, or by Drain. It does not block. Partitions may leave then; the crawl ends
	// after Node.Left.
	Leaving func()

	// Ask tells the homes of addresses what the node wants and gives up, and how long the delay of an
	// address is. It is called on the coordinator's loop and does not block. Replies go to
	// Node.Replied. nil: the node shares no address with others.
	Ask func(asks []share.Ask, delay time.Duration)

	// Unreadable is called with why Join has left out a block, or the rest of one, that no node has
	// written. It is called on goroutines that call Join. nil: nobody learns it.
	Unreadable func(error)

	// Short is called once after each Node.Allow, on the coordinator's loop, when half of the URLs
	// that were left then are begun. It does not block. nil: any number of URLs may be fetched.
	Short func()
}

// Node is a crawl as one of several nodes, as whoever connects them sees it: they share a crawl,
// each with some of its partitions. Any goroutine may use it, but none that the coordinator's loop
// waits for.
type Node struct {
	crawl    *Crawl
	post     func(func(*sharing)) error // has the coordinator's loop run it, once the crawl is ready
	store    *store.Store
	imports  imports       // of partitions that join
	settling chan struct{} // has an element for each partition that is being settled
}

func newNode(c *Crawl, cfg *Config, whenReady func(func(*Coordinator)) error) *Node {
	s := c.coordinator.sharing
	return &Node{
		crawl: c, store: cfg.Job.Store,
		post:     func(fn func(*sharing)) error { return whenReady(func(*Coordinator) { fn(s) }) },
		imports:  imports{store: cfg.Job.Store, unreadable: cfg.Node.Unreadable},
		settling: make(chan struct{}, settlesAtOnce),
	}
}

// Crawl returns the crawl.
func (n *Node) Crawl() *Crawl { return n.crawl }

// result is the end of something that the coordinator's loop was asked to do.
type result struct {
	posted uint64
	err    error
}

// await has fn start something on the coordinator's loop, and waits until that calls done.
func (n *Node) await(ctx context.Context, fn func(s *sharing, done func(uint64, error))) (posted uint64, err error) {
	ended := make(chan result, 1)
	err = n.post(func(s *sharing) { fn(s, func(posted uint64, err error) { ended <- result{posted, err} }) })
	if err != nil {
		return 0, err
	}
	select {
	case r := <-ended:
		return r.posted, r.err
	case <-n.crawl.over:
		return 0, ErrEnded
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// Deliver takes in the links of a message of another node. It returns at once; done is called on
// the coordinator's loop when they are committed, with the last message of the outbox by then: once
// that is delivered, nothing of them can be lost any more. A crawl that ends may never call it. An
// error means that nothing was taken in.
func (n *Node) Deliver(links []byte, done func(posted uint64, err error)) error {
	urls, err := changelog.Read(links)
	if err != nil {
		return err
	}
	return n.post(func(s *sharing) { s.deliver(urls, done) })
}

// Outbox returns the messages after one, in the order of posting, at most of so many bytes, but one
// if there is any. It blocks on the disk.
func (n *Node) Outbox(after uint64, bytes int) ([]store.Message, error) {
	return n.store.Outbox(after, bytes)
}

// Posted returns the ID of the last message that was posted, 0 if none was.
func (n *Node) Posted() uint64 { return n.store.Posted() }

// Waiting returns how many messages are in the outbox, and how many bytes they have.
func (n *Node) Waiting() (messages, bytes int64) { return n.store.Waiting() }

// Delivered removes messages from the outbox with the next batch. Those in stay are kept on the
// disk until Forget; those of the same IDs in as take the place of some.
func (n *Node) Delivered(all, stay, as []store.Message) error {
	return n.post(func(s *sharing) { s.delivered(all, stay, as) })
}

// Forget removes messages that were kept, by their IDs, with the next batch. It causes no batch.
func (n *Node) Forget(ids ...uint64) error {
	return n.post(func(s *sharing) { s.forget(ids) })
}

// Open takes in a message of Opened. What is given to Deliver after it returns is judged by it.
func (n *Node) Open(what []byte) error {
	w, err := readWidening(string(what))
	if err != nil {
		return err
	}
	return n.post(func(s *sharing) { s.widen(w) })
}

// Activity reports whether the node is idle: nothing is left to do, and nothing to be sent; and a
// number that grows with all that comes from other nodes.
func (n *Node) Activity(ctx context.Context) (idle bool, number uint64, err error) {
	_, err = n.await(ctx, func(s *sharing, done func(uint64, error)) {
		idle, number = s.idle(), s.activity
		done(0, nil)
	})
	return idle, number, err
}

// End ends the crawl, which is over on all nodes.
func (n *Node) End() error { return n.post((*sharing).end) }

// Allow sets how many URLs may be begun in this run: those that were fetched for the first time. It
// returns how many were, which is the least that may be. It needs NodeConfig.Short.
func (n *Node) Allow(ctx context.Context, most int) (begun int, err error) {
	_, err = n.await(ctx, func(s *sharing, done func(uint64, error)) {
		begun = s.allow(most)
		done(0, nil)
	})
	return begun, err
}

// LimitReached takes in whether no more will be allowed: then the crawl stops here if anything is
// left.
func (n *Node) LimitReached(is bool) error {
	return n.post(func(s *sharing) { s.reachLimit(is) })
}

// Stop ends the crawl here in good order, by a limit.
func (n *Node) Stop(limit string) error { return n.post(func(s *sharing) { s.stop(limit) }) }

// Left ends the crawl here: its partitions have left, or stay on this disk. See NodeConfig.Leaving.
func (n *Node) Left() error { return n.post((*sharing).haveLeft) }

// Replied takes in what the homes of addresses have replied to NodeConfig.Ask: those that own their
// partitions, as far as the caller has seen.
func (n *Node) Replied(replies []share.Reply) error {
	return n.post(func(s *sharing) { s.addresses.hear(replies) })
}

// HomesMoved has the new homes of addresses asked again: those of the given partitions, of so many
// in all.
func (n *Node) HomesMoved(parts map[int]bool, partitions int) error {
	return n.post(func(s *sharing) {
		s.addresses.moved(parts, partitions)
	})
}

// Declare calls done, on the coordinator's loop, with the addresses that the node holds of the
// given tables, of so many partitions in all. Until then it takes in no later Replied. A crawl that
// ends may never call done.
func (n *Node) Declare(tables []share.Table, partitions int, done func([]share.Declaration)) error {
	return n.post(func(s *sharing) { done(s.addresses.holder.Declare(tables, partitions)) })
}
