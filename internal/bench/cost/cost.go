// Package cost reports what a benchmark costs: CPU time, which unlike wall time does not
// grow while others run on the machine, and allocations that are not rounded to whole ones.
package cost

import (
	"runtime"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/process"
)

// Meter measures one benchmark, from Start on.
type Meter struct {
	b       *testing.B
	cpu     time.Duration
	mallocs uint64
}

// Start collects garbage, so that nobody pays for what came before, and begins.
func Start(b *testing.B) Meter {
	b.ReportAllocs()
	runtime.GC()
	b.ResetTimer()
	return Meter{b, process.CPU(), mallocs()}
}

// Report gives the figures for one of n items since Start: cpu-ns/ITEM and mallocs/ITEM.
func (m Meter) Report(n int, item string) {
	m.b.ReportMetric(float64(process.CPU()-m.cpu)/float64(n), "cpu-ns/"+item)
	m.b.ReportMetric(float64(mallocs()-m.mallocs)/float64(n), "mallocs/"+item)
}

// ReportBytes gives the bytes read since Start as MB/cpu-s: by one second of CPU time.
func (m Meter) ReportBytes(n int) {
	m.b.ReportMetric(float64(n)/1e6/(process.CPU()-m.cpu).Seconds(), "MB/cpu-s")
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}
