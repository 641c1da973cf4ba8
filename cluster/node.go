package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/shard/ownership"
	"github.com/weftcrawl/weft/internal/shard/partition"
	"github.com/weftcrawl/weft/internal/shard/sending"
	"github.com/weftcrawl/weft/internal/shard/share"
)

// DefaultPartitions is the number of partitions of a crawl.
const DefaultPartitions = 1024

// ErrOver is returned by Join for a crawl that is over.
var ErrOver = errors.New("the crawl is over")

// node is this process's part in a crawl, until it has left, was cut off for too long, or the crawl
// is over. It passes on what its loop sees: keys of the bucket, and ticks.
//
// Owner: its loop, which run is.
type node struct {
	remote   *remote
	plan     Plan
	began    bool // this process has begun the crawl
	identity identity
	crawler  *crawl.Crawl
	crawl    *engine.Node
	loop     *loop
	aside    aside

	watch     *watch
	lease     *nodeLease
	parts     *partitions
	inbox     *inbox
	outbox    *outbox
	addresses *addresses
	quota     *quota
	orders    *obedience
	end       *endOfCrawl
	shares    *shareNews
	reporter  *reporter
	answers   *answers

	shown bool // all that the bucket had, openings of an earlier process of this node among it
	fate  fate
}

// join makes this process a node of a crawl, which begins if there is none of the name. Nothing is
// fetched before run. What the node measures goes to f.
func join(ctx context.Context, servers *Options, o weft.Options, f *figures) (*node, error) {
	if o.Job == "" || o.Rerun.Update || o.Rerun.Fresh || o.Rerun.RetryFailed != nil {
		return nil, errors.New("a crawl on several machines: expected a job, and neither Update, Fresh nor RetryFailed")
	}
	if o.HTTP.Session != nil {
		return nil, &weft.OptionError{Option: "Session", Err: errors.New("expected none in a crawl on several machines")}
	}
	if r := o.Render.Rendering; r != "" && r != weft.RenderNever {
		return nil, &weft.OptionError{Option: "Rendering", Value: string(r), Err: errors.New("expected never in a crawl on several machines")}
	}
	r, err := dial(ctx, servers)
	if err != nil {
		return nil, err
	}
	n := &node{remote: r}
	if err := n.join(ctx, servers, o, f); err != nil {
		r.servers.close()
		return nil, err
	}
	return n, nil
}

func (n *node) join(ctx context.Context, servers *Options, o weft.Options, f *figures) error {
	found, err := readFolder(o.Job)
	if err != nil {
		return err
	}
	var s *streams
	warnings := newWarnings(n.remote.servers.warn)
	n.aside = aside{n.remote.name, warnings}
	err = n.remote.servers.insist(ctx, func() error {
		s, err = n.attach(ctx, cmp.Or(servers.Partitions, DefaultPartitions), &o)
		return err
	})
	if err != nil {
		return err
	}
	if err := found.was.check(n.plan.ID, o.Job); err != nil {
		return err
	}
	n.parts = &partitions{all: make([]part, n.plan.Partitions)}
	disk, err := n.parts.onDisk(&found)
	if err != nil {
		return err
	}
	n.loop = newLoop(newOperations(ctx))
	cfg, err := o.Config()
	if err != nil {
		return err
	}
	cfg.Job.Plan, cfg.Job.Asked, cfg.Job.Files = n.plan.Options, job.Plan{}, cmp.Or(servers.files, cfg.Job.Files)
	cfg.Node = &crawl.Node{
		Partition: func(host string) int { return partition.Of(host, n.plan.Partitions) },
		Ours:      disk, Engine: n.engineConfig(disk), Whole: n.whole,
	}
	if n.crawler, err = crawl.New(cfg); err != nil {
		return err
	}
	n.crawl = n.crawler.Engine.Node()
	if n.identity, err = found.identify(&n.plan); err != nil {
		return err
	}
	own, err := ownership.New(ownership.Config{
		ID: n.identity.Node, Incarnation: n.identity.Incarnation, Ended: n.identity.ended,
		Partitions: n.plan.Partitions, Beat: n.remote.beat, TTL: beatsOfSilence * n.remote.beat,
	})
	if err != nil {
		return err
	}
	n.assemble(own, servers, s, warnings, f, cmp.Or(o.Memory, weft.DefaultMemory)/32)
	return nil
}

// whole returns the status of the crawl, for a person who looks at this node.
func (n *node) whole(ctx context.Context) (any, error) {
	s, err := (&Client{n.remote}).Status(ctx)
	s.Seeds = nil // they may be millions
	return s, err
}

