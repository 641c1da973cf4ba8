package heap_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/heap"
)

type item struct {
	key, index int
}

type byKey struct{}

func (byKey) Before(a, b *item) bool { return a.key < b.key }
func (byKey) Moved(x *item, i int)   { x.index = i }

// TestHeap makes random changes and compares the heap with a sorted slice after each.
func TestHeap(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		var h heap.Heap[*item, byKey]
		var all []*item
		for range 2000 {
			switch n := r.IntN(10); {
			case n < 4 || len(all) == 0:
				x := &item{key: r.IntN(100)}
				h.Push(x)
				all = append(all, x)
			case n < 6:
				x := h.Pop()
				if least := slices.MinFunc(all, compare); x.key != least.key || x.index != -1 {
					t.Fatalf("seed %d: popped %+v, expected key %d and no index", seed, *x, least.key)
				}
				all = slices.DeleteFunc(all, func(y *item) bool { return y == x })
			case n < 8:
				x := all[r.IntN(len(all))]
				if got := h.Remove(x.index); got != x || x.index != -1 {
					t.Fatalf("seed %d: removed %+v, expected %+v", seed, *got, *x)
				}
				all = slices.DeleteFunc(all, func(y *item) bool { return y == x })
			default:
				x := all[r.IntN(len(all))]
				x.key = r.IntN(100)
				h.Set(x.index, x)
			}
			check(t, &h, all)
		}
	}
}

func compare(a, b *item) int { return a.key - b.key }

func check(t *testing.T, h *heap.Heap[*item, byKey], all []*item) {
	t.Helper()
	if h.Len() != len(all) {
		t.Fatalf("%d items, expected %d", h.Len(), len(all))
	}
	for i, x := range h.Items() {
		if x.index != i {
			t.Fatalf("item %d has index %d", i, x.index)
		}
		if parent := h.Items()[(i-1)/2]; i > 0 && x.key < parent.key {
			t.Fatalf("item %d has key %d, its parent has %d", i, x.key, parent.key)
		}
	}
	if len(all) > 0 && h.First().key != slices.MinFunc(all, compare).key {
		t.Fatalf("the first key is %d", h.First().key)
	}
}

// TestHeapReleasesItems checks that a removed item is not kept alive by the heap's slice.
func TestHeapReleasesItems(t *testing.T) {
	var h heap.Heap[*item, byKey]
	for key := range 3 {
		h.Push(&item{key: key})
	}
	h.Pop()
	h.Remove(h.First().index)
	if tail := h.Items()[1:3]; tail[0] != nil || tail[1] != nil {
		t.Errorf("the free slots hold %v", tail)
	}
}

// BenchmarkHeap takes the first of n items and puts it back later.
func BenchmarkHeap(b *testing.B) {
	var h heap.Heap[*item, byKey]
	for key := range 100_000 {
		h.Push(&item{key: key})
	}
	b.ReportAllocs()
	for b.Loop() {
		x := h.First()
		x.key += 50_000
		h.Set(0, x)
	}
}
