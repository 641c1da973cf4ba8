package ownership_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/shard/ownership"
	"github.com/weftcrawl/weft/internal/shard/shardtest"
)

const (
	ttl  = 10 * time.Second
	beat = 2 * time.Second
)

// model is a cluster whose processes act for their partitions: they append to a log for each, as
// the change logs of a crawl.
type model struct {
	t *testing.T
	*shardtest.World
	partitions  int
	logs        []log
	incarnation uint64
	refused     int                  // appends with an epoch that was over
	actors      []*shardtest.Process // by partition, for judge
	exclusive   bool                 // no two processes may act at once, as all clocks go on
	drain       time.Duration
	busy        []*shardtest.Process      // by partition: who took it last, until it has drained it
	disks       map[string]map[int]uint64 // by node: the epochs of the states on its disk
	restored    int
	kept        int // Takes of a state that was on the disk
}

// log is the change log of a partition: it takes appends of the epoch that was opened last.
type log struct {
	epoch  uint64
	writer *shardtest.Process
}

func newModel(t *testing.T, seed uint64, partitions int, network shardtest.Network) *model {
	return &model{
		t: t, World: shardtest.New(seed, network), partitions: partitions, logs: make([]log, partitions), busy: make([]*shardtest.Process, partitions), actors: make([]*shardtest.Process, partitions),
		exclusive: true, drain: time.Second, disks: make(map[string]map[int]uint64),
	}
}

// start starts a process of a node; ended is the incarnation that it knows to be over.
func (m *model) start(id string, ended uint64) *shardtest.Process {
	m.t.Helper()
	m.incarnation++
	p, err := m.Start(ownership.Config{
		ID: id, Incarnation: m.incarnation, Ended: ended, Partitions: m.partitions, Beat: beat, TTL: ttl,
	}, m.obey)
	if err != nil {
		m.t.Fatal(err)
	}
	if m.disks[id] == nil {
		m.disks[id] = make(map[int]uint64)
	}
	m.act(p)
	return p
}

func (m *model) obey(p *shardtest.Process, o ownership.Order) {
	disk := m.disks[p.Config.ID]
	switch o.Kind {
	case ownership.Take:
		m.busy[o.Partition] = p
		m.open(p, o)
	case ownership.Drain:
		p.After(m.UpTo(m.drain), func() {
			m.rest(p, o.Partition)
			p.Node.Drained(o.Partition)
		})
	case ownership.Keep:
		m.busy[o.Partition] = p
	case ownership.Drop:
		m.rest(p, o.Partition)
		delete(disk, o.Partition)
	case ownership.End:
		for i := range m.partitions {
			if m.busy[i] == p && o.Err == nil {
				m.t.Errorf("%v: %s left with partition %d, which it had not drained", m.Now, p.Config.ID, i)
			}
		}
	}
}

// rest notes that nothing of a partition is in flight.
func (m *model) rest(p *shardtest.Process, part int) {
	if m.busy[part] == p {
		m.busy[part] = nil
	}
}

// open opens a partition's log for a new epoch, and starts the partition. It is tried again until
// the log says that a later epoch is open.
func (m *model) open(p *shardtest.Process, o ownership.Order) {
	l, later := &m.logs[o.Partition], false
	p.Call(func() bool {
		if l.epoch > o.Epoch {
			later = true
		} else if l.epoch < o.Epoch {
			*l = log{o.Epoch, p}
		}
		return !later
	}, func(ok bool) {
		disk := m.disks[p.Config.ID]
		switch {
		case later || p.Node.Epoch(o.Partition) != o.Epoch:
		case !ok:
			m.open(p, o)
		case disk[o.Partition] == o.Before && o.Before > 0:
			m.kept++
			disk[o.Partition] = o.Epoch
			p.Node.Started(o.Partition, o.Epoch)
		default:
			m.restored++
			p.After(m.UpTo(m.drain), func() {
				if p.Node.Epoch(o.Partition) == o.Epoch {
					disk[o.Partition] = o.Epoch
					p.Node.Started(o.Partition, o.Epoch)
				}
			})
		}
	})
}

// act lets a process act for a partition now and then.
func (m *model) act(p *shardtest.Process) {
	p.After(m.UpTo(600*time.Millisecond), func() {
		if i := m.Rand.IntN(m.partitions); p.Node.Acts(p.Clock(), i) {
			epoch, l := p.Node.Epoch(i), &m.logs[i]
			p.Call(func() bool {
				if l.epoch != epoch {
					m.refused++
					return false
				}
				if l.writer != p {
					m.t.Errorf("%v: %s writes under epoch %d of partition %d, which is %s's", m.Now, p.Config.ID, epoch, i, l.writer.Config.ID)
				}
				return true
			}, func(bool) {})
		}
		m.act(p)
	})
}

// judge is called after each step: no two processes act for a partition.
func (m *model) judge() {
	if !m.exclusive {
		return
	}
	clear(m.actors)
	for _, p := range m.Processes {
		if p.Ended || p.Clock() >= p.Node.Until() {
			continue
		}
		for i := range m.partitions {
			if !p.Node.Acts(p.Clock(), i) {
				continue
			}
			if other := m.actors[i]; other != nil {
				m.t.Fatalf("%v: both %s and %s act for partition %d", m.Now, other.Config.ID, p.Config.ID, i)
			}
			m.actors[i] = p
		}
	}
}

