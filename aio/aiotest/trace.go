package aiotest

import (
	"fmt"
	"strings"

	"github.com/weftcrawl/weft/aio"
)

// Trace keeps the last steps of a loop's tasks:
//
//	var trace aiotest.Trace
//	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Trace: trace.Record})
//
// It belongs to that loop, and after Run to the caller of Run.
type Trace struct {
	// Max is the number of steps kept, the latest ones. 0: 10,000.
	Max int

	events []aio.TraceEvent // a ring once full
	seen   int
}

// Record is a function for Options.Trace.
func (tr *Trace) Record(e aio.TraceEvent) {
	limit := tr.Max
	if limit <= 0 {
		limit = 10_000
	}
	if len(tr.events) < limit {
		tr.events = append(tr.events, e)
	} else {
		tr.events[tr.seen%limit] = e
	}
	tr.seen++
}

// String returns a line for each step: time since Epoch, kind, task, and what the task waits or
// waited for. If steps were dropped, the first line says how many.
func (tr *Trace) String() string {
	var b strings.Builder
	oldest := 0
	if dropped := tr.seen - len(tr.events); dropped > 0 {
		fmt.Fprintf(&b, "… %d earlier\n", dropped)
		oldest = tr.seen % len(tr.events)
	}
	for i := range tr.events {
		e := &tr.events[(oldest+i)%len(tr.events)]
		line := fmt.Sprintf("%9.3fs  %-5s  %-24s  %s", e.At.Sub(Epoch).Seconds(), e.Kind, e.Task, e.What)
		b.WriteString(strings.TrimRight(line, " "))
		b.WriteByte('\n')
	}
	return b.String()
}
