package queue_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier/queue"
)

type class int

func (c class) Compare(d class) int { return cmp.Compare(c, d) }

type item struct {
	class class
	n     int
}

// TestQueue makes random changes and compares the queue with a sorted slice after each.
func TestQueue(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var q queue.Queue[class, int]
		var all []item
		pushes := 3 + r.IntN(5) // of ten steps
		for n := range 3000 {
			switch k := r.IntN(10); {
			case k < pushes:
				c := class(r.IntN(4))
				q.Push(c, n)
				all = append(all, item{c, n})
				slices.SortStableFunc(all, func(a, b item) int { return a.class.Compare(b.class) })
			case k == 9 && r.IntN(30) == 0 && len(all) > 0:
				keep := r.IntN(len(all))
				var removed []item
				q.Cut(keep, func(c class, n *int) { removed = append(removed, item{c, *n}) })
				if !slices.Equal(removed, all[keep:]) {
					t.Fatalf("seed %d: cut to %d removes %v, expected %v", seed, keep, removed, all[keep:])
				}
				all = all[:keep]
			case k == 8 && r.IntN(30) == 0:
				gone := func(n int) bool { return n%3 == 0 }
				q.Remove(func(_ class, n *int) bool { return gone(*n) })
				all = slices.DeleteFunc(all, func(x item) bool { return gone(x.n) })
			case len(all) > 0:
				if c, n := q.Pop(); all[0] != (item{c, n}) {
					t.Fatalf("seed %d: popped %d of class %d, expected %v", seed, n, c, all[0])
				}
				all = all[1:]
			}
			check(t, &q, all)
		}
	}
}

func check(t *testing.T, q *queue.Queue[class, int], all []item) {
	t.Helper()
	if q.Empty() != (len(all) == 0) {
		t.Fatalf("empty: %t, with %d items", q.Empty(), len(all))
	}
	var got []item
	for c, n := range q.All() {
		got = append(got, item{c, *n})
	}
	if !slices.Equal(got, all) {
		t.Fatalf("the queue holds %v, expected %v", got, all)
	}
	var classes []class
	for _, x := range all {
		classes = append(classes, x.class)
	}
	if classes = slices.Compact(classes); !slices.Equal(slices.Collect(q.Classes()), classes) {
		t.Fatalf("the classes are %v, expected %v", slices.Collect(q.Classes()), classes)
	}
	if q.Empty() {
		return
	}
	if c, n := q.First(); all[0] != (item{c, *n}) {
		t.Fatalf("the first is %d", *n)
	}
	if c, n := q.Last(); all[len(all)-1] != (item{c, *n}) {
		t.Fatalf("the last is %d", *n)
	}
}
