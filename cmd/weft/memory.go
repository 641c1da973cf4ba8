package main

import (
	"cmp"
	"os"
	"runtime/debug"

	"github.com/weftcrawl/weft"
)

// gcPercent is the garbage at which the collector runs, in percent of the live heap, while the
// limit allows it. Compared with the default of 100 it costs a small crawl some megabytes and
// saves a few percent of CPU time: see docs/proof/memory.md.
const gcPercent = 200

// program is the memory outside Go's own, in bytes: mostly code.
const program = 32 << 20

// limitMemory makes the garbage collector keep the process within a crawl's memory (0: the
// default), unless the environment says otherwise. Package weft cannot do this: the limit holds
// for the whole process.
func limitMemory(n int) {
	if os.Getenv("GOMEMLIMIT") == "" {
		n = cmp.Or(n, weft.DefaultMemory)
		debug.SetMemoryLimit(int64(n - min(program, n/8)))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
