package proof

import (
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/internal/shard/ownership"
	"github.com/weftcrawl/weft/internal/shard/shardtest"
)

// changes simulates changes of membership with real nodes of ownership, on virtual time.
type changes struct {
	*Cluster
	*shardtest.World
	partitions  int
	urls        []int // by partition
	incarnation uint64
	since       []time.Duration // by partition: since when nobody fetches from it; -1: somebody does
	idle        time.Duration
	restored    int
	reading     map[*shardtest.Process]*logs
	disks       map[string]map[int]uint64 // by node: the epochs of the states on its disk
	// fresh: the crawl has just begun, and nothing is known or in flight.
	fresh bool
}

// newChanges returns a crawl without nodes.
func (c *Cluster) newChanges(partitions int) *changes {
	return &changes{
		Cluster: c, World: shardtest.New(c.Seed, shardtest.Network{Latency: latency, Batch: 50 * time.Millisecond}),
		partitions: partitions, urls: coarse(c.pages, partitions), since: make([]time.Duration, partitions),
		reading: make(map[*shardtest.Process]*logs), disks: make(map[string]map[int]uint64), fresh: true,
	}
}

// start lets a crawl begin on nodes that start one after another.
func (s *changes) start(nodes int) (Change, error) {
	c, err := s.measure("all begin, 100 ms apart", s.partitions, nil, func() error {
		for i := range nodes {
			if _, err := s.begin(fmt.Sprintf("n%03d", i), 0); err != nil {
				return err
			}
			s.Run(100 * time.Millisecond)
		}
		return nil
	})
	c.Nodes = nodes
	s.fresh = false
	return c, err
}

// dies is the name of a death.
const dies = "one dies"

// change simulates changes of membership: a node joins, one leaves, one dies, one is restarted.
func (s *changes) change() error {
	leaves, dead, restarts := s.Processes[0], s.Processes[1], s.Processes[2]
	for _, step := range []struct {
		name string
		of   *shardtest.Process
		do   func() error
	}{
		{"one joins", nil, func() error { _, err := s.begin("new", 0); return err }},
		{"one leaves", leaves, func() error { leaves.Node.Leave(); return nil }},
		{dies, dead, func() error { s.kill(dead); return nil }},
		{"one is restarted after 3 s", nil, func() error {
			s.kill(restarts)
			s.Run(3 * time.Second)
			_, err := s.begin(restarts.Config.ID, restarts.Config.Incarnation)
			return err
		}},
	} {
		needed := 0
		switch {
		case step.of != nil:
			needed = s.held(step.of)
		case step.name == "one joins":
			needed = s.partitions / (len(s.Processes) + 1)
		}
		c, err := s.measure(step.name, needed, step.of, step.do)
		if err != nil {
			return err
		}
		s.Changes = append(s.Changes, c)
		s.Logf("%+v", c)
	}
	return nil
}

// begin starts a process of a node.
func (s *changes) begin(id string, ended uint64) (*shardtest.Process, error) {
	s.incarnation++
	if s.disks[id] == nil {
		s.disks[id] = make(map[int]uint64)
	}
	return s.Start(ownership.Config{ID: id, Incarnation: s.incarnation, Ended: ended, Partitions: s.partitions}, s.obey)
}

func (s *changes) kill(p *shardtest.Process) {
	for i := range s.partitions {
		if p.Node.Epoch(i) > 0 {
			s.since[i] = s.Now
		}
	}
	p.Kill()
}

func (s *changes) obey(p *shardtest.Process, o ownership.Order) {
	i := o.Partition
	switch o.Kind {
	case ownership.Take:
		if o.Before == 0 {
			s.since[i] = s.Now // it had nothing to do before
		}
		p.After(2*latency, func() { s.restore(p, o) }) // first an opening goes to the log
	case ownership.Drain:
		s.since[i] = s.Now
		p.After(s.drain(), func() { p.Node.Drained(i) })
	case ownership.Drop:
		delete(s.disks[p.Config.ID], i)
	}
}

// logs are those that a process reads, and those that wait for them: as package cluster does it,
// the next ones begin when all before them are read. Their messages are mixed, so all end at once.
type logs struct {
	now, next []ownership.Order
	busy      bool // it reads, or gathers what to read
}

// restore starts a partition: at once if the disk has it, else when its log is read.
func (s *changes) restore(p *shardtest.Process, o ownership.Order) {
	if s.fresh || o.Before == s.disks[p.Config.ID][o.Partition] {
		s.started(p, o)
		return
	}
	l := s.reading[p]
	if l == nil {
		l = new(logs)
		s.reading[p] = l
	}
	l.next = append(l.next, o)
	if !l.busy {
		s.gather(p, l)
	}
}

