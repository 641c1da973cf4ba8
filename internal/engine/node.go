package engine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/internal/shard/share"
	"github.com/weftcrawl/weft/weburl"
)

// NodeConfig makes a crawl a part of one that several engines share, each with some of its partitions:
// see frontier.Config.Partition. It needs a job.
type NodeConfig struct {
	// Posted is called on the coordinator's loop when the outbox has new messages: with the last of them, and the time
	// of the first change that they report. It does not block.
	Posted func(last uint64, since time.Time)
	// Held are partitions of Config.Frontier.Ours of which nothing is fetched until Release.
	Held []int
	// Gather is how long a commit waits for more while the node has more than a few URLs to fetch; 0: as long as
	// without other nodes. What other nodes get leaves with a commit.
	Gather time.Duration

	// Leaving is called once, on the coordinator's loop, when the crawl is to end here and is not over: by a
	// limit, or by Drain. It does not block. Partitions may leave then; the crawl ends after Crawl.Left.
	Leaving func()

	// Ask tells the homes of addresses what the node wants and gives up, and how long the delay of an address
	// is. It is called on the coordinator's loop and does not block. Replies go to Crawl.Replied. nil: the node
	// shares no address with others.
	Ask func(asks []share.Ask, delay time.Duration)

	// Unreadable is called with why Join has left out a block, or the rest of one, that no node has written. It is called
	// on goroutines that call Join. nil: nobody learns it.
	Unreadable func(error)

	// Short is called once after each Crawl.Allow, on the coordinator's loop, when half of the URLs that were
	// left then are begun. It does not block. nil: any number of URLs may be fetched.
	Short func()
	// MaxOutbox is how many bytes of messages may wait in the outbox: while there are more, no fetch
	// starts, until half of them are delivered. 0: 32 MiB.
	MaxOutbox int64
}

// defaultOutbox is what a node posts in about half a minute, at 1,000 pages a second.
const defaultOutbox = 32 << 20

// MaxUntold is how long what a node has done may wait to be delivered: while something waits for longer, no
// fetch starts. A node that dies with its disk loses what it finished in that time, and what was in flight then.
const MaxUntold = 3 * time.Second

// node is what a coordinator knows as one of several.
//
// Invariant: whose a partition is changes between two batches of admission only.
type node struct {
	cfg      *NodeConfig // nil: the crawl is whole
	told     bool        // the crawl is over everywhere
	leaving  bool        // Leaving was called
	left     bool        // nothing more is to be handed over
	limited  bool        // the limit of all nodes is reached
	short    bool        // Short was called since the last Allow
	enough   int         // URLs begun at which Short is called next
	posted   uint64      // last message that Posted was told of
	activity uint64      // grows with whatever comes from other nodes
	between  []func()    // changes that wait for the batch that is being looked up
	drains   []drain
	untold   untold
	early    []func(*Coordinator) // what came before the frontier was as the job's last run left it
	sharing  sharing
}

// drain waits until nothing of partitions, which are held, is leased.
type drain struct {
	numbers []int
	quiet   func()
}

// untold is what is committed and not yet delivered to the servers.
type untold struct {
	batches   []told // in order
	delivered uint64 // the last message that is, and all before it
}

// told is a committed batch with messages.
type told struct {
	since time.Time // of its first change
	last  uint64    // its last message
}

// add notes that a batch is committed. Its messages may already have been delivered.
func (u *untold) add(now time.Time, b told) {
	if b.last <= u.delivered {
		return
	}
	if u.overdue(now) { // nothing starts until all is delivered: one batch will do
		b.since = u.batches[0].since
		u.batches = u.batches[:0]
	}
	u.batches = append(u.batches, b)
}

// deliver notes that a message and all before it are delivered.
func (u *untold) deliver(last uint64) {
	u.delivered = max(u.delivered, last)
	u.batches = slices.DeleteFunc(u.batches, func(b told) bool { return b.last <= u.delivered })
}

// overdue reports whether a batch has waited so long for its delivery that no fetch may start.
func (u *untold) overdue(now time.Time) bool {
	return len(u.batches) > 0 && now.Sub(u.batches[0].since) > MaxUntold
}

// startNode makes the frontier that of a node.
func (d *Coordinator) startNode() {
	if d.cfg.Node == nil {
		return
	}
	d.node.cfg = d.cfg.Node
	log := &changelog.Log{
		Partition: d.cfg.Frontier.Partition,
		Clock:     func() (job, calendar time.Time) { return d.clock.now(), d.loop.Wall() },
	}
	d.committer.log = log
	d.frontier.SendBy(log.Send)
	d.frontier.Hold(d.clock.now(), d.node.cfg.Held...)
	d.shareAddresses()
}

// fewURLs are so few that their messages are no load for the servers, while other nodes may wait for them.
const fewURLs = 64

