package main

import (
	"cmp"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"

	"github.com/weftcrawl/weft"
)

// program is the memory outside Go's own, in bytes: mostly code.
const program = 32 << 20

// garbage is the most of it, in bytes, that lies beside a small live heap before the collector
// runs. Beside a larger one it is as much as is alive: with thousands of requests that wait,
// garbage of twice the live heap would be most of a crawl's memory. See docs/proof/memory.md.
const garbage = 24 << 20

// garbageOfTrees is garbage while pages become trees, for texts or fields. A tree has a hundred
// times the size of its page, lives as long as that is read, and is marked by every collection.
const garbageOfTrees = 64 << 20

// makesTrees is set while pages become trees.
var makesTrees atomic.Bool

// mostPercent is the most garbage in percent of the live heap: a heap that grows from little to
// much is judged by what it was until the collector has run.
const mostPercent = 400

// limitMemory makes the garbage collector keep the process within a crawl's memory (0: the
// default), unless the environment says otherwise. Package weft cannot do this: the limit holds
// for the whole process.
func limitMemory(n int) {
	if os.Getenv("GOMEMLIMIT") == "" {
		n = cmp.Or(n, weft.DefaultMemory)
		debug.SetMemoryLimit(int64(n - min(program, n/8)))
	}
	limitGarbage()
}

// limitGarbage sets when the collector runs next, unless the environment says so, and does so again
// each time that it has run: the object that nobody refers to is found then, and early, since few
// are as small.
func limitGarbage() {
	if os.Getenv("GOGC") != "" {
		return
	}
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	least := uint64(garbage)
	if makesTrees.Load() {
		least = garbageOfTrees
	}
	debug.SetGCPercent(gcPercent(live[0].Value.Uint64(), least))
	runtime.AddCleanup(new(*byte), func(struct{}) { limitGarbage() }, struct{}{})
}

// gcPercent returns the garbage at which the collector runs, in percent of the live heap; least is
// what may lie beside a small one. Both are in bytes.
func gcPercent(live, least uint64) int {
	return int(min(max(100, 100*least/max(1, live)), mostPercent))
}