// gather reads the next logs, with those that come meanwhile.
func (s *changes) gather(p *shardtest.Process, l *logs) {
	l.now, l.busy = nil, len(l.next) > 0
	if l.busy {
		p.After(gathers, func() { s.read(p, l) })
	}
}

// read reads the next logs.
func (s *changes) read(p *shardtest.Process, l *logs) {
	l.now, l.next = l.next, nil
	urls, readers, all := 0, 0, 0
	for _, o := range l.now {
		urls += s.urls[o.Partition]
	}
	for reader, some := range s.reading {
		if !reader.Ended && some.now != nil {
			readers++
		}
	}
	for _, n := range s.urls {
		all += n
	}
	s.restored += urls
	seconds := float64(urls*logBytes) / readSome
	if len(l.now)*scansAll >= s.partitions {
		seconds = float64(all*logBytes) / readAll
	}
	seconds = max(seconds*float64(readers), float64(urls)/restoreRate)
	p.After(time.Duration(seconds*float64(time.Second)), func() {
		for _, o := range l.now {
			s.started(p, o)
		}
		s.gather(p, l)
	})
}

// started takes in that a process fetches from a partition.
func (s *changes) started(p *shardtest.Process, o ownership.Order) {
	i := o.Partition
	if p.Node.Epoch(i) == o.Epoch {
		s.disks[p.Config.ID][i] = o.Epoch
		p.Node.Started(i, o.Epoch)
		s.idle = max(s.idle, s.Now-s.since[i])
	}
}

// drain returns how long it takes until nothing of a partition is in flight: the longest of as many
// requests as are in flight for it, and one commit.
func (s *changes) drain() time.Duration {
	const typical, longest, commit = 200 * time.Millisecond, 30 * time.Second, 100 * time.Millisecond
	if s.fresh {
		return commit
	}
	most := time.Duration(0)
	for range max(1, s.Rate*s.running()/s.partitions/2) {
		most = max(most, time.Duration(float64(typical)*pareto(s.Rand, 1.5)))
	}
	return min(most, longest) + commit
}

// measure makes a change, and waits until it is over, and a process has ended if there is one.
func (s *changes) measure(name string, needed int, end *shardtest.Process, do func() error) (Change, error) {
	s.Run(10 * time.Second)
	c, before, began := Change{Nodes: s.running(), Name: name, Needed: needed}, s.owners(), s.Now
	s.idle, s.restored = 0, 0
	writes, events := s.Store.Writes["part"], s.Events
	if err := do(); err != nil {
		return c, err
	}
	for ; c.Started == 0; s.Run(50 * time.Millisecond) {
		owned, started := s.balanced()
		owned = owned && (end == nil || end.Ended)
		if owned && c.Owned == 0 {
			c.Owned, c.Events = s.Now-began, s.Events-events
		}
		if started && owned {
			c.Started = s.Now - began
		}
		if s.Now-began > time.Hour {
			return c, fmt.Errorf("%s: no balance after an hour", name)
		}
	}
	for i, id := range s.owners() {
		if id != before[i] {
			c.Moved++
		}
	}
	c.Writes, c.Idle, c.Restored = s.Store.Writes["part"]-writes, s.idle, s.restored
	return c, nil
}

// owners returns the node that holds each partition.
func (s *changes) owners() []string {
	all := make([]string, s.partitions)
	for _, p := range s.Processes {
		for i := range all {
			if !p.Ended && p.Node.Epoch(i) > 0 {
				all[i] = p.Config.ID
			}
		}
	}
	return all
}

// running is the number of nodes.
func (s *changes) running() (n int) {
	for _, p := range s.Processes {
		if !p.Ended {
			n++
		}
	}
	return n
}

func (s *changes) held(p *shardtest.Process) (n int) {
	for i := range s.partitions {
		if p.Node.Epoch(i) > 0 {
			n++
		}
	}
	return n
}

// balanced reports whether partitions are in balance, and whether each is started.
func (s *changes) balanced() (owned, started bool) {
	var counts []int
	total, acting := 0, 0
	for _, p := range s.Processes {
		if p.Ended {
			continue
		}
		n := s.held(p)
		counts = append(counts, n)
		total += n
		for i := range s.partitions {
			if p.Node.Acts(p.Clock(), i) {
				acting++
			}
		}
	}
	return total == s.partitions && slices.Max(counts)-slices.Min(counts) <= 1, acting == s.partitions
}