// running returns the processes that take part, and do not leave.
func (m *model) running() []*shardtest.Process {
	return slices.DeleteFunc(slices.Clone(m.Processes), func(p *shardtest.Process) bool { return p.Ended })
}

// owned returns how many partitions each running process acts for, and whether all are in balance:
// each partition has an actor, and nobody has two more than another.
func (m *model) owned() (counts []int, balanced bool) {
	total := 0
	for _, p := range m.running() {
		n := 0
		for i := range m.partitions {
			if p.Node.Acts(p.Clock(), i) {
				n++
			}
		}
		counts = append(counts, n)
		total += n
	}
	return counts, total == m.partitions && slices.Max(counts)-slices.Min(counts) <= 1
}

func (m *model) balanced() bool { _, ok := m.owned(); return ok }

// settle waits until partitions are in balance, at most for a time.
func (m *model) settle(within time.Duration) time.Duration {
	m.t.Helper()
	began := m.Now
	for !m.balanced() && m.Now < began+within {
		m.Run(50 * time.Millisecond)
	}
	if !m.balanced() {
		counts, _ := m.owned()
		m.t.Fatalf("%v: processes act for %v of %d partitions, not in balance after %v", m.Now, counts, m.partitions, within)
	}
	return m.Now - began
}

// owners returns the owner of each partition.
func (m *model) owners() []string {
	all := make([]string, m.partitions)
	for i := range all {
		all[i] = string(m.Store.Get(fmt.Sprintf("part.%d", i)).Value)
	}
	return all
}

func moves(before, after []string) (n int) {
	for i := range before {
		if before[i] != after[i] {
			n++
		}
	}
	return n
}

// TestChaos: whatever happens to processes, messages and clocks, no two processes act for a
// partition, and what is written under an epoch comes from one process. When the trouble is over,
// the partitions are in balance again, and stay where they are.
func TestChaos(t *testing.T) {
	for seed := range uint64(long.Or(16, 3000)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			m := newModel(t, seed, 1+int(seed%23), shardtest.Network{
				Latency: 20 * time.Millisecond, Rough: true, Late: 0.02, LateBy: 5 * time.Second, Lost: 0.02, Twice: 0.05,
			})
			m.exclusive = seed%3 != 0
			m.drain = []time.Duration{time.Second, 10 * time.Second}[seed%2]
			m.Each = m.judge
			c := chaos{model: m, nodes: 1 + m.Rand.IntN(6)}
			for range c.nodes {
				c.begin()
			}
			for range 40 {
				m.Run(m.UpTo(8 * time.Second))
				c.strike()
			}
			m.Store.Down = false
			m.Network = shardtest.Network{Latency: 20 * time.Millisecond, TimeOut: time.Second}
			for _, p := range m.Processes {
				p.Slow = 0
			}
			m.start("last", 0)
			m.Run(3*ttl + 4*c.longest()) // stopped processes come back, those cut off join again
			m.settle(2*ttl + 4*m.drain)
			before := m.owners()
			m.Run(3 * ttl)
			if n := moves(before, m.owners()); n > 0 {
				t.Errorf("%d partitions moved in a cluster at rest", n)
			}
			if !m.balanced() {
				t.Error("not in balance any more")
			}
		})
	}
}

// chaos makes trouble.
type chaos struct {
	*model
	nodes int
	next  int
}

// longest bounds the time for which a process is stopped or cut off.
func (c *chaos) longest() time.Duration { return 3 * ttl }

// begin starts another node.
func (c *chaos) begin() {
	c.next++
	c.join(fmt.Sprintf("n%d", c.next), 0)
}

// join starts a process. When others declare it dead, another incarnation follows.
func (c *chaos) join(id string, ended uint64) {
	p := c.start(id, ended)
	obey := p.OnOrder
	p.OnOrder = func(o ownership.Order) {
		obey(o)
		if o.Kind == ownership.End && errors.Is(o.Err, ownership.ErrDead) {
			c.After(c.UpTo(time.Second), func() { c.join(id, p.Config.Incarnation) })
		}
	}
}

func (c *chaos) strike() {
	running := c.running()
	if len(running) == 0 {
		c.begin()
		return
	}
	p := running[c.Rand.IntN(len(running))]
	switch c.Rand.IntN(11) {
	case 0:
		c.begin()
	case 1:
		p.Kill()
	case 2:
		p.Node.Leave()
	case 3: // its process is restarted on the same folder
		p.Kill()
		c.After(c.UpTo(2*ttl), func() { c.join(p.Config.ID, p.Config.Incarnation) })
	case 4: // the same, without a lock that says that the process is over
		p.Kill()
		c.After(c.UpTo(ttl), func() { c.join(p.Config.ID, 0) })
	case 5:
		p.Stop(c.UpTo(c.longest()), false)
	case 6:
		p.Stop(c.UpTo(c.longest()), !c.exclusive)
	case 7:
		p.Cut(c.UpTo(c.longest()))
	case 8:
		p.Slow = c.UpTo(time.Second)
	case 9:
		p.Jump(c.UpTo(2 * ttl))
	case 10:
		c.Store.Down = true
		c.After(c.UpTo(2*ttl), func() { c.Store.Down = false })
	}
	if c.Chance(0.3) && c.exclusive {
		p.Run(0.9 + 0.2*c.Rand.Float64())
	}
}
