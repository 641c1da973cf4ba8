package engine_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/internal/shard/partition"
	"github.com/weftcrawl/weft/internal/shard/sending"
	"github.com/weftcrawl/weft/internal/shard/share"
	"github.com/weftcrawl/weft/internal/webtest"
	"github.com/weftcrawl/weft/robots"
)

const (
	nodePartitions = 16
	nodeGather     = 200 * time.Millisecond // some commits go out as one
)

func nodePartition(host string) int { return partition.Of(host, nodePartitions) }

// nodes is a crawl of several engines on one loop, and what connects them: streams in memory, which
// deliver late, in another order, and twice.
type nodes struct {
	t      *testing.T
	loop   *aio.Loop
	web    *webtest.Web
	rng    *rand.Rand
	all    []*member
	owner  [nodePartitions]*member
	moving [nodePartitions]bool // its owner does not have it yet
	links  map[int]*link        // not acknowledged
	log    [nodePartitions][][]byte
	next   int
	ticks  int

	revision uint64 // of a store that shows who owns what
	epoch    [nodePartitions]uint64
	shares   bool // addresses: their nodes ask one another
}

// link is a message of links.
type link struct {
	partition int
	data      []byte
}

// member is a node.
type member struct {
	*nodes
	name      string
	job       string
	files     *storetest.FS
	ours      []int // partitions of an earlier run
	crawler   *crawl.Crawl
	crawl     *engine.Node
	task      *aio.Task
	dead      bool
	queue     *sending.Queue
	read      uint64          // last message of its outbox that the queue has
	published uint64          // the same, and all before it are sent
	wanted    uint64          // the same, for which somebody waits
	gathered  []time.Duration // time that each commit has gathered changes
	acks      []ack
	sum       weft.Summary
	home      *share.Home
	mute      bool // it publishes nothing for a while
	wants     int  // number of its requests for a turn at an address
}

// ack is a message of links that may be acknowledged when the outbox is published up to a message.
type ack struct {
	posted uint64
	link   int
}

// runNodes crawls a synthetic web with a number of nodes. Play runs beside them; when it has
// returned, the crawl goes on to its end.
func runNodes(t *testing.T, cfg webtest.Config, number int, o weft.Options, play func(*aio.Task, *nodes) error, changes ...func(*crawl.Config)) (*nodes, *webtest.Log) {
	t.Helper()
	web, err := webtest.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	log := webtest.NewLog(nil)
	netw := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: time.Millisecond})
	for i := range web.Hosts() {
		if addr, ok := web.Addr(i); ok {
			netw.Host(web.Name(i), addr.String())
		}
	}
	c := &nodes{
		t: t, web: web, rng: rand.New(rand.NewPCG(cfg.Seed, 4)), links: make(map[int]*link),
		loop: aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: netw}),
	}
	for i := range number {
		c.add(i, o, changes...)
	}
	err = c.loop.Run(t.Context(), func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			g.Go("web", func(task *aio.Task) error { return webtest.NewServer(web, log).Serve(task, ln) })
			defer ln.Close()
			return task.Group(func(g *aio.Group) error {
				for _, m := range c.all {
					m.task = g.Go(m.name, m.run)
				}
				return c.conduct(task, play)
			})
		})
	})
	if err != nil {
		for _, m := range c.all {
			t.Logf("%s: %+v", m.name, m.sum)
		}
		t.Fatal(err)
	}
	return c, log
}

