package ownership_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/shard/ownership"
	"github.com/weftcrawl/weft/internal/shard/shardtest"
)

// calm is a network in which nothing goes wrong.
var calm = shardtest.Network{Latency: time.Millisecond}

// cluster returns a cluster of n nodes, a, b, c, …, in balance.
func cluster(t *testing.T, n, partitions int) (*model, []*shardtest.Process) {
	t.Helper()
	m := newModel(t, 1, partitions, calm)
	m.Each = m.judge
	var all []*shardtest.Process
	for i := range n {
		all = append(all, m.start(string(rune('a'+i)), 0))
		m.Run(beat / 3) // beats come at different times
	}
	m.settle(time.Minute)
	m.Run(beat)
	return m, all
}

// TestJoin: a node that joins gets its share, and nothing else moves.
func TestJoin(t *testing.T) {
	m, _ := cluster(t, 3, 100)
	before := m.owners()
	m.start("d", 0)
	took := m.settle(time.Minute)
	if n := moves(before, m.owners()); n != 25 {
		t.Errorf("%d partitions moved, want 25", n)
	}
	if took > 10*m.drain {
		t.Errorf("took %v, want at most ten drains of %v", took, m.drain)
	}
	for id, disk := range m.disks {
		if len(disk) != 25 {
			t.Errorf("%s has %d partitions on its disk, want 25", id, len(disk))
		}
	}
}

// TestRoom: a node that joins is given few partitions at a time, as long as it restores them
// slowly.
func TestRoom(t *testing.T) {
	m, nodes := cluster(t, 2, 60)
	joined := m.start("c", 0)
	obey := joined.OnOrder
	waiting, most := 0, 0
	joined.OnOrder = func(o ownership.Order) {
		if o.Kind != ownership.Take {
			obey(o)
			return
		}
		waiting++
		most = max(most, waiting)
		joined.After(time.Duration(waiting)*4*time.Second, func() { // one after another
			waiting--
			joined.Node.Started(o.Partition, o.Epoch)
		})
	}
	m.Each = nil
	m.Run(20 * time.Second)
	if counts, _ := m.owned(); counts[0]+counts[1] < 48 {
		t.Errorf("%v of 60 partitions are acted for", counts)
	}
	m.settle(3 * time.Minute)
	if most > 6 {
		t.Errorf("%d partitions waited at once, want at most 6", most)
	}
	if nodes[0].Ended || nodes[1].Ended {
		t.Error("a node has ended")
	}
}

// TestRoomForMany: so is a node that restores many at once, which start together after a long time.
func TestRoomForMany(t *testing.T) {
	m, _ := cluster(t, 2, 60)
	joined := m.start("c", 0)
	obey := joined.OnOrder
	var waiting, reads []ownership.Order
	most := 0
	var read func()
	read = func() {
		reads, waiting = waiting, nil
		joined.After(time.Duration(len(reads))*4*time.Second, func() {
			for _, o := range reads {
				joined.Node.Started(o.Partition, o.Epoch)
			}
			if reads = nil; len(waiting) > 0 {
				read()
			}
		})
	}
	joined.OnOrder = func(o ownership.Order) {
		if o.Kind != ownership.Take {
			obey(o)
			return
		}
		waiting = append(waiting, o)
		most = max(most, len(waiting)+len(reads))
		if reads == nil {
			read()
		}
	}
	m.Each = nil
	m.settle(3 * time.Minute)
	if most > 4 {
		t.Errorf("%d partitions waited to be started, expected at most 4", most)
	}
}

// TestLeave: a node that leaves hands over what it has, and nothing else moves.
func TestLeave(t *testing.T) {
	m, nodes := cluster(t, 4, 100)
	before := m.owners()
	nodes[1].Node.Leave()
	m.settle(time.Minute)
	m.Run(beat)
	if n := moves(before, m.owners()); n != 25 {
		t.Errorf("%d partitions moved, want 25", n)
	}
	if !nodes[1].Ended || nodes[1].Err != nil {
		t.Errorf("ended %v, %v; want an end without error", nodes[1].Ended, nodes[1].Err)
	}
}