// attach finds what the crawl has on the servers, or makes it.
func (n *node) attach(ctx context.Context, partitions int, o *weft.Options) (_ *streams, err error) {
	plan, began, err := n.remote.begin(ctx, o, partitions)
	if err != nil {
		return nil, err
	}
	n.plan, n.began = plan, n.began || began
	s, err := n.remote.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := n.remote.whole(ctx); err != nil {
		return nil, err
	}
	switch _, err := s.bucket.Get(ctx, keyOver); {
	case err == nil:
		return nil, fmt.Errorf("crawl %s: %w, expected another name, or weft cluster remove", n.remote.name, ErrOver)
	case !errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, n.remote.servers.refused(err)
	}
	n.quota = &quota{bucket: s.bucket}
	return &s, n.quota.join(ctx, n.remote, n.plan.Limits, o, n.aside)
}

// gathersABeat bounds the commits of a node in a beat: each waits for more, so that what goes to
// others goes in batches.
const gathersABeat = 2

// engineConfig makes the engine that of a node with some partitions on its disk. The engine calls
// these functions on its own loop, when it runs.
func (n *node) engineConfig(disk []int) engine.NodeConfig {
	c := engine.NodeConfig{
		Posted:     func(last uint64, since time.Time) { n.outbox.committed(last, since) },
		Leaving:    func() { n.loop.post(n.quota.leave) },
		Ask:        func(asks []share.Ask, delay time.Duration) { n.loop.post(func() { n.addresses.pass(asks, delay) }) },
		Held:       disk,
		Unreadable: n.aside.block,
		Gather:     n.remote.beat / gathersABeat,
	}
	if n.quota.limits.URLs > 0 {
		c.Short = func() { n.loop.post(n.quota.want) }
	}
	return c
}

// assemble makes the parts of the node. Ahead bounds the bytes of links, and those of logs, that
// are ahead of the engine.
func (n *node) assemble(own *ownership.Node, o *Options, s *streams, w *warnings, f *figures, ahead int) {
	r, l, ops, crawl := n.remote, n.loop, n.loop.ops, n.crawl
	process := processOf(n.identity.Node, n.identity.Incarnation)
	again := &requests{remote: r, warnings: w, ctx: ops.ctx, made: s.made, fail: func(err error) { l.post(func() { n.fate.fail(err) }) }}
	n.end = &endOfCrawl{loop: l, remote: r, streams: s, crawl: crawl, own: own, requests: again, aside: n.aside}
	n.lease = &nodeLease{own: own, loop: l, remote: r, bucket: s.bucket, crawl: crawl, requests: again}
	n.quota.loop, n.quota.crawl, n.quota.lease, n.quota.process = l, crawl, n.lease, process
	n.orders = &obedience{crawl: crawl, busy: n.end.busy}
	n.addresses = newAddresses(l, r, own, crawl, w)
	n.watch = &watch{remote: r, bucket: s.bucket, loop: l, requests: again, seen: newRevision(), see: n.see, shown: n.showAll}

	widened := newRevision()
	logs := newRecorder(r, s, again, n.aside, f, process, widened)
	compactAfter := cmp.Or(o.compactAfter, defaultCompactAfter)
	n.outbox = &outbox{
		loop: newLoop(ops), crawl: crawl, recorder: logs,
		links:  &linkSender{remote: r, bucket: s.bucket, requests: again, widened: widened},
		stream: s.links, figures: f, look: r.beat,
		queue: sending.New(r.beat/gathersABeat, n.plan.Partitions), done: newRevision(),
		grown: func(p int, end *logEnd) {
			if from, due := end.due(compactAfter); due {
				l.post(func() { n.parts.snapshot(p, end, from) })
			}
		},
		delivered: func() { l.post(func() {}) }, // whoever waits for that looks again
	}
	n.inbox = &inbox{
		all:    make([]inflow, n.plan.Partitions),
		remote: r, stream: s.links, loop: l, crawl: crawl, outbox: n.outbox, watch: n.watch, requests: again,
		aside: n.aside, room: newRoom(ahead), busy: n.end.busy,
	}
	n.parts.name, n.parts.loop, n.parts.own, n.parts.inbox, n.parts.outbox, n.parts.requests = r.name, l, own, n.inbox, n.outbox, again
	n.parts.warn, n.parts.busy, n.parts.fail = r.servers.warn, n.end.busy, n.fate.fail
	n.parts.takeover = &takeover{
		remote: r, crawl: crawl, recorder: logs, outbox: n.outbox,
		reader: newLogReader(ops, n.watch, n.plan.Partitions, ahead, n.aside), news: newcomers(ops, crawl), restored: &f.restored,
	}
	n.shares = &shareNews{own: own, parts: n.parts, change: o.OnChange}
	if n.shares.change == nil {
		n.shares.change = func(Share) {}
	}
	n.reporter = &reporter{bucket: s.bucket, crawl: crawl, stats: n.crawler.Stats, node: n.identity, name: nodeName(n.crawler.Job()), figures: f}
	n.answers = &answers{
		remote: r, loop: l, watch: n.watch, orders: n.orders, listed: n.parts.listed, partitions: n.plan.Partitions,
		id: n.identity.Node, job: n.crawler.Job(),
	}
}