func (c *nodes) add(i int, o weft.Options, changes ...func(*crawl.Config)) {
	m := &member{nodes: c, name: fmt.Sprint("node ", i), job: "/job", files: storetest.New()}
	m.queue = sending.New(nodeGather, nodePartitions)
	m.home = share.NewHome(nodePartitions)
	o.Seeds, o.Reach.Scope, o.Job = []string{c.web.Home(0)}, weft.ScopeAny, m.job
	m.crawler = crawltest.New(c.t, o, func(cfg *crawl.Config) {
		cfg.Node = &crawl.Node{Partition: nodePartition, Engine: engine.NodeConfig{Posted: m.posted}}
		if c.shares = o.Pace.Delay > 0; c.shares { // else there is nothing to be seen of it
			cfg.Node.Engine.Ask = m.askHomes
		}
		for _, change := range changes {
			change(cfg)
		}
		if files, ok := cfg.Job.Files.(*storetest.FS); ok {
			m.files, m.ours = files, c.ownedIn(files)
			for _, p := range m.ours {
				c.owner[p] = m
			}
		}
		cfg.Job.Files, cfg.Node.Ours = m.files, m.ours
	})
	if m.crawl = m.crawler.Engine.Node(); len(m.ours) > 0 {
		// Its outbox may be read before it can be steered.
		m.publish()
	}
	c.all = append(c.all, m)
}

// ownedIn returns the partitions of a job; none if it is new.
func (c *nodes) ownedIn(files *storetest.FS) []int {
	s, err := store.Open("/job", store.Options{FS: files, ReadOnly: true})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		c.t.Fatal(err)
	}
	defer s.Close()
	states, err := s.Partitions()
	if err != nil {
		c.t.Fatal(err)
	}
	for p, it := range states {
		if it.State != store.Owned {
			c.t.Errorf("partition %d is in state %d", p, it.State)
		}
	}
	return slices.Sorted(maps.Keys(states))
}

// run is the task of a node.
func (m *member) run(task *aio.Task) error {
	var err error
	m.sum, err = m.crawler.RunOn(task)
	if m.dead {
		return nil
	}
	return err
}

// off runs something that waits for the loop on a goroutine, while the virtual time goes on.
func off(task *aio.Task, fn func(context.Context) error) error {
	ended, door, ctx := aio.NewFuture[error](task.Loop()), task.Loop().Handle(), task.Context()
	go func() {
		defer door.Close()
		err := fn(ctx)
		_ = door.Post(func() { _ = ended.Set(err) })
	}()
	err, canceled := ended.Await(task)
	return cmp.Or(canceled, err)
}

// still is off for a look that needs no time: until it is over, none passes, however busy the
// machine is.
func still(task *aio.Task, fn func(context.Context) error) error {
	_, err := aio.Offload(task, func(ctx context.Context) (struct{}, error) { return struct{}{}, fn(ctx) })
	return err
}

// conduct gives each node its partitions, and ends the crawl when it is over.
func (c *nodes) conduct(task *aio.Task, play func(*aio.Task, *nodes) error) error {
	if err := task.Sleep(time.Millisecond); err != nil { // they begin
		return err
	}
	for p := range nodePartitions {
		m := c.all[p%len(c.all)]
		if slices.Contains(m.ours, p) {
			c.own(p, m)
		} else if err := c.join(task, p, m); errors.Is(err, engine.ErrEnded) {
			return nil // on a busy machine a limit ends it before
		} else if err != nil {
			return err
		}
	}
	if play != nil {
		if err := play(task, c); err != nil {
			return err
		}
	}
	var before uint64
	for {
		if err := task.Sleep(100 * time.Millisecond); err != nil {
			return err
		}
		first, n, err := c.idle(task)
		if errors.Is(err, engine.ErrEnded) { // it has stopped by itself
			return nil
		}
		if err != nil {
			return err
		}
		if c.ticks++; c.ticks > 3000 {
			for _, m := range c.all {
				var text string
				_ = off(task, func(ctx context.Context) error { text = fmt.Sprintf("%+v", m.crawl.Crawl().Stats()); return nil })
				c.t.Logf("%s: published %d, acks %d: %s", m.name, m.published, len(m.acks), text)
			}
			c.t.Fatalf("no end: idle %t, %d links, activity %d", first, len(c.links), n)
		}
		if over := first && len(c.links) == 0 && n == before; over {
			break
		}
		before = n
	}
	for _, m := range c.all {
		if !m.dead {
			if err := m.crawl.End(); err != nil {
				return err
			}
		}
	}
	return nil
}

