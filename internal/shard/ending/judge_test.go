package ending_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/shard/ending"
	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// table is a node that is shown beats and partitions by hand.
type table struct {
	*ownership.Node
	t        *testing.T
	revision uint64
}

func newTable(t *testing.T, incarnation uint64) *table {
	t.Helper()
	n, err := ownership.New(ownership.Config{ID: "a", Incarnation: incarnation, Partitions: 1})
	if err != nil {
		t.Fatal(err)
	}
	return &table{Node: n, t: t}
}

func (b *table) show(key, format string, args ...any) {
	b.t.Helper()
	b.revision++
	if err := b.See(0, ownership.Entry{Key: key, Value: fmt.Appendf(nil, format, args...), Revision: b.revision}); err != nil {
		b.t.Fatal(err)
	}
}

// beat shows a beat of an idle node that was composed at a time of its clock, by one that has
// started partition 0 at epoch 1, or nothing.
func (b *table) beat(id string, incarnation uint64, at time.Duration, wakes, seen uint64, started bool) {
	b.t.Helper()
	digest := uint64(0)
	if started {
		digest = ownership.DigestOf(0, 1)
	}
	b.show("node."+id, `{"incarnation":%d,"state":"alive","at":%d,"idle":true,"wakes":%d,"seen":%d,"holds":%d}`, incarnation, at, wakes, seen, digest)
}

func (b *table) expect(j *ending.Judge, want ending.Step) {
	b.t.Helper()
	if got, _ := j.Look(b.Node); got != want {
		b.t.Fatalf("step %d, want %d", got, want)
	}
}

// TestSteps: a crawl is over when the nodes have answered a beat that came after the streams were
// read.
func TestSteps(t *testing.T) {
	b, j := newTable(t, 1), new(ending.Judge)
	b.show("part.0", `{"id":"a","incarnation":1}`)
	b.beat("a", 1, 10, 0, 0, true)
	b.beat("b", 2, 10, 5, 0, false)
	b.expect(j, ending.Streams)
	b.expect(j, ending.Wait)
	j.Read(100, 0, true)
	b.expect(j, ending.Wait)
	b.beat("a", 1, 90, 0, 3, true) // composed before the streams were read
	b.expect(j, ending.Wait)
	b.beat("a", 1, 100, 0, 3, true) // at that very time: before or after
	b.expect(j, ending.Wait)
	b.beat("a", 1, 110, 0, 3, true) // revision 6
	b.expect(j, ending.Wait)
	b.beat("b", 2, 20, 5, 5, false)
	b.expect(j, ending.Wait)
	b.beat("b", 2, 30, 5, 6, false)
	b.expect(j, ending.Over)
}

// TestWork: work in between makes the judge begin anew, and an answer about an earlier round is
// ignored.
func TestWork(t *testing.T) {
	b, j := newTable(t, 1), new(ending.Judge)
	b.show("part.0", `{"id":"a","incarnation":1}`)
	b.beat("a", 1, 10, 0, 0, true)
	b.expect(j, ending.Streams)
	b.beat("a", 1, 20, 1, 0, true)
	b.expect(j, ending.Wait)
	b.expect(j, ending.Streams)
	j.Read(25, 0, true)
	b.beat("a", 1, 30, 1, 0, true)
	b.expect(j, ending.Wait)
	j.Read(35, 1, false)
	b.expect(j, ending.Streams)
}

// TestSuccessor: beats of an earlier process with the same ID do not count as the node's own, whose
// clock is another.
func TestSuccessor(t *testing.T) {
	b, j := newTable(t, 2), new(ending.Judge)
	b.show("part.0", `{"id":"a","incarnation":1}`)
	b.beat("a", 1, time.Hour, 0, 0, true)
	b.expect(j, ending.Streams)
	j.Read(10, 0, true)
	b.expect(j, ending.Wait)
}
