package weft_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/webtest"
)

// statsAfter returns what a crawl says of itself once it has n records, and ends it.
func statsAfter(t *testing.T, n int, o weft.Options) weft.Stats {
	t.Helper()
	reached := make(chan struct{})
	records := 0
	o.Hooks.OnRecord = func(*weft.Record) {
		if records++; records == n {
			close(reached)
		}
	}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() {
		_, err := c.Run(t.Context())
		ended <- err
	}()
	select {
	case <-reached:
	case err := <-ended:
		t.Fatalf("the crawl ended before its %d. record: %v", n, err)
	}
	s := c.Stats()
	c.Drain()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return s
}

// TestEstimate: a crawl says that no end is in sight, or how long it takes, and what that depends on.
func TestEstimate(t *testing.T) {
	t.Parallel()
	endless, _ := serve(t, webtest.EndlessSite)
	const enough = 400 // pages; of half as many, few orders of its pages have mostly leaves at the end: see engine.TestGrowth
	o := weft.Options{Seeds: []string{endless}, MaxAlike: -1}
	if s := statsAfter(t, enough, o); !s.Growing || s.Left != 0 || s.NewPerURL < 1 {
		t.Errorf("an endless site: %+v, expected that it grows", s.Estimate)
	}
	if s := statsAfter(t, 20, o); s.Growing {
		t.Errorf("20 pages: %+v, expected that it is too early to say", s.Estimate)
	}
	o.MaxTime = time.Hour
	if s := statsAfter(t, enough, o); s.Growing || s.Bound != "max-time" || s.Left < 59*time.Minute || s.Left > time.Hour {
		t.Errorf("an endless site, for an hour: %+v", s.Estimate)
	}
	o.MaxTime, o.Limit = 0, 100_000
	if s := statsAfter(t, enough, o); s.Growing || s.Bound != "limit" || s.Left == 0 {
		t.Errorf("an endless site, 100,000 pages of it: %+v", s.Estimate)
	}

	list, _ := serve(t, func(path string) string { // a home page with 1,000 links
		var b strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&b, "<a href=/%d>x</a> ", i)
		}
		return b.String()
	})
	o = weft.Options{Seeds: []string{list}, Delay: 2 * time.Millisecond}
	s := statsAfter(t, 100, o)
	if known := time.Duration(s.Pending+s.InFlight) * o.Delay; s.Growing || s.NewPerURL > 0.9 || s.Left < known {
		t.Errorf("a list: %+v, expected at least %v", s.Estimate, known)
	}
}