// idle reports whether all nodes are idle, and the sum of their activities.
func (c *nodes) idle(task *aio.Task) (all bool, n uint64, err error) {
	all = true
	for _, m := range c.all {
		if m.dead {
			continue
		}
		if err := off(task, func(ctx context.Context) error {
			idle, one, err := m.crawl.Activity(ctx)
			all, n = all && idle, n+one
			return err
		}); err != nil {
			return false, 0, err
		}
	}
	return all, n, nil
}

// posted is called when a node has messages.
func (m *member) posted(last uint64, since time.Time) {
	m.gathered = append(m.gathered, m.loop.Now().Sub(since))
	m.queue.Committed(last, since)
	m.loop.CallLater(20*time.Millisecond, m.publish)
}

// publish publishes messages of a node in phases, as package cluster does. It reads mostly all,
// sometimes some of them.
func (m *member) publish() {
	if m.dead || m.mute {
		return
	}
	all, err := m.crawl.Outbox(m.read, 1<<30)
	if errors.Is(err, store.ErrClosed) {
		return
	}
	if err != nil {
		m.t.Errorf("%s: %v", m.name, err)
		return
	}
	if len(all) > 1 && m.rng.IntN(2) == 0 {
		all = all[:m.rng.IntN(len(all))]
		m.loop.CallLater(10*time.Millisecond, m.publish)
	}
	if m.queue.Add(all...); len(all) > 0 {
		m.read = all[len(all)-1].ID
	}
	phase, wait := m.queue.Next(m.loop.Now(), m.wanted)
	if phase == nil {
		if wait > 0 {
			m.loop.CallLater(wait, m.publish)
		}
		return
	}
	m.send(phase)
	if gone := m.queue.Sent(m.loop.Now()); len(gone) > 0 {
		m.published = gone[len(gone)-1].ID
		_ = m.crawl.Delivered(gone, nil, nil) // a crawl that is over keeps them
	}
	m.acknowledge()
	m.loop.CallSoon(m.publish)
}

// send brings messages to streams, logs and nodes.
func (m *member) send(all []store.Message) {
	for _, msg := range all {
		switch msg.Kind {
		case changelog.Links:
			m.next++
			m.links[m.next] = &link{msg.Partition, msg.Data}
			m.deliver(m.next)
		case changelog.Widened:
			for _, other := range m.all {
				if err := other.crawl.Open(msg.Data); err != nil && !other.dead {
					m.t.Error(err)
				}
			}
		default:
			if m.owner[msg.Partition] != m {
				m.t.Errorf("%s publishes changes of partition %d, which is another's", m.name, msg.Partition)
			}
			m.log[msg.Partition] = append(m.log[msg.Partition], msg.Data)
		}
	}
}

// deliver brings a message of links to the owner of its partition, some twice.
func (c *nodes) deliver(n int) {
	times := 1 + c.rng.IntN(5)/4
	for range times {
		c.loop.CallLater(time.Duration(c.rng.IntN(30))*time.Millisecond, func() {
			l := c.links[n]
			if l == nil || c.owner[l.partition] == nil || c.moving[l.partition] {
				return
			}
			m := c.owner[l.partition]
			err := m.crawl.Deliver(l.data, func(posted uint64, err error) {
				if err != nil {
					c.t.Errorf("%s: %v", m.name, err)
				}
				m.acks = append(m.acks, ack{posted, n})
				m.acknowledge()
			})
			if err != nil && !m.dead && !errors.Is(err, engine.ErrEnded) {
				c.t.Errorf("%s: %v", m.name, err)
			}
		})
	}
}

// acknowledge removes the messages of links of which nothing can be lost any more.
func (m *member) acknowledge() {
	m.acks = slices.DeleteFunc(m.acks, func(a ack) bool {
		is := a.posted <= m.published && !m.dead
		if is {
			delete(m.links, a.link)
		}
		return is
	})
}

