package ending_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/shard/ending"
	"github.com/weftcrawl/weft/internal/shard/ownership"
	"github.com/weftcrawl/weft/internal/shard/shardtest"
)

const ttl = 10 * time.Second

// crawl is a crawl of many nodes: URLs are numbers, and URL u is in partition u modulo the number
// of partitions. Nodes keep nothing when they die.
type crawl struct {
	t *testing.T
	*shardtest.World
	partitions  int
	links       [][]int // by URL
	streams     []stream
	logs        []log
	incarnation uint64
	fetched     int
	lazy        time.Duration // the longest that nodes wait before they receive
	over        bool
	workers     map[*shardtest.Process]*worker
}

// stream is the links to a partition that nodes have sent. A message is pending until it is
// acknowledged.
type stream struct{ messages []message }

type message struct {
	url   int
	acked bool
}

// log is the change log of a partition: it takes appends of the epoch that was opened last.
type log struct {
	epoch       uint64
	found, done map[int]bool
}

// worker is a process's work for the crawl.
type worker struct {
	*shardtest.Process
	c        *crawl
	judge    ending.Judge
	parts    map[int]*share
	open     commit // being filled
	outbox   []*shipment
	taken    map[ref]bool // messages that were taken in, and are not known to be acknowledged
	fetching map[int]bool
}

// share is a partition that a worker has.
type share struct {
	part    int
	epoch   uint64
	started bool
	lost    bool // another has it now
	drains  bool
	seen    map[int]bool
	pending map[int]bool
}

// ref is the place of a message in the stream of a partition that a worker has.
type ref struct {
	*share
	at int
}

// fact is a URL of a partition that a worker has.
type fact struct {
	*share
	url int
}

// commit is a batch of changes that are committed at once.
type commit struct {
	links       []int
	found, done []fact
	acks        []ref
}

func (c *commit) work() bool  { return len(c.links)+len(c.found)+len(c.done) > 0 }
func (c *commit) empty() bool { return !c.work() && len(c.acks) == 0 }

// shipment is a part of a commit that goes out at once. A commit is two: links and what was found;
// and when streams and logs have these, what is done, and acknowledgements. The first may wait for
// the next commit, which then goes out as one with it. The second waits for the first of the next
// commit, and goes with it.
type shipment struct {
	commit
	lingers bool // it waits for more
	sent    bool
	waits   int
}

func newCrawl(t *testing.T, seed uint64, partitions, urls int, network shardtest.Network) *crawl {
	c := &crawl{
		t: t, World: shardtest.New(seed, network), partitions: partitions, links: make([][]int, urls),
		streams: make([]stream, partitions), logs: make([]log, partitions), workers: make(map[*shardtest.Process]*worker),
	}
	for i := range c.logs {
		c.logs[i] = log{found: make(map[int]bool), done: make(map[int]bool)}
	}
	for u := range c.links { // a long chain with a few side links
		if u+1 < urls {
			c.links[u] = append(c.links[u], u+1)
		}
		for range c.Rand.IntN(3) {
			c.links[u] = append(c.links[u], c.Rand.IntN(urls))
		}
	}
	c.streams[0].messages = append(c.streams[0].messages, message{url: 0}) // the seed
	return c
}

func (c *crawl) start(id string, ended uint64) *worker {
	c.t.Helper()
	c.incarnation++
	w := &worker{
		c: c, parts: make(map[int]*share), taken: make(map[ref]bool), fetching: make(map[int]bool),
	}
	p, err := c.Start(ownership.Config{ID: id, Incarnation: c.incarnation, Ended: ended, Partitions: c.partitions}, func(_ *shardtest.Process, o ownership.Order) { w.obey(o) })
	if err != nil {
		c.t.Fatal(err)
	}
	w.Process, c.workers[p] = p, w
	w.every(50*time.Millisecond, w.fetch)
	w.every(50*time.Millisecond, w.commit)
	w.every(c.lazy, w.receive)
	w.every(100*time.Millisecond, w.ask)
	return w
}

// every calls a function again and again, at times that vary.
func (w *worker) every(d time.Duration, do func()) {
	w.After(w.c.UpTo(2*d), func() {
		do()
		w.every(d, do)
	})
}

