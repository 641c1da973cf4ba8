package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/shard/ownership"
	"github.com/weftcrawl/weft/internal/shard/partition"
	"github.com/weftcrawl/weft/internal/shard/share"
	"github.com/weftcrawl/weft/internal/tuning"
)

// DefaultPartitions is how many partitions a crawl has.
const DefaultPartitions = 1024

// PausedLease is why a node starts no fetch that could not renew its lease.
const PausedLease = "its lease is not renewed, and other nodes may take its hosts"

// ErrOver is returned by Join for a crawl that is over.
var ErrOver = errors.New("the crawl is over")

// node is this process's part in a crawl, until it has left, was cut off for too long, or the crawl is over.
//
// Owner: one goroutine, that of run; others leave it functions in the mailbox. A partition's operations
// run on goroutines of their own, one after another.
type node struct {
	*Client
	plan    Plan
	bucket  jetstream.KeyValue
	streams streams
	crawler *weft.Crawler
	crawl   *engine.Node
	dir     identity
	mail    mailbox
	ops     sync.WaitGroup
	outbox  *outbox
	figures *figures
	news    gatherer  // partitions that nobody has had before
	logs    logReader // of partitions that others have had
	ctx     context.Context
	stop    context.CancelCauseFunc

	sight
	own       *ownership.Node
	parts     []part
	addresses addresses
	told      told
	reader    reader
	end       endOfCrawl
	unknown   int // partitions on the disk of which it is not known yet whose they are
	lapse     lapse
	ended     ended
}

// sight is what the node sees of the bucket, and what it has seen anywhere that cannot be read.
type sight struct {
	watch  jetstream.KeyWatcher
	seen   revision // up to which the watch has come
	orders obedience
	aside  aside
}

// ended is how the node has ended.
type ended struct {
	is bool
	by error
}

// streams are those of the crawl.
type streams struct {
	links, log jetstream.Stream
	verifier   verifier
}

// lapse is a pause because the lease was not renewed.
type lapse struct {
	since time.Duration // 0: there is none
	holds atomic.Bool   // the same, for the coordinator
	why   error         // the last beat could not be written; nil: nothing is known of it yet
}

// join makes this process a node of a crawl, which begins if there is none of the name. Nothing is fetched
// before run.
func join(ctx context.Context, servers Options, o weft.Options) (*node, error) {
	c, err := Dial(ctx, servers)
	if err != nil {
		return nil, err
	}
	n, err := c.join(ctx, o)
	if err != nil {
		c.Close()
		return nil, err
	}
	return n, nil
}

func (c *Client) join(ctx context.Context, o weft.Options) (*node, error) {
	if o.Job == "" || o.Update || o.Fresh || o.RetryFailed != nil {
		return nil, errors.New("a crawl on several machines: expected a job, and neither Update, Fresh nor RetryFailed")
	}
	n := &node{Client: c, figures: new(figures)}
	memory := cmp.Or(o.Memory, weft.DefaultMemory)
	n.logs.room, n.reader.room = newRoom(memory/32), newRoom(memory/32)
	n.logs.gather = c.beat / 8
	found, err := readFolder(o.Job)
	if err != nil {
		return nil, err
	}
	if err := c.insist(ctx, func() error { return n.attach(ctx, &o) }); err != nil {
		return nil, err
	}
	if err := found.was.of(n.plan.ID, o.Job); err != nil {
		return nil, err
	}
	n.parts = make([]part, n.plan.Partitions)
	disk, err := n.onDisk(&found)
	if err != nil {
		return nil, err
	}
	n.mail.wake = make(chan struct{}, 1)
	n.seen.changed = make(chan struct{})
	n.outbox = newOutbox(n)
	tuned := tuning.Options{}
	if o.Tuning != nil {
		tuned = *o.Tuning
	}
	tuned.Plan, tuned.Ours = &n.plan.Options, disk
	tuned.Node = &engine.NodeConfig{Posted: n.outbox.committed, Leaving: n.leave, Ask: n.askHomes, Held: disk, Unreadable: n.setBlockAside, Gather: c.beat / gathersABeat}
	if n.end.quota.URLs > 0 {
		tuned.Node.Short = n.wants
	}
	tuned.Partition = func(host string) int { return partition.Of(host, n.plan.Partitions) }
	tuned.OnCrawl = func(crawl *engine.Crawl) { n.crawl = crawl.Node() }
	o.Tuning = &tuned
	if n.crawler, err = weft.New(o); err != nil {
		return nil, err
	}
	if n.dir, err = n.identify(&found); err != nil {
		return nil, err
	}
	n.own, err = ownership.New(ownership.Config{
		ID: n.dir.Node, Incarnation: n.dir.Incarnation, Ended: n.dir.ended, Partitions: n.plan.Partitions, Beat: c.beat, TTL: beatsOfSilence * c.beat,
	})
	if err == nil {
		n.addresses = addresses{home: share.NewHome(n.plan.Partitions), out: make(map[ownership.Owner]*share.Message), homes: make([]uint64, n.plan.Partitions)}
	}
	return n, err
}

