package dns

import (
	"fmt"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// TestNameBytes checks that a cached name takes NameBytes at most, and that a URL that it is part
// of does not stay in memory.
func TestNameBytes(t *testing.T) {
	const names = 50_000
	answered := answer{addrs: []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("2001:db8::1")}, keep: time.Hour}
	err := aio.NewLoop(aio.Options{}).Run(t.Context(), func(task *aio.Task) error {
		c := newCache(names, task.Loop().Now())
		before := heap()
		for i := range 2 * names {
			url := fmt.Sprintf("host-%06d.example.com/%01000d", i, 0)
			if _, err := c.get(task, url[:23], func(*aio.Task, string) (answer, error) { return answered, nil }); err != nil {
				return err
			}
		}
		each := (heap() - before) / names
		runtime.KeepAlive(c)
		t.Logf("%d bytes a name", each)
		if len(c.known) != names || each > NameBytes {
			t.Errorf("%d names of %d bytes each, expected %d of %d at most", len(c.known), each, names, NameBytes)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// heap returns the bytes in use.
func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