// TestDeath: the partitions of a node that dies are taken over within a TTL and a few messages, and
// nothing else moves.
func TestDeath(t *testing.T) {
	m, nodes := cluster(t, 4, 102)
	counts, _ := m.owned()
	dead := slices.Index(counts, 25) // the others have 25, 26 and 26, and are to have 34 each
	before := m.owners()
	m.drain = 0
	nodes[dead].Kill()
	if took := m.settle(time.Minute); took < ttl-beat || took > ttl+time.Second {
		t.Errorf("took %v, want the TTL from the last beat and at most a second", took)
	}
	if n := moves(before, m.owners()); n != 25 {
		t.Errorf("%d partitions moved, want 25", n)
	}
}

// TestRemainder: what cannot be shared evenly stays where it is.
func TestRemainder(t *testing.T) {
	m := newModel(t, 1, 11, calm)
	for _, id := range []string{"c", "b", "a"} {
		m.start(id, 0)
		m.settle(time.Minute)
	}
	m.Run(beat)
	before := m.owners()
	m.start("0", 0) // 4, 4 and 3 become 3, 3, 3 and 2
	m.settle(time.Minute)
	if n := moves(before, m.owners()); n != 2 {
		t.Errorf("%d partitions moved, want 2", n)
	}
}

// TestAllAtOnce: of nodes that begin together, the first may claim all partitions; each moves once
// more at most.
func TestAllAtOnce(t *testing.T) {
	m := newModel(t, 1, 256, calm)
	for i := range 16 {
		m.start(string(rune('a'+i)), 0)
	}
	m.settle(time.Minute)
	if n := m.Store.Writes["part"]; n > 2*256 {
		t.Errorf("%d writes for 256 partitions", n)
	}
}

// TestTwoClaims: two nodes that do not see each other yet claim the same partitions. Each goes to
// one of them.
func TestTwoClaims(t *testing.T) {
	m := newModel(t, 1, 10, shardtest.Network{Latency: 300 * time.Millisecond})
	m.Each = m.judge
	m.start("a", 0)
	m.start("b", 0)
	m.settle(time.Minute)
}

// TestRollingRestart: processes that are restarted within the TTL keep their partitions, and the
// state on their disks is good.
func TestRollingRestart(t *testing.T) {
	m, nodes := cluster(t, 3, 30)
	restored, before := m.restored, m.owners()
	for _, p := range nodes {
		p.Kill()
		m.Run(ttl / 4)
		m.start(p.Config.ID, p.Config.Incarnation)
		m.settle(2 * beat)
	}
	if m.restored > restored || m.kept != 30 {
		t.Errorf("%d partitions restored, %d kept; want 0 and 30", m.restored-restored, m.kept)
	}
	for i, v := range m.owners() {
		if v[:len(`{"id":"a"`)] != before[i][:len(`{"id":"a"`)] {
			t.Errorf("partition %d was %s, is %s", i, before[i], v)
		}
	}
}

// TestSameID: a second process with the ID of one that lives waits; it takes over when that one has
// died.
func TestSameID(t *testing.T) {
	m, nodes := cluster(t, 2, 10)
	second := m.start("a", 0)
	m.Run(3 * ttl)
	if second.Node.Until() != 0 || nodes[0].Ended {
		t.Error("a second process with the same ID did not wait")
	}
	nodes[0].Kill()
	m.Run(ttl + beat)
	m.settle(ttl)
	if second.Node.Epoch(0) == 0 && second.Node.Epoch(9) == 0 {
		t.Error("the second process owns nothing")
	}
}

