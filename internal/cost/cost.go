// Package cost reports the cost of a benchmark: CPU time, which unlike wall time does not grow
// while other work runs on the machine, and allocations that are not rounded to whole numbers.
package cost

import (
	"runtime"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/process"
)

// Meter measures a benchmark from Start on.
type Meter struct {
	b       *testing.B
	cpu     time.Duration
	mallocs uint64
}

// Start collects garbage, so that the benchmark does not pay for earlier work, and starts a meter.
func Start(b *testing.B) Meter {
	b.ReportAllocs()
	runtime.GC()
	b.ResetTimer()
	return Meter{b, process.CPU(), mallocs()}
}

// Report reports the figures per item, of n items since Start: cpu-ns/ITEM and mallocs/ITEM.
func (m Meter) Report(n int, item string) {
	m.b.ReportMetric(float64(process.CPU()-m.cpu)/float64(n), "cpu-ns/"+item)
	m.b.ReportMetric(float64(mallocs()-m.mallocs)/float64(n), "mallocs/"+item)
}

// ReportBytes reports the bytes read since Start as MB/cpu-s, per second of CPU time.
func (m Meter) ReportBytes(n int) {
	m.b.ReportMetric(float64(n)/1e6/(process.CPU()-m.cpu).Seconds(), "MB/cpu-s")
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}
