package frontier_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
)

// TestBackOff: an overloaded server is left alone, for longer each time, but never for longer than
// five minutes, or than an hour if it asks for that; then it gets one request at once. Responses
// that were in flight belong to the overload that came first.
func TestBackOff(t *testing.T) {
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "a/%d ", i)
		}
		return b.String()
	}
	overload := frontier.Result{Overload: true, Status: 503, Took: time.Second}

	f := with(t, frontier.Config{}, many(30))
	now := time.Duration(0)
	both := f.Lease(at(now), 9)
	if len(both) != 2 {
		t.Fatalf("%d leases at first, expected 2", len(both))
	}
	for _, u := range both {
		f.Done(at(now), u, overload)
	}
	for i, want := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300} {
		want *= time.Second
		next, ok := f.Next()
		if got := next.Sub(at(now)); !ok || got != want {
			t.Fatalf("left alone for %v after overload %d, expected %v", got, i+1, want)
		}
		now += want
		leases := f.Lease(at(now), 9)
		if len(leases) != 1 {
			t.Fatalf("%d leases after overload %d, expected one", len(leases), i+1)
		}
		f.Done(at(now), leases[0], overload)
	}

	for asked, want := range map[time.Duration]time.Duration{time.Minute: time.Minute, 48 * time.Hour: time.Hour} {
		f := with(t, frontier.Config{}, "a/1 a/2")
		f.Done(at(0), f.Lease(at(0), 1)[0], frontier.Result{Overload: true, RetryAfter: asked})
		if next, ok := f.Next(); !ok || next.Sub(at(0)) != want {
			t.Errorf("asked for %v, left alone for %v, expected %v", asked, next.Sub(at(0)), want)
		}
	}
}