// gathers returns how long a commit waits for more.
func (d *Coordinator) gathers() time.Duration {
	if s := d.frontier.Stats(); d.cfg.Node == nil || s.Pending+s.Leased <= fewURLs {
		return commitAfter
	}
	return cmp.Or(d.cfg.Node.Gather, commitAfter)
}

// whenReady runs fn, now or when the frontier is as the job's last run left it.
func (d *Coordinator) whenReady(fn func(*Coordinator)) {
	if !d.ready {
		d.node.early = append(d.node.early, fn)
		return
	}
	fn(d)
}

// joinCrawl begins what other nodes wait for.
func (d *Coordinator) joinCrawl() {
	early := d.node.early
	d.node.early = nil
	for _, fn := range early {
		fn(d)
	}
	d.tellCommitted(d.loop.Now(), nil, nil) // what the last run has left
}

// mayEnd reports whether the crawl is over when nothing is left to do here.
func (n *node) mayEnd() bool { return n.cfg == nil || n.told }

// idleHere reports whether nothing is left to do here, nor to be sent from here: then only a message, or a
// partition, gives the node something to do.
func (d *Coordinator) idleHere() bool {
	waiting, _ := d.cfg.Job.Store.Waiting()
	c := &d.committer
	return d.ready && d.frontier.Over() && d.admission.empty() && !d.seeds.reading && len(d.node.between) == 0 &&
		len(d.node.drains) == 0 && c.open.since.IsZero() && c.began.IsZero() && waiting == 0
}

func (d *Coordinator) activity() (idle bool, n uint64) { return d.idleHere(), d.node.activity }

// end ends the crawl, which is over on all nodes.
func (d *Coordinator) end() {
	d.node.told = true
	d.Dispatch()
}

// allow lets so many URLs be begun in this run, and returns how many were.
func (d *Coordinator) allow(most int) (begun int) {
	begun = d.frontier.Allow(d.clock.now(), most)
	d.node.enough = begun + (most-begun)/2
	d.node.short = false
	d.Dispatch()
	return begun
}

// wantMore calls Short when half of what was left is begun.
func (d *Coordinator) wantMore() {
	n := &d.node
	if n.cfg == nil || n.cfg.Short == nil || n.short || d.frontier.Stats().Pending == 0 || d.frontier.Begun() < n.enough {
		return
	}
	n.short = true
	n.cfg.Short()
}

// reachLimit takes in whether nothing more will be allowed. If so, the crawl ends here unless nothing is pending.
func (d *Coordinator) reachLimit(is bool) {
	d.node.limited = is
	d.Dispatch()
}

// mayLeave reports whether the crawl may end here before it is over. A node hands its partitions over first,
// unless its own disk fails.
func (d *Coordinator) mayLeave() bool {
	n := &d.node
	if n.cfg == nil || n.cfg.Leaving == nil || n.left || d.ending.failure != nil {
		return true
	}
	if !n.leaving {
		n.leaving = true
		n.cfg.Leaving()
	}
	return false
}

// haveLeft ends the crawl here: others have what there was.
func (d *Coordinator) haveLeft() {
	d.node.left = true
	d.drain()
}

// deliver takes in URLs that another node has found. When they are committed, done is called with the last
// message of the outbox by then: once that is delivered, they are as safe as the log.
func (d *Coordinator) deliver(urls []frontier.URL, done func(posted uint64, err error)) {
	d.node.activity++
	seeds := func(yield func(weburl.URL) bool) {
		for i := range urls {
			if (urls[i].From == "" || urls[i].Hops > 0 && d.again.on) && !yield(urls[i].URL) {
				return
			}
		}
	}
	d.admit(urlsOf(urls), seeds, func() {
		for _, u := range urls {
			if !d.frontier.Receive(u) {
				d.received(u)
			}
		}
		d.afterCommit(done)
	})
	d.Dispatch()
}

// afterCommit has fn called when the open batch is committed, or has failed to be.
func (d *Coordinator) afterCommit(fn func(posted uint64, err error)) {
	d.committer.open.after = append(d.committer.open.after, fn)
	d.changed()
}

// tellCommitted tells those who wait for it that a batch is committed, or has failed to be.
func (d *Coordinator) tellCommitted(since time.Time, after []func(uint64, error), err error) {
	if d.node.cfg == nil {
		return
	}
	d.limitOutbox()
	last := d.cfg.Job.Store.Posted()
	for _, fn := range after {
		fn(last, err)
	}
	if n := &d.node; last > n.posted {
		n.posted = last
		n.untold.add(d.loop.Now(), told{since, last})
		if n.cfg.Posted != nil {
			n.cfg.Posted(last, since)
		}
	}
}

// limitOutbox pauses the crawl while too much waits in the outbox: what others do not take in, or the streams
// have no room for, stays on this disk, and is lost with it.
func (d *Coordinator) limitOutbox() {
	most := cmp.Or(d.node.cfg.MaxOutbox, defaultOutbox)
	switch _, bytes := d.cfg.Job.Store.Waiting(); {
	case bytes > most:
		d.Pause(PausedOutbox, true)
	case bytes <= most/2:
		d.Pause(PausedOutbox, false)
	}
}

