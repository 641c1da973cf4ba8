package main

import (
	"cmp"
	"os"
	"runtime/debug"

	"github.com/weftcrawl/weft"
)

// garbage is how much there may be when the collector runs, in percent of what lives, while the
// limit allows it. Beside the usual 100 it costs a small crawl some megabytes, and spares it a few
// percent of its CPU time: see docs/proof/memory.md.
const garbage = 200

// program is what is in memory beside Go's own, in bytes: the code above all.
const program = 32 << 20

// limitMemory has the garbage collector keep the process within a crawl's memory (0: the
// default), unless the environment says otherwise. That can't be done in package weft, as it is
// for the whole process.
func limitMemory(n int) {
	if os.Getenv("GOMEMLIMIT") == "" {
		n = cmp.Or(n, weft.DefaultMemory)
		debug.SetMemoryLimit(int64(n - min(program, n/8)))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