// follow crawls until the crawl is over on all nodes, or this one has left or is cut off. Then what
// is in flight is broken off.
func (n *node) follow(ctx context.Context) (weft.Summary, error) {
	defer n.remote.servers.close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ops := n.loop.ops
	stopListening, err := n.listen(ctx)
	if err != nil {
		ops.stop()
		ops.wait()
		return weft.Summary{}, err
	}
	var lost error
	ops.run(func(context.Context) {
		if lost = n.run(); lost != nil {
			stop(lost)
		}
	})
	ops.run(func(ctx context.Context) {
		if err := n.outbox.run(ctx); err != nil {
			n.loop.post(func() { n.fate.fail(fmt.Errorf("crawl %s: %w", n.remote.name, err)) })
		}
	})
	ops.every(n.remote.beat, n.reporter.report)
	stopAnswering := n.answers.listen()
	sum, err := n.crawler.Run(ctx)
	stopAnswering()
	stopListening()
	ops.stop()
	ops.wait()
	last, done := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer done()
	n.reporter.report(last)
	if lost != nil {
		err = lost
	}
	return sum, err
}

// listen has the loop hear what changes in the bucket and what other nodes say, until stop is
// called.
func (n *node) listen(ctx context.Context) (stop func(), err error) {
	if err := n.remote.servers.insist(ctx, n.watch.begin); err != nil {
		return nil, err
	}
	if stop, err = n.addresses.listen(); err == nil {
		err = n.addresses.mayTell(ctx)
	}
	return stop, err
}

// run is the goroutine of the node's loop.
func (n *node) run() error {
	tick := n.remote.beat / 4
	n.lease.own.Busy()
	for next := time.Now().Add(tick); !n.fate.ended; {
		if !n.loop.turn(time.Until(next)) {
			return n.fate.failure
		}
		due := !time.Now().Before(next)
		for ; !time.Now().Before(next); next = next.Add(tick) {
		}
		if n.shown {
			n.step(due)
		}
	}
	if n.fate.failure == nil {
		_ = n.crawl.Left() // it may have ended
	}
	return n.fate.failure
}

// step does what the node has to do now.
func (n *node) step(tick bool) {
	if n.end.over {
		_ = n.crawl.End() // it may have ended
		return
	}
	n.quota.keep(tick)
	for _, o := range n.lease.renew() {
		n.obey(o)
	}
	if n.lease.cutOff() {
		n.fate.fail(fmt.Errorf("crawl %s: %w", n.remote.name, errCutOff))
	}
	n.parts.settle()
	n.addresses.follow(n.watch.seen.now())
	n.inbox.follow()
	if tick {
		n.inbox.acknowledge(false)
		n.parts.removeSpare()
		n.end.ask(n.rest)
		n.shares.tick()
	}
	n.end.judgeEnd()
}

// rest takes in whether the engine is idle, and still is.
func (n *node) rest(idle, still bool) {
	n.quota.unused = idle
	switch {
	case !idle:
	case still && n.parts.atRest() && n.inbox.empty():
		n.end.rest()
	default:
		n.inbox.acknowledge(true) // nothing comes in, and this keeps the node from rest
	}
}

// see takes in what the bucket shows of a key.
func (n *node) see(e jetstream.KeyValueEntry) {
	var value []byte
	if e.Operation() == jetstream.KeyValuePut {
		value = e.Value()
	}
	var err error
	switch key := e.Key(); {
	case strings.HasPrefix(key, keyWidened):
		n.outbox.links.widened.reach(e.Revision()) // links that are found from now on may depend on it
		if err = n.crawl.Open(value); errors.Is(err, engine.ErrEnded) {
			err = nil
		}
	case key == keySeeded:
		n.end.seeded = true
	case key == keyOver:
		n.end.over = true
	case key == keyLimits:
		err = n.quota.see(e.Revision(), e.Value())
	case key == keyOrders:
		err = n.orders.see(e.Revision(), value)
	case key == keyPlan, key == keyProbe, strings.HasPrefix(key, keyStats):
	default:
		err = n.lease.see(e, value)
	}
	if err != nil {
		n.aside.key(e.Key(), err)
	}
}

// showAll takes in that the bucket has shown all that it had.
func (n *node) showAll() {
	n.shown = true
	n.outbox.mayBegin(n.parts.unknown)
}

// obey does what package ownership orders.
func (n *node) obey(o ownership.Order) {
	switch p := o.Partition; o.Kind {
	case ownership.Take:
		n.end.busy()
		n.addresses.take(o)
		n.parts.take(o)
	case ownership.Drain:
		n.parts.drain(p)
	case ownership.Keep:
		n.end.busy()
		n.parts.keep(p)
	case ownership.Drop:
		n.addresses.drop(p)
		n.parts.drop(p)
	case ownership.Pause:
		n.lease.pause()
	case ownership.Resume:
		n.lease.resume()
	case ownership.End:
		n.fate.ended, n.fate.failure = true, nil
		if o.Err != nil {
			n.fate.failure = fmt.Errorf("crawl %s: %w", n.remote.name, o.Err)
		}
	}
}