// join has a node take over a partition, from the log or from other blocks.
func (c *nodes) join(task *aio.Task, p int, m *member, blocks ...[]byte) error {
	if blocks == nil {
		blocks = c.log[p]
	}
	c.own(p, m)
	c.moving[p] = true
	var all iter.Seq2[[]byte, error] = func(yield func([]byte, error) bool) {
		for _, b := range blocks {
			if !yield(b, nil) {
				return
			}
		}
	}
	if err := off(task, func(ctx context.Context) error {
		_, err := m.crawl.Join(ctx, p, all)
		return err
	}); err != nil {
		return err
	}
	c.moving[p] = false
	for n, l := range c.links {
		if l.partition == p {
			c.deliver(n)
		}
	}
	return nil
}

// until waits for a number of records of a node.
func (c *nodes) until(task *aio.Task, m *member, records int) error {
	for {
		if err := task.Sleep(50 * time.Millisecond); err != nil {
			return err
		}
		done := 0
		if err := still(task, func(context.Context) error { done = m.crawl.Crawl().Stats().Done; return nil }); err != nil || done >= records {
			return err
		}
	}
}

// snapshot is a partition at a moment, and how long its log was then.
type snapshot struct {
	blocks [][]byte
	log    int
}

func (c *nodes) snapshot(task *aio.Task, p int) (s snapshot, err error) {
	s.log = len(c.log[p])
	err = off(task, func(ctx context.Context) error {
		return c.owner[p].crawl.Export(ctx, p, func(block []byte) error {
			s.blocks = append(s.blocks, block)
			return nil
		})
	})
	return s, err
}

// move moves partitions from one node to another.
func (c *nodes) move(task *aio.Task, to *member, snapshots map[int]snapshot, numbers ...int) error {
	from, posted := c.owner[numbers[0]], uint64(0)
	if err := off(task, func(ctx context.Context) (err error) {
		posted, err = from.crawl.Leave(ctx, numbers...)
		return err
	}); err != nil {
		return err
	}
	from.wanted = posted
	from.publish()
	for from.published < posted {
		if err := task.Sleep(10 * time.Millisecond); err != nil {
			return err
		}
	}
	for _, p := range numbers {
		blocks := c.log[p]
		if s, ok := snapshots[p]; ok {
			blocks = slices.Concat(s.blocks, blocks[s.log:])
		}
		if err := c.join(task, p, to, blocks...); err != nil {
			return err
		}
	}
	return off(task, func(ctx context.Context) error { return from.crawl.Drop(ctx, numbers...) })
}

// kill ends a node when it has finished something more, or ten seconds later: nothing of that is
// known to others.
func (c *nodes) kill(task *aio.Task, m *member) error {
	m.dead = true
	for p := range c.owner {
		c.moving[p] = c.moving[p] || c.owner[p] == m
	}
	done := 0
	err := still(task, func(context.Context) error { done = m.crawl.Crawl().Stats().Done; return nil })
	if err == nil {
		err = task.Timeout(10*time.Second, func(task *aio.Task) error { return c.until(task, m, done+1) })
	}
	m.task.Cancel()
	if errors.Is(err, aio.ErrTimeout) {
		err = nil
	}
	return err
}

// records are those of a node.
func (m *member) records() map[string]weft.Record {
	text, err := m.files.ReadFile(m.job + "/pages.jsonl")
	if err != nil {
		m.t.Fatal(err)
	}
	all := make(map[string]weft.Record)
	for line := range bytes.Lines(text) {
		var r weft.Record
		if err := json.Unmarshal(line, &r); err != nil {
			m.t.Fatal(err)
		}
		if _, twice := all[r.URL]; twice {
			m.t.Errorf("%s has two records of %s", m.name, r.URL)
		}
		all[r.URL] = r
	}
	return all
}

