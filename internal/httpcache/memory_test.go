package httpcache

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/httpclient"
)

// raw is an exchange that has the head of a response as it was received.
type raw string

func (r raw) Size() int { return len(r) }

// TestMemoryOfTexts: long URLs, headers and heads count, without which bodies say nothing.
func TestMemoryOfTexts(t *testing.T) {
	const most = 8 << 20
	c := New(most, temp(t))
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for i := range 2000 {
		key := fmt.Sprint(i, strings.Repeat("k", 16<<10))
		c.Keep(key, Response{
			Status: 200, Header: httpclient.Header{{Name: "X", Value: strings.Repeat("h", 32<<10)}}, Exchange: raw(strings.Repeat("r", 32<<10)),
		}, time.Minute)
	}
	if grown := heap() - before; grown > most*3/2 || c.memory > most {
		t.Errorf("the heap has grown by %d bytes, and the cache has %d, of at most %d", grown, c.memory, most)
	}
	for key, e := range c.entries {
		c.forget(key, e)
	}
	if c.memory != 0 {
		t.Errorf("%d bytes of nothing", c.memory)
	}
}