// attach finds what the crawl has on the servers, or makes it.
func (n *node) attach(ctx context.Context, o *weft.Options) (err error) {
	if n.plan, err = n.begin(ctx, o, cmp.Or(n.partitions, DefaultPartitions)); err != nil {
		return err
	}
	if n.bucket, err = n.js.KeyValue(ctx, n.layout.bucket()); err != nil {
		return n.refused(err)
	}
	if err := n.openStreams(ctx); err != nil {
		return err
	}
	if err := n.restored(ctx); err != nil {
		return err
	}
	switch _, err := n.bucket.Get(ctx, keyOver); {
	case err == nil:
		return fmt.Errorf("crawl %s: %w, expected another name, or weft cluster remove", n.layout, ErrOver)
	case !errors.Is(err, jetstream.ErrKeyNotFound):
		return n.refused(err)
	}
	return n.joinLimits(ctx, o)
}

// gathersABeat is how many commits a node makes in a beat, at most: each waits for more, so that what goes to
// others goes in batches.
const gathersABeat = 2

// errCutOff is why a node ends whose lease was not renewed for so long that what it has in flight may soon be
// another's to fetch.
var errCutOff = errors.New("this node was cut off from the servers for too long")

// errLate is why a lease was not renewed when no request has failed.
var errLate = errors.New("the servers have not answered yet")

// leave hands the node's partitions over to others. Then its crawl ends.
func (n *node) leave() { n.mail.post(func() { n.end.quota.leaves = true }) }

// follow crawls until the crawl is over on all nodes, or this one has left or is cut off. Then what is in
// flight is broken off.
func (n *node) follow(ctx context.Context) (weft.Summary, error) {
	defer n.Close()
	ctx, n.stop = context.WithCancelCause(ctx)
	defer n.stop(nil)
	inner, stopAll := context.WithCancel(context.WithoutCancel(ctx))
	n.ctx = inner
	if err := n.insist(ctx, func() (err error) {
		if n.watch, err = n.bucket.WatchAll(inner); err != nil {
			err = n.refused(err)
		}
		return err
	}); err != nil {
		stopAll()
		return weft.Summary{}, err
	}
	stopHearing, err := n.hearAddresses()
	if err == nil {
		err = n.mayTell(ctx)
	}
	if err != nil {
		stopAll()
		return weft.Summary{}, err
	}
	lost := make(chan error, 1)
	n.ops.Go(func() { lost <- n.run() })
	n.ops.Go(func() {
		if err := n.outbox.run(inner); err != nil {
			n.mail.post(func() { n.fail(fmt.Errorf("crawl %s: %w", n.layout, err)) })
		}
	})
	n.ops.Go(n.reports)
	stopAnswering := n.answering()
	sum, err := n.crawler.Run(ctx)
	stopAnswering()
	stopHearing()
	stopAll()
	n.ops.Wait()
	endWatch(n.watch)
	last, done := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer done()
	n.report(last, n.crawler.Stats())
	if failure := <-lost; failure != nil {
		err = failure
	}
	return sum, err
}

// run is the node's goroutine.
func (n *node) run() error {
	tick := time.NewTicker(n.beat / 4)
	defer tick.Stop()
	updates := n.watch.Updates()
	shown := false // all that the bucket had, openings of an earlier process of this node among it
	n.own.Busy()
	for !n.ended.is {
		asks := false
		select {
		case e, ok := <-updates:
			for there := true; there; {
				switch {
				case !ok: // a watch may end while the servers choose who answers for the bucket
					updates = nil
					n.ops.Go(func() { n.watchAgain(func() { updates = n.watch.Updates() }) })
				case e == nil:
					shown = true
					n.outbox.mayBegin(n.unknown)
				default:
					n.see(e)
				}
				select {
				case e, ok = <-updates:
				default:
					there = false
				}
			}
		case <-n.mail.wake:
			for _, fn := range n.mail.take() {
				fn()
			}
		case <-tick.C:
			asks = true
		case <-n.ctx.Done():
			return n.ended.by
		}
		if shown {
			n.turn(asks)
		}
	}
	if n.ended.by != nil {
		n.stop(n.ended.by)
		return n.ended.by
	}
	_ = n.crawl.Left() // it may have ended
	return nil
}

// watchAgain watches the bucket again, and has the node's goroutine call then.
func (n *node) watchAgain(then func()) {
	_ = n.outbox.retry(n.ctx, func(context.Context) error { // a node that ends needs none
		watch, err := n.bucket.WatchAll(n.ctx)
		if err == nil {
			n.mail.post(func() {
				n.watch = watch
				then()
			})
		}
		return err
	})
}

// endWatch ends a watch. It may have something to show that nobody waits for.
func endWatch(watch jetstream.KeyWatcher) {
	_ = watch.Stop() // the connection may be gone
	go func() {
		for range watch.Updates() {
		}
	}()
}

// reports reports now and then, until the node ends.
func (n *node) reports() {
	tick := time.NewTicker(n.beat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			n.report(n.ctx, n.crawler.Stats())
		case <-n.ctx.Done():
			return
		}
	}
}