func (w *worker) obey(o ownership.Order) {
	s := w.parts[o.Partition]
	switch o.Kind {
	case ownership.Take:
		w.Node.Busy()
		s = &share{part: o.Partition, epoch: o.Epoch}
		w.parts[o.Partition] = s
		w.restore(o.Partition, s)
	case ownership.Drain:
		s.drains = true
	case ownership.Keep:
		s.drains = false
	case ownership.Drop:
		s.lost = true
		delete(w.parts, o.Partition)
		maps.DeleteFunc(w.taken, func(r ref, _ bool) bool { return r.share == s })
	case ownership.End:
		if errors.Is(o.Err, ownership.ErrDead) {
			w.c.After(w.c.UpTo(time.Second), func() { w.c.start(w.Config.ID, w.Config.Incarnation) })
		}
	}
	w.rest()
}

// restore opens the log of a partition, reads it, and starts the partition.
func (w *worker) restore(part int, s *share) {
	l := &w.c.logs[part]
	var found, done map[int]bool
	w.Call(func() bool {
		if s.lost = l.epoch > s.epoch; s.lost {
			return false
		}
		l.epoch, found, done = s.epoch, maps.Clone(l.found), maps.Clone(l.done)
		return true
	}, func(ok bool) {
		if w.parts[part] != s || s.lost {
			return
		}
		if !ok {
			w.restore(part, s)
			return
		}
		s.seen, s.pending = found, maps.Clone(found)
		maps.DeleteFunc(s.pending, func(u int, _ bool) bool { return done[u] })
		w.After(w.c.UpTo(time.Second), func() {
			if w.parts[part] == s {
				s.started = true
				w.Node.Started(part, s.epoch)
				w.rest()
			}
		})
	})
}

// acts reports whether the worker may do something for a partition now.
func (w *worker) acts(part int) bool { return w.parts[part] != nil && w.Node.Acts(w.Clock(), part) }

// fetch begins to fetch a URL.
func (w *worker) fetch() {
	for _, part := range slices.Sorted(maps.Keys(w.parts)) {
		s := w.parts[part]
		for _, u := range slices.Sorted(maps.Keys(s.pending)) {
			if w.acts(part) && !s.drains && !w.fetching[u] {
				w.fetching[u] = true
				w.After(w.c.UpTo(200*time.Millisecond), func() { w.fetched(u, s) })
				return
			}
		}
	}
}

func (w *worker) fetched(u int, s *share) {
	delete(w.fetching, u)
	part := u % w.c.partitions
	if w.parts[part] == s && w.acts(part) {
		w.c.fetched++
		delete(s.pending, u)
		w.open.done = append(w.open.done, fact{s, u})
		for _, v := range w.c.links[u] {
			if to := w.parts[v%w.c.partitions]; to == nil || !to.started || to.drains {
				w.open.links = append(w.open.links, v)
			} else {
				w.find(v, to)
			}
		}
	}
	w.rest()
}

// find adds a URL to a partition of the worker's.
func (w *worker) find(u int, s *share) {
	if !s.seen[u] {
		s.seen[u], s.pending[u] = true, true
		w.open.found = append(w.open.found, fact{s, u})
	}
}

// receive takes in messages.
func (w *worker) receive() {
	for _, part := range slices.Sorted(maps.Keys(w.parts)) {
		s := w.parts[part]
		if !w.acts(part) || s.drains {
			continue
		}
		var got []ref
		w.Call(func() bool {
			for i, m := range w.c.streams[part].messages {
				if !m.acked {
					got = append(got, ref{s, i})
				}
			}
			return true
		}, func(ok bool) {
			if !ok || w.parts[part] != s || !w.acts(part) || s.drains {
				return
			}
			for _, r := range got {
				if !w.taken[r] {
					w.Node.Busy()
					w.taken[r] = true
					w.find(w.c.streams[part].messages[r.at].url, s)
					w.open.acks = append(w.open.acks, r)
				}
			}
		})
	}
}

// commit closes the open commit.
func (w *worker) commit() {
	if c := w.open; !c.empty() {
		w.open = commit{}
		first, then := w.next()
		first.links, first.found = append(first.links, c.links...), append(first.found, c.found...)
		then.done, then.acks = append(then.done, c.done...), append(then.acks, c.acks...)
	}
	w.ship()
}