// delivered removes messages of the outbox that are delivered, with all before them. Those in stay are kept on the disk,
// some as others.
func (d *Coordinator) delivered(all, stay, as []store.Message) {
	d.committer.open.state.Delivered(all...)
	d.committer.open.state.Sent(stay...)
	d.committer.open.state.Rewrite(as...)
	d.changed()
	for _, m := range slices.Concat(all, stay) {
		d.node.untold.deliver(m.ID)
	}
	d.Dispatch()
}

// betweenBatches calls fn when no batch is being looked up.
func (d *Coordinator) betweenBatches(fn func()) {
	d.node.between = append(d.node.between, fn)
	d.admitWaiting()
}

// runBetween runs what has waited for the end of a batch.
func (d *Coordinator) runBetween() {
	waiting := d.node.between
	d.node.between = nil
	for _, fn := range waiting {
		fn()
	}
}

// drainPartitions leases nothing more of partitions, and calls quiet when nothing of them is leased.
func (d *Coordinator) drainPartitions(numbers []int, quiet func()) {
	d.frontier.Hold(d.clock.now(), numbers...)
	d.node.drains = append(d.node.drains, drain{numbers, quiet})
	d.checkDrains()
}

// checkDrains calls those whose partitions are quiet by now.
func (d *Coordinator) checkDrains() {
	var quiet []func()
	d.node.drains = slices.DeleteFunc(d.node.drains, func(w drain) bool {
		is := len(d.frontier.Quiet(w.numbers...)) == len(w.numbers)
		if is {
			quiet = append(quiet, w.quiet)
		}
		return is
	})
	for _, fn := range quiet {
		d.betweenBatches(fn)
	}
}

// stay takes back that partitions are to leave. It reports false if they have left.
func (d *Coordinator) stay(numbers []int) bool {
	n := len(d.node.drains)
	d.node.drains = slices.DeleteFunc(d.node.drains, func(w drain) bool { return slices.Equal(w.numbers, numbers) })
	if len(d.node.drains) == n {
		return false
	}
	d.frontier.Release(d.clock.now(), numbers...)
	d.Dispatch()
	return true
}

// leave gives partitions away: nothing more of them is leased; when nothing is, their URLs go to others,
// what is known of them is committed, and they are forgotten. Then done is called with the last message of
// the outbox by then, or with an error.
func (d *Coordinator) leave(numbers []int, done func(posted uint64, err error)) {
	d.drainPartitions(numbers, func() {
		for _, n := range numbers {
			d.frontier.Disown(n)
			d.committer.open.state.SetPartition(n, store.Left)
		}
		d.afterCommit(func(posted uint64, err error) {
			if err != nil {
				done(0, err)
				return
			}
			d.betweenBatches(func() {
				d.frontier.Forget(numbers...)
				done(posted, nil)
				d.Dispatch()
			})
		})
		d.committer.hurry.Set()
	})
}

// own makes partitions ours that were imported, or of which there is nothing. They are held, and quiet.
func (d *Coordinator) own(numbers []int, done func(posted uint64, err error)) {
	d.betweenBatches(func() {
		d.node.activity++
		for _, n := range numbers {
			d.frontier.Own(d.clock.now(), n, d.cfg.Job.Store.NextSeq())
			d.committer.open.state.SetPartition(n, store.Owned)
		}
		d.afterCommit(done)
		d.committer.hurry.Set()
		d.Dispatch()
	})
}

// mark records the epoch of a partition with the open batch.
func (d *Coordinator) mark(number int, epoch uint64, done func(posted uint64, err error)) {
	d.committer.open.state.SetEpoch(number, epoch)
	d.afterCommit(done)
	d.committer.hurry.Set()
}

// abandonJoin takes in that a partition is not ours after all.
func (d *Coordinator) abandonJoin(number int) {
	d.node.drains = slices.DeleteFunc(d.node.drains, func(w drain) bool { return slices.Equal(w.numbers, []int{number}) })
	d.frontier.Reject(number)
	d.frontier.Release(d.clock.now(), number)
	d.Dispatch()
}

// opening reads what another node has opened: a private network, or a URL that has widened the scope.
func opening(text string) (open func(*Coordinator), err error) {
	if n, err := guard.ParseNetwork(text); err == nil {
		return func(d *Coordinator) { d.acceptNetwork(n) }, nil
	}
	u, err := weburl.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%.100q: expected a network or a URL", text)
	}
	return func(d *Coordinator) { d.open(u) }, nil
}

// fallBackElsewhere has a URL come back as a link: what is promised would be lost with the disk.
func (d *Coordinator) fallBackElsewhere(u frontier.URL) {
	d.open(u.URL)
	d.committer.log.Send(u)
	d.changed()
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
