package lab

import (
	"net/http"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/aio/aiotest"
)

// TestCallbackForgetsWhereItCameFrom: beginHere starts a fetch that fails in its last callback. The
// trace names that callback and the loop, but neither beginHere nor any earlier callback.
func TestCallbackForgetsWhereItCameFrom(t *testing.T) {
	aiotest.CheckLeaks(t)
	s := serve(t, func(http.ResponseWriter, *http.Request) {})
	c := &callbackCrawl{known: make(addresses), pages: []Page{{URL: s.URL}}}
	if err := c.loop.open(); err != nil {
		t.Fatal(err)
	}
	defer c.loop.close()
	f := &fetcher{crawl: c, fd: -1}
	beginHere := func() { f.fetch(t.Context()) }
	beginHere()

	c.pages = nil // the bug: done will panic
	var trace string
	func() {
		defer func() {
			_ = recover()
			trace = string(debug.Stack())
		}()
		for t.Context().Err() == nil {
			if err := c.loop.turn(); err != nil {
				t.Fatal(err)
			}
		}
	}()
	for _, name := range []string{"(*fetcher).done", "(*fetcher).readResponse", "(*callbackLoop).turn"} {
		if !strings.Contains(trace, name) {
			t.Errorf("the trace does not have %s:\n%s", name, trace)
		}
	}
	for _, name := range []string{"(*fetcher).connected", "(*fetcher).fetch", "beginHere"} {
		if strings.Contains(trace, name) {
			t.Errorf("the trace has %s:\n%s", name, trace)
		}
	}
}
