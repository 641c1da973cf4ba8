package main

import (
	"cmp"
	"os"
	"runtime/debug"

	"github.com/weftcrawl/weft"
)

// limitMemory has the garbage collector keep the process within a crawl's memory (0: the
// default), unless the environment says otherwise. That can't be done in package weft, as it is
// for the whole process.
func limitMemory(n int) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(cmp.Or(n, weft.DefaultMemory)))
	}
}
