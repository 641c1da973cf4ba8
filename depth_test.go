package weft_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/webtest"
)

// TestDepthIsTheSameEachTime crawls a web of several hosts to a depth, over networks of different
// speeds and with different numbers of workers: each time it finds the same pages, at the same
// depths.
func TestDepthIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	cfg := webtest.Config{
		Seed: 4, Hosts: 6, Pages: 80, Links: 2, Latency: 80 * time.Millisecond, SlowDelay: 700 * time.Millisecond, Clean: true,
		Rates: webtest.Rates{Across: 0.2, Redirect: 0.3, Slow: 0.2, Missing: 0.05},
	}
	var first map[string]int
	for i, workers := range []int{3, 64, 16, 200} {
		over := aiotest.NetOptions{Seed: uint64(i), Latency: time.Duration(1+10*i) * time.Millisecond}
		_, got, sum := crawlWebOver(t, cfg, over, weft.Options{Depth: 4, Concurrency: workers})
		depths := make(map[string]int)
		for u, r := range got {
			depths[u] = r.Depth
		}
		t.Logf("%d pages, in %v", len(depths), sum.Elapsed)
		if first == nil {
			first = depths
		}
		for u, depth := range first {
			if is, ok := depths[u]; !ok || is != depth {
				t.Errorf("run %d: %s has depth %d, %v; at first %d", i+1, u, is, ok, depth)
			}
		}
		if len(depths) != len(first) {
			t.Errorf("run %d: %d pages, at first %d", i+1, len(depths), len(first))
		}
	}
}
