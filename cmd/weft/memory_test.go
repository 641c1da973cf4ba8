package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

// TestGarbage: a small heap may have 24 MiB of garbage beside it, a large one as much as is alive,
// and that follows the heap as it grows.
func TestGarbage(t *testing.T) {
	for live, percent := range map[uint64]int{0: 400, 4 << 20: 400, 6 << 20: 400, 12 << 20: 200, 24 << 20: 100, 1 << 30: 100} {
		if got := gcPercent(live, garbage); got != percent {
			t.Errorf("%d bytes alive: %d %%, expected %d", live, got, percent)
		}
	}
	debug.SetGCPercent(mostPercent)
	limitGarbage()
	large := make([]byte, 64<<20)
	runtime.GC()
	set := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	for began := time.Now(); ; runtime.Gosched() {
		if metrics.Read(set); set[0].Value.Uint64() == 100 {
			break
		}
		if time.Since(began) > 10*time.Second {
			t.Fatalf("%d %%, expected 100 after a collection that found %d bytes alive", set[0].Value.Uint64(), len(large))
		}
	}
	runtime.KeepAlive(large)
}