// turn does what the node has to do now.
func (n *node) turn(asks bool) {
	if n.end.over {
		_ = n.crawl.End() // it may have ended
		return
	}
	n.keepLimits(asks)
	writes, orders := n.own.Tick(now())
	for _, w := range writes {
		n.ops.Go(func() { n.write(w) })
	}
	for _, o := range orders {
		n.obey(o)
	}
	if n.lapse.since > 0 && now()-n.lapse.since > n.beat {
		n.fail(fmt.Errorf("crawl %s: %w", n.layout, errCutOff))
	}
	if n.unknown > 0 {
		n.settle()
	}
	n.followAddresses()
	n.reader.follow(n)
	if asks {
		n.acknowledge(false)
		n.spared()
		n.askIdle()
		if n.told.ticks++; n.told.ticks%4 == 0 {
			n.share()
		}
	}
	n.judgeEnd()
}

// see takes in what the bucket shows of a key.
func (n *node) see(e jetstream.KeyValueEntry) {
	var value []byte
	if e.Operation() == jetstream.KeyValuePut {
		value = e.Value()
	}
	switch key := e.Key(); {
	case strings.HasPrefix(key, keyOpened):
		n.outbox.opened.reach(e.Revision()) // links that are found from now on may depend on it
		if err := n.crawl.Open(value); err != nil && !errors.Is(err, engine.ErrEnded) {
			n.setKeyAside(key, err)
		}
	case key == keySeeded:
		n.end.seeded = true
	case key == keyOver:
		n.end.over = true
	case key == keyLimits:
		if err := n.seeLimits(e); err != nil {
			n.setKeyAside(key, err)
		}
	case key == keyOrders:
		if err := n.seeOrders(e.Revision(), value); err != nil {
			n.setKeyAside(key, err)
		}
	case key == keyPlan, key == keyProbe, strings.HasPrefix(key, keyStats):
	default:
		if err := n.own.See(now(), ownership.Entry{Key: key, Value: value, Revision: e.Revision()}); err != nil {
			n.setKeyAside(key, err)
		}
	}
	n.seen.reach(e.Revision())
}

// write writes a key for package ownership, if it is as that expects it.
func (n *node) write(w ownership.Write) {
	revision, err := n.put(w)
	if err != nil {
		n.verify()
	}
	n.mail.post(func() {
		if err == nil {
			err = n.own.Wrote(now(), w, revision)
		}
		if err != nil {
			n.lapse.why = n.refused(err)
			n.own.Failed(now(), w)
		}
	})
}

func (n *node) put(w ownership.Write) (uint64, error) {
	ctx, cancel := context.WithTimeout(n.ctx, requestTimeout)
	defer cancel()
	if w.Expected == 0 {
		return n.bucket.Create(ctx, w.Key, w.Value)
	}
	return n.bucket.Update(ctx, w.Key, w.Value, w.Expected)
}

// obey does what package ownership orders.
func (n *node) obey(o ownership.Order) {
	switch p := o.Partition; o.Kind {
	case ownership.Take:
		n.wake()
		n.addresses.home.Own(now(), p, o.Epoch, o.Before == 0)
		n.take(o)
	case ownership.Drain:
		n.drain(p)
	case ownership.Keep:
		n.wake()
		n.callOff(p)
		epoch := n.own.Epoch(p)
		n.take(ownership.Order{Kind: ownership.Take, Partition: p, Epoch: epoch, Before: epoch, Mine: true})
	case ownership.Drop:
		n.addresses.home.Disown(p)
		n.drop(p)
	case ownership.Pause, ownership.Resume:
		n.pause(o.Kind == ownership.Pause)
	case ownership.End:
		n.ended = ended{true, o.Err}
		if o.Err != nil {
			n.ended.by = fmt.Errorf("crawl %s: %w", n.layout, o.Err)
		}
	}
}

// wake says that the node has work, before it has it.
func (n *node) wake() {
	n.end.busy++
	n.own.Busy()
}

func (n *node) pause(on bool) {
	n.lapse.since = 0
	if on {
		n.lapse.since = now()
	}
	n.lapse.holds.Store(on)
	n.ops.Go(func() { // whichever comes last to the coordinator says what holds now
		_ = n.crawl.Crawl().Ask(n.ctx, func(d *engine.Coordinator) { d.Pause(PausedLease, n.lapse.holds.Load()) }) // a crawl that is over fetches nothing
	})
	if on {
		n.ops.Go(func() { n.verify() })
		n.warn(fmt.Errorf("no fetch starts until this node's lease is renewed: %w", cmp.Or(n.lapse.why, errLate)))
	} else {
		n.lapse.why = nil
		n.warn(errors.New("the lease is renewed: the crawl goes on"))
	}
}

// mostData is how much data a message may have.
func (c *Client) mostData() int { return int(c.conn.MaxPayload()) - 1024 } // for the header

// fail ends the node. What it has not finished is for others.
func (n *node) fail(err error) {
	if !n.ended.is {
		n.ended = ended{true, err}
	}
}