// TestReplaced: a process whose ID another one takes by force ends with ErrReplaced.
func TestReplaced(t *testing.T) {
	m, nodes := cluster(t, 1, 4)
	m.Each = nil // both may act until the first one knows: the lock of the folder is to exclude that
	m.start("a", nodes[0].Config.Incarnation)
	m.Run(beat)
	if !errors.Is(nodes[0].Err, ownership.ErrReplaced) {
		t.Errorf("error %v, want ErrReplaced", nodes[0].Err)
	}
}

// TestCutOff: a node that is cut off pauses before others take over, and ends with ErrDead when it
// comes back.
func TestCutOff(t *testing.T) {
	m, nodes := cluster(t, 3, 30)
	var paused, resumed time.Duration
	obey := nodes[2].OnOrder
	nodes[2].OnOrder = func(o ownership.Order) {
		obey(o)
		switch o.Kind {
		case ownership.Pause:
			paused = m.Now
		case ownership.Resume:
			resumed = m.Now
		}
	}
	began := m.Now
	nodes[2].Cut(3 * ttl)
	m.Run(4 * ttl)
	if took := paused - began; took < ttl/3 || took > ttl*2/3+time.Second {
		t.Errorf("paused after %v, want two thirds of the TTL from the last beat", took)
	}
	if resumed > 0 || !errors.Is(nodes[2].Err, ownership.ErrDead) {
		t.Errorf("resumed after %v, error %v; want ErrDead", resumed, nodes[2].Err)
	}
}

// TestOutage: when the store is down for longer than the TTL, all pause, and all go on: nobody is
// declared dead, nothing moves.
func TestOutage(t *testing.T) {
	m, nodes := cluster(t, 5, 50)
	before := m.owners()
	m.Store.Down = true
	m.Run(3 * ttl)
	if counts, _ := m.owned(); slices.Max(counts) > 0 {
		t.Errorf("processes act for %v partitions while the store is down", counts)
	}
	m.Store.Down = false
	m.settle(2 * beat)
	m.Run(2 * ttl)
	if n := moves(before, m.owners()); n > 0 || !m.balanced() {
		t.Errorf("%d partitions moved", n)
	}
	for _, p := range nodes {
		if p.Ended {
			t.Errorf("%s has ended: %v", p.Config.ID, p.Err)
		}
	}
}

// TestClockJumps: a clock that jumps ahead, or a machine that slept, costs others nothing.
func TestClockJumps(t *testing.T) {
	for name, trouble := range map[string]func(*shardtest.Process){
		"jump":  func(p *shardtest.Process) { p.Jump(time.Hour) },
		"sleep": func(p *shardtest.Process) { p.Stop(ttl*2/3-beat, false) },
	} {
		t.Run(name, func(t *testing.T) {
			m, nodes := cluster(t, 3, 30)
			before := m.owners()
			trouble(nodes[0])
			m.Run(3 * ttl)
			if n := moves(before, m.owners()); n > 0 || !m.balanced() {
				t.Errorf("%d partitions moved", n)
			}
		})
	}
}

// TestSlowNode: a node whose messages take long keeps what it has.
func TestSlowNode(t *testing.T) {
	m, nodes := cluster(t, 3, 30)
	before := m.owners()
	nodes[1].Slow = 400 * time.Millisecond
	m.Run(10 * ttl)
	if n := moves(before, m.owners()); n > 0 || !m.balanced() {
		t.Errorf("%d partitions moved", n)
	}
}

// TestLastLeaves: the last node drains what it has and keeps it: its next process goes on with the
// state on its disk.
func TestLastLeaves(t *testing.T) {
	m, nodes := cluster(t, 1, 10)
	before := m.owners()
	nodes[0].Node.Leave()
	m.Run(beat)
	if !nodes[0].Ended || moves(before, m.owners()) > 0 {
		t.Error("the last node did not leave with what it has")
	}
	m.Run(time.Hour)
	m.start("a", nodes[0].Config.Incarnation)
	m.settle(beat)
	if m.kept != 10 {
		t.Errorf("%d partitions kept, want 10", m.kept)
	}
}

