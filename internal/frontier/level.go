package frontier

import (
	"cmp"

	"github.com/weftcrawl/weft/internal/heap"
)

// level is a depth, down to which the origins of some sites may be leased from. It opens to the
// next depth when nothing blocks it.
type level struct {
	depth    int       // nothing deeper is leased
	blockers int       // origins that block it: see step
	ahead    depthHeap // origins whose next URL is deeper
	origins  int       // resident
	listed   bool      // in levels.vacant
	joined   bool      // its origins are in levels.common
}

// depthHeap is a heap of origins by the depth of their next URL.
type depthHeap = heap.Heap[*origin, byDepth]

type byDepth struct{}

func (byDepth) Before(a, b *origin) bool {
	return cmp.Or(cmp.Compare(a.step.next, b.step.next), cmp.Compare(a.name, b.name)) < 0
}

func (byDepth) Moved(o *origin, i int) { o.step.index = int32(i) }

// step is the place of an origin among the levels.
//
// Invariant: it is in level.ahead if and only if its next URL is deeper than the level.
type step struct {
	level   *level
	index   int32      // in level.ahead; -1: not there
	next    int        // its key there
	reached int        // depth of the last URL that was leased for the first time
	floor   int        // depth that no URL in its backlog is below
	blocks  bool       // level: something is leased, to be tried again, or pending and no deeper
	noted   LevelState // the last that was recorded
}