// next returns what the next commit goes out with: two shipments that have not been sent.
func (w *worker) next() (first, then *shipment) {
	if n := len(w.outbox); n > 1 && w.outbox[n-2].lingers {
		return w.outbox[n-2], w.outbox[n-1]
	}
	first, then = new(shipment), new(shipment)
	if n := len(w.outbox); n > 0 && w.outbox[n-1].lingers {
		first, w.outbox = w.outbox[n-1], w.outbox[:n-1]
	}
	w.linger(first, 200*time.Millisecond)
	w.linger(then, time.Second)
	w.outbox = append(w.outbox, first, then)
	return first, then
}

// linger has a shipment wait for more, for at most a time.
func (w *worker) linger(s *shipment, most time.Duration) {
	s.lingers = true
	w.After(w.c.UpTo(most), func() {
		s.lingers = false
		w.ship()
	})
}

// ship sends what comes first in the outbox, after all before it has arrived.
func (w *worker) ship() {
	for len(w.outbox) > 0 && !w.outbox[0].lingers {
		if s := w.outbox[0]; !s.sent {
			s.sent = true
			w.send(s)
		}
		if w.outbox[0].waits > 0 {
			break
		}
		w.outbox = w.outbox[1:]
	}
	w.rest()
}

func (w *worker) send(s *shipment) {
	for _, u := range s.links {
		w.publish(s, u)
	}
	for _, f := range s.found {
		w.append(s, f, func(l *log) { l.found[f.url] = true }, func() { w.publish(s, f.url) })
	}
	for _, f := range s.done {
		w.append(s, f, func(l *log) { l.done[f.url] = true }, func() {})
	}
	for _, r := range s.acks {
		if !r.lost {
			w.until(s, func() bool { w.c.streams[r.part].messages[r.at].acked = true; return true },
				func() bool { return r.lost }, func() { delete(w.taken, r) })
		}
	}
}

func (w *worker) publish(s *shipment, u int) {
	to := &w.c.streams[u%w.c.partitions]
	w.until(s, func() bool { to.messages = append(to.messages, message{url: u}); return true }, func() bool { return false }, func() {})
}

// append appends a fact to the log of its partition, or says that the partition is lost.
func (w *worker) append(s *shipment, f fact, do func(*log), lost func()) {
	l := &w.c.logs[f.part]
	w.until(s, func() bool {
		if l.epoch != f.epoch {
			f.lost = true
			return false
		}
		do(l)
		return true
	}, func() bool { return f.lost }, func() {
		if f.lost {
			lost()
		}
	})
}

// until sends a request of a shipment until it is carried out, or in vain.
func (w *worker) until(s *shipment, carryOut, vain func() bool, then func()) {
	s.waits++
	w.Call(carryOut, func(ok bool) {
		if !ok && !vain() {
			w.until(s, carryOut, vain, then)
		} else {
			then()
		}
		s.waits--
		w.ship()
	})
}

// rest tells the node what is drained, and whether it is idle.
func (w *worker) rest() {
	sent := w.open.empty() && len(w.outbox) == 0
	idle := sent && len(w.taken) == 0 && len(w.fetching) == 0
	for part, s := range w.parts {
		idle = idle && s.started && len(s.pending) == 0
		if s.drains && sent && !w.fetches(part) {
			w.Node.Drained(part)
		}
	}
	if idle {
		w.Node.Idle()
	}
}

func (w *worker) fetches(part int) bool {
	for u := range w.fetching {
		if u%w.c.partitions == part {
			return true
		}
	}
	return false
}

// ask asks whether the crawl is over.
func (w *worker) ask() {
	step, round := w.judge.Look(w.Node)
	switch step {
	case ending.Streams:
		w.read(round, 0)
	case ending.Over:
		w.c.over = true
		w.c.check(w)
	}
}

// read reads the streams one after the other.
func (w *worker) read(round, part int) {
	if part == w.c.partitions {
		if w.judge.Read(w.Clock(), round, true) {
			w.After(time.Millisecond, w.Node.Ask) // clocks go on
		}
		return
	}
	empty := true
	w.Call(func() bool {
		for _, m := range w.c.streams[part].messages {
			empty = empty && m.acked
		}
		return true
	}, func(ok bool) {
		if ok && empty {
			w.read(round, part+1)
		} else {
			w.judge.Read(w.Clock(), round, false)
		}
	})
}