// TestRest: a cluster at rest writes beats, and nothing else.
func TestRest(t *testing.T) {
	m, _ := cluster(t, 4, 200)
	m.Each = nil
	clear(m.Store.Writes)
	m.Run(100 * beat)
	if n := m.Store.Writes["node"]; n < 4*90 || n > 4*101 || len(m.Store.Writes) > 1 {
		t.Errorf("writes %v of 4 nodes in 100 beats", m.Store.Writes)
	}
}

// lone is a node that is told everything by hand.
type lone struct {
	*ownership.Node
	t        *testing.T
	now      time.Duration
	revision uint64
}

func newLone(t *testing.T, partitions int) *lone {
	t.Helper()
	n, err := ownership.New(ownership.Config{ID: "a", Incarnation: 1, Partitions: partitions})
	if err != nil {
		t.Fatal(err)
	}
	return &lone{Node: n, t: t}
}

func (l *lone) see(key, value string) {
	l.t.Helper()
	l.revision++
	if err := l.See(l.now, ownership.Entry{Key: key, Value: []byte(value), Revision: l.revision}); err != nil {
		l.t.Fatal(err)
	}
}

// tick lets time pass, carries out what the node writes, except for keys that the store refuses,
// and returns what was written and ordered.
func (l *lone) tick(refused string) (wrote []string, orders []ownership.Order) {
	l.t.Helper()
	l.now += beat / 4
	writes, orders := l.Tick(l.now)
	for _, w := range writes {
		wrote = append(wrote, fmt.Sprintf("%s after %d: %s", w.Key, w.Expected, w.Value))
		if w.Key == refused {
			l.Failed(l.now, w)
			continue
		}
		l.revision++
		if err := l.Wrote(l.now, w, l.revision); err != nil {
			l.t.Fatal(err)
		}
	}
	return wrote, orders
}

// TestOffer: a partition that was offered to another node is kept only after it was written anew,
// as the offer may still be on its way.
func TestOffer(t *testing.T) {
	l := newLone(t, 2)
	for range 3 {
		l.tick("")
	}
	l.see("node.b", `{"incarnation":2,"state":"alive","room":4}`)
	if _, orders := l.tick(""); len(orders) != 1 || orders[0] != (ownership.Order{Kind: ownership.Drain, Partition: 1}) {
		t.Fatalf("orders %v, want a drain of partition 1", orders)
	}
	l.Drained(1)
	epoch := l.Epoch(1)
	if wrote, _ := l.tick("part.1"); !slices.Contains(wrote, fmt.Sprintf(`part.1 after %d: {"id":"b","incarnation":2,"before":%d}`, epoch, epoch)) {
		t.Fatalf("wrote %v, want an offer of partition 1", wrote)
	}
	l.see("node.b", `{"incarnation":2,"state":"left"}`)
	wrote, orders := l.tick("")
	if len(orders) > 0 || !slices.Contains(wrote, fmt.Sprintf(`part.1 after %d: {"id":"a","incarnation":1,"before":%d}`, epoch, epoch)) {
		t.Fatalf("wrote %v, ordered %v; want partition 1 written anew", wrote, orders)
	}
	if _, orders := l.tick(""); len(orders) != 1 || orders[0].Kind != ownership.Take || orders[0].Before != epoch {
		t.Errorf("orders %v, want to take partition 1", orders)
	}
}

// TestDoubt: a partition whose owner has no key is free once it has been silent for a TTL.
func TestDoubt(t *testing.T) {
	l := newLone(t, 1)
	l.see("part.0", `{"id":"x","incarnation":7,"before":0}`)
	for l.now < ttl {
		if wrote, orders := l.tick(""); len(orders) > 0 {
			t.Fatalf("%v: wrote %v, ordered %v; want a TTL of patience", l.now, wrote, orders)
		}
	}
	var all []string
	for l.now < ttl+beat && l.Epoch(0) == 0 {
		wrote, _ := l.tick("")
		all = append(all, wrote...)
	}
	if l.Epoch(0) == 0 {
		t.Errorf("wrote %v, want partition 0 claimed", all)
	}
}

