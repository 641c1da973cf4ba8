package frontier_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/weburl"
)

func parsed(t *testing.T, url string) frontier.URL {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return frontier.URL{URL: u}
}

// A host that is asked over http and https, or at several ports, is one machine to be
// polite to: delay, hold, requests at once and the limit of URLs count for all together.
func TestSchemesShareAPace(t *testing.T) {
	urls := []string{"http://a.example/1", "https://a.example/2", "http://a.example:8080/3", "http://a.example/4"}
	begin := func(cfg frontier.Config) *frontier.Frontier {
		f := frontier.New(cfg)
		for _, url := range urls {
			f.Add(parsed(t, url))
		}
		return f
	}

	f := begin(frontier.Config{Delay: time.Second})
	for i := range urls {
		now := at(time.Duration(i) * 1100 * time.Millisecond) // each answer takes 100 ms
		leases := f.Lease(now, 9)
		if len(leases) != 1 {
			t.Fatalf("delay: %d leases at once", len(leases))
		}
		if more := f.Lease(now.Add(50*time.Millisecond), 9); len(more) != 0 {
			t.Errorf("delay: %s beside %s", more[0].URL, leases[0].URL)
		}
		f.Done(now.Add(100*time.Millisecond), leases[0], frontier.Answer{})
		if i < len(urls)-1 {
			expectNext(t, f, time.Duration(i+1)*1100*time.Millisecond)
		}
	}

	f = begin(frontier.Config{PerHost: 2})
	if n := len(f.Lease(at(0), 9)); n != 2 {
		t.Errorf("per host: %d leases at once, want 2", n)
	}

	f = begin(frontier.Config{})
	leases := f.Lease(at(0), 9)
	if len(leases) != 2 {
		t.Errorf("by default %d leases at once, want 2", len(leases))
	}
	f.Done(at(0), leases[0], frontier.Answer{Overload: true, RetryAfter: time.Minute})
	f.Done(at(0), leases[1], frontier.Answer{})
	if more := f.Lease(at(59*time.Second), 9); len(more) != 0 {
		t.Errorf("hold: %s is asked", more[0].URL)
	}

	f = begin(frontier.Config{LimitPerHost: 2})
	n := 0
	for !f.Over() {
		for _, u := range f.Lease(at(0), 1) {
			f.Done(at(0), u, frontier.Answer{})
			n++
		}
	}
	if s := f.Stats(); n != 2 || s.OverLimit != 2 {
		t.Errorf("limit per host: %d were fetched and %d are over the limit, want 2 and 2", n, s.OverLimit)
	}
}