// check is called when a worker says that the crawl is over: nothing may be left to do.
func (c *crawl) check(by *worker) {
	wrong := func(format string, args ...any) {
		c.t.Helper()
		c.t.Errorf("%v: %s says that the crawl is over, but %s", c.Now, by.Config.ID, fmt.Sprintf(format, args...))
	}
	for u := range c.links {
		if !c.logs[u%c.partitions].done[u] {
			wrong("URL %d is not done", u)
			return
		}
	}
	for part := range c.streams {
		for _, m := range c.streams[part].messages {
			if !m.acked && !c.logs[part].found[m.url] { // copies of what was taken in may come at any time
				wrong("a message is in stream %d", part)
			}
		}
	}
	for p, w := range c.workers {
		for part, s := range w.parts {
			if p.Ended || c.logs[part].epoch != s.epoch {
				continue
			}
			sends := slices.ContainsFunc(w.outbox, func(s *shipment) bool { return s.work() })
			if len(s.pending) > 0 || !s.started || sends || w.open.work() {
				wrong("%s has work for partition %d", p.Config.ID, part)
			}
		}
	}
}

// TestModel: whatever happens to processes and messages, the crawl is over when nothing is left to
// do, not before, and this is found out in the end.
func TestModel(t *testing.T) {
	for seed := range uint64(long.Or(30, 2000)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			c := newCrawl(t, seed, 1+int(seed%7), 20+int(seed%50), shardtest.Network{
				Latency: 20 * time.Millisecond, Rough: true, Late: 0.02, LateBy: 4 * time.Second, Lost: 0.02, Twice: 0.05,
			})
			if c.lazy = 100 * time.Millisecond; seed%4 == 3 {
				c.lazy = 10 * time.Second // messages wait while all nodes are idle
			}
			over := func() bool { return c.over }
			c.start("n0", 0)
			for i := range c.Rand.IntN(4) {
				c.start(fmt.Sprint("n", i+1), 0)
			}
			for range c.Rand.IntN(12) {
				c.Until(c.UpTo(8*time.Second), over)
				c.strike()
			}
			c.start("last", 0) // whoever leaves
			if !c.Until(time.Hour, over) {
				t.Errorf("%v: the crawl is not over", c.Now)
			}
		})
	}
}

func (c *crawl) running() []*shardtest.Process {
	return slices.DeleteFunc(slices.Clone(c.Processes), func(p *shardtest.Process) bool { return p.Ended })
}

// strike makes trouble.
func (c *crawl) strike() {
	running := c.running()
	if c.over || len(running) == 0 {
		return
	}
	p := running[c.Rand.IntN(len(running))]
	switch c.Rand.IntN(8) {
	default:
		c.start(fmt.Sprint("m", c.incarnation), 0)
	case 0, 1:
		p.Kill()
		c.start(fmt.Sprint("m", c.incarnation), 0)
	case 2:
		p.Kill()
		c.After(c.UpTo(ttl), func() { c.start(p.Config.ID, p.Config.Incarnation) })
	case 3:
		p.Node.Leave()
	case 4:
		p.Stop(c.UpTo(3*ttl), c.Chance(0.5))
	case 5:
		p.Cut(c.UpTo(3 * ttl))
	case 6:
		p.Slow = c.UpTo(400 * time.Millisecond)
	}
}

// TestSoon: the nodes do not wait for their next beats to agree that a crawl is over.
func TestSoon(t *testing.T) {
	for seed := range uint64(10) {
		c := newCrawl(t, seed, 5, 40, shardtest.Network{Latency: 20 * time.Millisecond})
		c.lazy = 100 * time.Millisecond
		for i := range 3 {
			c.start(fmt.Sprint("n", i), 0)
			c.Run(c.UpTo(time.Second)) // beats come at different times
		}
		c.Until(time.Hour, func() bool {
			for u := range c.links {
				if !c.logs[u%c.partitions].done[u] {
					return false
				}
			}
			return true
		})
		began := c.Now
		c.Until(time.Hour, func() bool { return c.over })
		if took := c.Now - began; took > 1500*time.Millisecond {
			t.Errorf("seed %d: over %v after the last URL was done, expected 1.5 s at most", seed, took)
		}
	}
}
