package main

import (
	"cmp"
	"os"
	"runtime/debug"

	"github.com/weftcrawl/weft"
)

// garbage is how much there may be when the collector runs, in percent of what lives, while the
// limit allows it: it costs memory of a small crawl, and spares a tenth of its CPU time.
const garbage = 200

// limitMemory has the garbage collector keep the process within a crawl's memory (0: the
// default), unless the environment says otherwise. That can't be done in package weft, as it is
// for the whole process.
func limitMemory(n int) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(cmp.Or(n, weft.DefaultMemory)))
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(garbage)
	}
}