// fates are the ends of URLs.
func fates(all map[string]weft.Record) map[string]string {
	fates := make(map[string]string)
	for u, r := range all {
		fates[u] = fmt.Sprint(r.Status, r.ErrorKind, r.Redirect)
	}
	return fates
}

// compareNodes compares what nodes have found with what one has, and returns the URLs that two
// have.
func (c *nodes) compareNodes(t *testing.T, want map[string]weft.Record) (twice []string) {
	t.Helper()
	got := make(map[string]string)
	for _, m := range c.all {
		of := fates(m.records())
		t.Logf("%s has %d records", m.name, len(of))
		for u, fate := range of {
			if _, again := got[u]; again {
				twice = append(twice, u)
			}
			got[u] = fate
		}
	}
	for u, fate := range fates(want) {
		if got[u] != fate {
			t.Errorf("%s: %q, want %q", u, got[u], fate)
		}
		delete(got, u)
	}
	for u, fate := range got {
		t.Errorf("%s: %q, and one node does not find it", u, fate)
	}
	return twice
}

// nodeWeb is a web in which no more than the set of its URLs depends on what comes first.
func nodeWeb(seed uint64) webtest.Config {
	return webtest.Config{Seed: seed, Hosts: 20, Pages: 8, Latency: 20 * time.Millisecond}
}

var nodeOptions = weft.Options{HTTP: weft.HTTP{Timeout: 5 * time.Second}, Keep: weft.Keep{Duplicates: weft.DuplicatesOff}}

// TestTwoNodes: two nodes find what one finds, each URL once.
func TestTwoNodes(t *testing.T) {
	t.Parallel()
	_, want, _ := crawltest.CrawlSynthetic(t, nodeWeb(1), nodeOptions)
	c, _ := runNodes(t, nodeWeb(1), 2, nodeOptions, nil)
	if twice := c.compareNodes(t, want); len(twice) > 0 {
		t.Errorf("two nodes have fetched %q", twice)
	}
	for _, m := range c.all {
		if !m.sum.Finished || m.sum.Pages < 20 {
			t.Errorf("%s: %+v", m.name, m.sum)
		}
	}
	for p, m := range c.owner {
		disk, err := store.Open(m.job, store.Options{FS: m.files, Outputs: []string{"pages.jsonl"}, Partition: nodePartition})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := c.replayed(t, p), contents(t, disk, p); !slices.Equal(got, want) {
			t.Errorf("the log of partition %d leads to %d changes, and the store has %d", p, len(got), len(want))
		}
		if err := disk.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestGather: a node with much to fetch gathers what goes to others, one with little does not:
// others may have nothing else to do.
func TestGather(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hosts    int
		from, to time.Duration // of the longest part of a commit
	}{
		"little": {8, 0, 100 * time.Millisecond},
		"much":   {60, 900 * time.Millisecond, 1100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := nodeOptions
			o.Pace.Delay, o.Limits.Limit = 200*time.Millisecond, 600
			web := webtest.Config{Seed: 1, Hosts: c.hosts, Pages: c.hosts, Clean: true}
			nodes, _ := runNodes(t, web, 1, o, nil, func(c *crawl.Config) { c.Node.Engine.Gather = time.Second })
			all := nodes.all[0].gathered
			if most := slices.Max(all); most < c.from || most > c.to {
				t.Errorf("a commit has gathered for %v, expected %v to %v: %v", most, c.from, c.to, all)
			}
		})
	}
}