// TestJump: a clock that jumps, by less than what would make the node pause, hastens no death.
func TestJump(t *testing.T) {
	l := newLone(t, 1)
	for range 3 {
		l.tick("")
	}
	l.see("node.b", `{"incarnation":2,"state":"alive","room":4}`)
	for range 10 {
		l.tick("")
	}
	l.now += ttl / 2
	for range 4 {
		if wrote, _ := l.tick(""); slices.ContainsFunc(wrote, func(w string) bool { return strings.Contains(w, "node.b") }) {
			t.Fatalf("wrote %v", wrote)
		}
	}
}

// TestRenewal: a lease counts from when its beat was composed, not from when the reply came.
func TestRenewal(t *testing.T) {
	l := newLone(t, 1)
	l.now = beat
	writes, _ := l.Tick(l.now)
	if err := l.Wrote(2*beat, writes[0], 1); err != nil {
		t.Fatal(err)
	}
	if want := beat + ttl*2/3; l.Until() != want {
		t.Errorf("until %v, want %v", l.Until(), want)
	}
}

// TestBadEntries: keys and values that are not ours are errors, and change nothing.
func TestBadEntries(t *testing.T) {
	n, err := ownership.New(ownership.Config{ID: "a", Incarnation: 1, Partitions: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []ownership.Entry{
		{Key: "part.4", Revision: 1}, {Key: "part.-1", Revision: 1}, {Key: "part.x", Revision: 1}, {Key: "node.", Revision: 1}, {Key: "plan", Revision: 1},
		{Key: "part.1", Value: []byte("{"), Revision: 1}, {Key: "node.b", Value: []byte("[]"), Revision: 1},
	} {
		if err := n.See(0, e); err == nil {
			t.Errorf("no error for %s = %q", e.Key, e.Value)
		}
	}
	writes, _ := n.Tick(0)
	if len(writes) != 1 || writes[0].Key != "node.a" {
		t.Errorf("writes %v, want the first beat", writes)
	}
}

// TestDeletedKey: a node whose key is deleted ends.
func TestDeletedKey(t *testing.T) {
	_, nodes := cluster(t, 2, 4)
	n := nodes[0]
	if err := n.Node.See(n.Clock(), ownership.Entry{Key: "node.a", Revision: 1 << 20}); err != nil {
		t.Fatal(err)
	}
	if _, orders := n.Node.Tick(n.Clock()); len(orders) != 1 || !errors.Is(orders[0].Err, ownership.ErrDead) {
		t.Errorf("orders %v, want an end with ErrDead", orders)
	}
}

// BenchmarkTick measures a Tick after a change, with many partitions and nodes.
func BenchmarkTick(b *testing.B) {
	for _, partitions := range []int{1024, 4096} {
		b.Run(fmt.Sprint(partitions), func(b *testing.B) {
			w := shardtest.New(1, shardtest.Network{Latency: time.Millisecond, Batch: 20 * time.Millisecond})
			for i := range 100 {
				_, err := w.Start(ownership.Config{ID: fmt.Sprint("n", i), Incarnation: 1, Partitions: partitions}, func(p *shardtest.Process, o ownership.Order) {
					switch o.Kind {
					case ownership.Take:
						p.Node.Started(o.Partition, o.Epoch)
					case ownership.Drain:
						p.Node.Drained(o.Partition)
					}
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			w.Run(30 * time.Second)
			p := w.Processes[0]
			b.ResetTimer()
			for range b.N {
				p.Node.Failed(p.Clock(), ownership.Write{Key: "part.0"}) // makes it balance anew
				p.Node.Tick(p.Clock())
			}
		})
	}
}
