package httpcache

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestFull: beyond the size of its file the cache starts anew, so that responses that nobody asks
// for again do not keep the file from others; a body of the file is never that of another entry.
func TestFull(t *testing.T) {
	c := New(1<<20, func() (*os.File, error) { return os.CreateTemp(t.TempDir(), "") })
	c.mostSpilled = 2 << 20
	body := func(key string) string { return strings.Repeat(key, 100_000/len(key)) }
	n := 0
	get := func(key string) (kept bool) {
		res, kept, err := c.Do(t.Context(), key, loads(body(key), &n))
		if err != nil || string(res.Body) != body(key) {
			t.Fatalf("%s: %d bytes, kept %t, %v", key, len(res.Body), kept, err)
		}
		return kept
	}
	get("early")
	early := c.entries["early"]
	for i := range 60 {
		get(fmt.Sprintf("unique %d", i))
		if c.size > c.mostSpilled || c.memory > c.most {
			t.Fatalf("%d bytes in the file, %d in memory", c.size, c.memory)
		}
	}
	if res, ok := c.take("early", early); ok && string(res.Body) != body("early") {
		t.Error("a body of another entry")
	}
	kept := 0
	for range 2 {
		kept = 0
		for i := range 15 { // more than memory holds
			if get(fmt.Sprintf("site %d", i)) {
				kept++
			}
		}
	}
	if kept < 15 {
		t.Errorf("%d of 15 kept", kept)
	}
}