// replayed returns what the log of a partition leads to, in an empty store.
func (c *nodes) replayed(t *testing.T, p int) []string {
	t.Helper()
	s, err := store.Open("/other", store.Options{FS: storetest.New(), Partition: nodePartition})
	if err != nil {
		t.Fatal(err)
	}
	b := s.Import()
	for _, block := range c.log[p] {
		if err := changelog.Replay(block, aiotest.Epoch, b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Commit(b); err != nil {
		t.Fatal(err)
	}
	return contents(t, s, p)
}

// contents returns a partition's state in a store, but for the times that depend on the clock of
// the job.
func contents(t *testing.T, s *store.Store, p int) (all []string) {
	t.Helper()
	if err := s.Export(p, &contentOf{all: &all}, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// contentOf is a journal that writes what it is told as bytes.
type contentOf struct {
	frontier.Journal
	all *[]string
}

func (c *contentOf) write(fn func(to frontier.Journal)) {
	e := changelog.NewEncoder(aiotest.Epoch, aiotest.Epoch)
	fn(e)
	*c.all = append(*c.all, string(e.Block()))
}

func (c *contentOf) Pending(u frontier.URL) { c.write(func(to frontier.Journal) { to.Pending(u) }) }

func (c *contentOf) Done(u frontier.URL) {
	u.NotBefore = time.Time{}
	c.write(func(to frontier.Journal) { to.Done(u) })
}

func (c *contentOf) Refused(r frontier.Refusal, _ time.Time) {
	c.write(func(to frontier.Journal) { to.Refused(r, aiotest.Epoch) })
}

func (c *contentOf) Rules(origin string, r robots.Rules) {
	c.write(func(to frontier.Journal) { to.Rules(origin, r) })
}

func (c *contentOf) Origin(o frontier.OriginState) {
	kept := frontier.OriginState{
		Name: o.Name, Pending: o.Pending, Tried: o.Tried, Answered: o.Answered, Capped: o.Capped, Seed: o.Seed,
		Took: o.Took, Best: o.Best, Most: o.Most, Responded: o.Responded,
	}
	c.write(func(to frontier.Journal) { to.Origin(kept) })
}

// TestNodeRestarted: a node that ends early and begins again has its partitions, and sends what it
// has not sent before.
func TestNodeRestarted(t *testing.T) {
	t.Parallel()
	web := nodeWeb(1)
	web.Rates.Flaky, web.Rates.ShyRobots = -1, -1 // the second server counts anew
	_, want, _ := crawltest.CrawlSynthetic(t, web, nodeOptions)
	o := nodeOptions
	disk := storetest.New()
	on := func(c *crawl.Config) { c.Job.Files = disk }
	first, _ := runNodes(t, web, 1, o, func(task *aio.Task, c *nodes) error {
		defer c.all[0].crawler.Drain()
		return c.until(task, c.all[0], 40)
	}, on)
	if m := first.all[0]; !m.sum.Interrupted || m.sum.Finished {
		t.Fatalf("%+v", m.sum)
	}
	second, _ := runNodes(t, web, 1, o, nil, on)
	if m := second.all[0]; !m.sum.Finished || m.sum.Runs != 2 {
		t.Errorf("%+v", m.sum)
	}
	second.compareNodes(t, want)
	ended := make(map[string]bool)
	for p := range nodePartitions {
		for _, block := range slices.Concat(first.log[p], second.log[p]) {
			if err := changelog.Replay(block, aiotest.Epoch, &endings{ended: ended}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(ended) != len(want) {
		t.Errorf("%d URLs have ended in the log, expected %d", len(ended), len(want))
	}
}

// TestOutboxReadEarly: what a run has left in its outbox may be delivered before the next one knows
// of it, which then does not wait for that.
func TestOutboxReadEarly(t *testing.T) {
	t.Parallel()
	o := nodeOptions
	o.Pace.Delay = 2 * engine.MaxUndelivered // nothing else is delivered by then
	disk := storetest.New()
	on := func(c *crawl.Config) { c.Job.Files = disk }
	first, _ := runNodes(t, nodeWeb(1), 1, o, func(task *aio.Task, c *nodes) error {
		defer c.all[0].crawler.Drain()
		c.all[0].mute = true
		return task.Sleep(engine.MaxUndelivered)
	}, on)
	if m := first.all[0]; !m.sum.Interrupted {
		t.Fatalf("%+v", m.sum)
	}
	second, _ := runNodes(t, nodeWeb(1), 1, o, nil, on)
	if m := second.all[0]; !m.sum.Finished {
		t.Errorf("%+v", m.sum)
	}
}

// TestMovingPartitions: partitions move in the middle of a crawl, one of them forth and back, some
// by a snapshot and what the log has since; hosts, fingerprints and queues are in memory, or mostly
// on disk.
func TestMovingPartitions(t *testing.T) {
	t.Parallel()
	o := nodeOptions
	o.Pace.Delay = 100 * time.Millisecond
	_, want, _ := crawltest.CrawlSynthetic(t, nodeWeb(2), o)
	for name, changes := range map[string][]func(*crawl.Config){"in memory": nil, "on disk": {crawltest.Crowded(2)}} {
		c, log := runNodes(t, nodeWeb(2), 2, o, func(task *aio.Task, c *nodes) error {
			if err := c.until(task, c.all[0], 10); err != nil {
				return err
			}
			snapshots := make(map[int]snapshot)
			for _, p := range []int{0, 2, 4} {
				s, err := c.snapshot(task, p)
				if err != nil {
					return err
				}
				snapshots[p] = s
			}
			if err := c.until(task, c.all[0], 20); err != nil {
				return err
			}
			if err := c.move(task, c.all[1], snapshots, 0, 2, 4, 6); err != nil {
				return err
			}
			if err := c.until(task, c.all[1], 30); err != nil {
				return err
			}
			if err := c.move(task, c.all[0], nil, 1, 2); err != nil {
				return err
			}
			return c.move(task, c.all[1], nil, 2)
		}, changes...)
		if twice := c.compareNodes(t, want); len(twice) > 0 {
			t.Errorf("%s: two nodes have fetched %q", name, twice)
		}
		for host, m := range webtest.Judge(slices.Values(log.Requests())).Hosts {
			if m.Requests > 1 && m.SmallGap < o.Pace.Delay {
				t.Errorf("%s: %s was asked again after %v", name, host, m.SmallGap)
			}
		}
		for addr, m := range log.Politeness().Addresses {
			if m.Requests > 1 && m.SmallGap < o.Pace.Delay {
				t.Errorf("%s: %v was asked again after %v", name, addr, m.SmallGap)
			}
		}
	}
}

// TestNodeKilled: a node is killed, and its disk is lost. The other goes on from a snapshot and the
// log: nothing is missing, and only what was finished but not in the log is fetched again.
func TestNodeKilled(t *testing.T) {
	t.Parallel()
	again, logged := 0, 0
	for seed := uint64(0); seed < 3 || again == 0 && seed < 10; seed++ {
		_, want, _ := crawltest.CrawlSynthetic(t, nodeWeb(3+seed), nodeOptions)
		ended := make(map[string]bool) // in the log when the node was killed
		c, _ := runNodes(t, nodeWeb(3+seed), 2, nodeOptions, func(task *aio.Task, c *nodes) error {
			if err := c.until(task, c.all[0], 15); err != nil {
				return err
			}
			s, err := c.snapshot(task, 0)
			if err != nil {
				return err
			}
			if err := c.until(task, c.all[0], 30+10*int(seed%3)); err != nil {
				return err
			}
			if err := c.kill(task, c.all[0]); err != nil {
				return err
			}
			for p := range nodePartitions {
				if !c.moving[p] {
					continue
				}
				for _, block := range c.log[p] {
					if err := changelog.Replay(block, time.Now(), &endings{ended: ended}); err != nil {
						return err
					}
				}
				blocks := c.log[p]
				if p == 0 {
					blocks = slices.Concat(s.blocks, blocks[s.log:])
				}
				if err := c.join(task, p, c.all[1], blocks...); err != nil {
					return err
				}
			}
			return nil
		})
		twice := c.compareNodes(t, want)
		for _, u := range twice {
			if ended[u] {
				t.Errorf("%s was in the log, and is fetched again", u)
			}
		}
		again, logged = again+len(twice), logged+len(ended)
	}
	if logged < 20 {
		t.Errorf("%d URLs were in the log when the node was killed", logged)
	}
	if again == 0 {
		t.Error("nothing was finished and not in the log")
	}
}

// TestOutboxFull: while nobody takes the messages of a node, it stops fetching, says why, and goes
// on when they are delivered: when they are too many, or when the first is too old.
func TestOutboxFull(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		most int64
		soon time.Duration // so long after the first of them, it fetches nothing
	}{"too many": {128, engine.MaxUndelivered / 2}, "too old": {1 << 30, 2 * engine.MaxUndelivered}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := nodeOptions
			o.Pace.Delay = time.Second
			cfg := nodeWeb(1)
			cfg.Clean = true // else what comes of a host may depend on when it is asked
			_, want, _ := crawltest.CrawlSynthetic(t, cfg, o)
			c, _ := runNodes(t, cfg, 2, o, func(task *aio.Task, c *nodes) error {
				for _, m := range c.all {
					m.crawl.SetMaxOutbox(tt.most)
				}
				m := c.all[0]
				if err := c.until(task, m, 10); err != nil {
					return err
				}
				m.mute = true
				var before weft.Stats
				var waiting []store.Message
				look := func() (err error) {
					if err = task.Sleep(100 * time.Millisecond); err == nil {
						before, waiting, err = m.outbox(task)
					}
					return err
				}
				// When the next message comes depends on where the crawl is.
				late := time.Minute
				for spent := time.Duration(0); spent < late && (len(before.Paused) == 0 || before.InFlight > 0); spent += 100 * time.Millisecond {
					if err := look(); err != nil {
						return err
					}
					if len(waiting) > 0 {
						late = min(late, spent+tt.soon)
					}
				}
				// It may have fetched all that it knows: then the other node gives it more.
				for spent := time.Duration(0); spent < time.Minute && before.Pending == 0; spent += 100 * time.Millisecond {
					if err := look(); err != nil {
						return err
					}
				}
				bytes := int64(0)
				for _, msg := range waiting {
					bytes += int64(len(msg.Data))
				}
				if !slices.Equal(before.Paused, []string{engine.PausedOutbox}) || before.InFlight > 0 || before.Pending == 0 {
					t.Errorf("paused by %q, %d in flight, %d pending", before.Paused, before.InFlight, before.Pending)
				}
				if bytes == 0 || bytes > 32*tt.most {
					t.Errorf("%d bytes wait, expected little more than %d", bytes, tt.most)
				}
				if err := task.Sleep(time.Minute); err != nil {
					return err
				}
				if after, _, err := m.outbox(task); err != nil || after.Done != before.Done {
					t.Errorf("%d done after a minute, %d before: %v", after.Done, before.Done, err)
				}
				m.mute = false
				m.publish()
				return nil
			})
			if twice := c.compareNodes(t, want); len(twice) > 0 {
				t.Errorf("two nodes have fetched %q", twice)
			}
		})
	}
}

// outbox returns how far a node is, and what it has not published.
func (m *member) outbox(task *aio.Task) (s weft.Stats, waiting []store.Message, err error) {
	err = still(task, func(context.Context) (err error) {
		s = m.crawl.Crawl().Stats()
		waiting, err = m.crawl.Outbox(m.published, 1<<30)
		return err
	})
	return s, waiting, err
}

// endings is a journal that takes the URLs that have ended.
type endings struct {
	frontier.Journal
	ended map[string]bool
}

func (e *endings) Done(u frontier.URL) { e.ended[u.URL.String()] = true }

func (e *endings) Refused(r frontier.Refusal, _ time.Time) { e.ended[r.URL.URL.String()] = true }

func (e *endings) Pending(frontier.URL) {}

func (e *endings) Retried(frontier.URL, frontier.QueueKey) {}

func (e *endings) Variants(string, [16]byte, int) {}

func (e *endings) OverLimit(string) {}

func (e *endings) Rules(string, robots.Rules) {}

func (e *endings) Origin(frontier.OriginState) {}
