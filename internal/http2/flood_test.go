package http2

import (
	"testing"
	"time"
)

// TestFlood: idle frames come at a rate, and some at once; what earns more of them earns a bounded
// number.
func TestFlood(t *testing.T) {
	start := time.Unix(0, 0)
	for name, c := range map[string]struct {
		earn func(f *flood) time.Time // after the first frame; returns the time then
		want int                      // further frames that are taken at that time
	}{
		"nothing": {func(*flood) time.Time { return start }, idleBurst - 1},
		// The excess counts.
		"a second":         {func(f *flood) time.Time { drain(f, start); return start.Add(time.Second) }, idleRate - 1},
		"an hour":          {func(f *flood) time.Time { drain(f, start); return start.Add(time.Hour) }, idleBurst},
		"an hour at first": {func(*flood) time.Time { return start.Add(time.Hour) }, idleBurst},
		"ten moves":        {func(f *flood) time.Time { drain(f, start); move(f, 10); return start }, 10*idleEarned - 1},
		"many moves":       {func(f *flood) time.Time { move(f, 10_000); return start }, fullestIdle},
		"moves, an hour":   {func(f *flood) time.Time { move(f, 10_000); return start.Add(time.Hour) }, fullestIdle},
	} {
		f := new(flood)
		f.idle(start)
		now := c.earn(f)
		if got := drain(f, now); got != c.want {
			t.Errorf("%s: %d idle frames, expected %d", name, got, c.want)
		}
	}
}

// drain takes idle frames until there are too many, and returns how many were not.
func drain(f *flood, now time.Time) (n int) {
	for f.idle(now) && n < 1<<20 {
		n++
	}
	return n
}

func move(f *flood, times int) {
	for range times {
		f.moved()
	}
}
