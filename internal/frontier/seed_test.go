package frontier_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// A lease says whether a seed is on its host: its robots.txt, the links there and the
// same host over https, until it has answered from a public address.
func TestSeedOfALease(t *testing.T) {
	add := func(f *frontier.Frontier, raw, from string) {
		u, err := weburl.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		f.Add(frontier.URL{URL: u, From: from})
	}
	leases := func(f *frontier.Frontier, a frontier.Result) map[string]bool {
		seeds := make(map[string]bool)
		for range 4 {
			for _, u := range f.Lease(at(0), 100) {
				seeds[u.URL.String()] = u.Seed
				if u.Robots {
					f.Robots().Set(at(0), u, robots.Rules{}, a)
				} else {
					f.Done(at(0), u, a)
				}
			}
		}
		return seeds
	}
	f := frontier.New(frontier.Config{Robots: true})
	add(f, "http://a.test/linked", "http://b.test/")
	add(f, "http://a.test/linked", "") // a seed that a page led to first
	for _, u := range []string{"http://a.test/x", "https://a.test/", "http://a.test:8080/", "http://b.test/"} {
		add(f, u, "http://a.test/linked")
	}
	want := map[string]bool{
		"http://a.test/robots.txt": true, "http://a.test/linked": true, "http://a.test/x": true, "https://a.test/robots.txt": true, "https://a.test/": true,
		"http://a.test:8080/robots.txt": false, "http://a.test:8080/": false, "http://b.test/robots.txt": false, "http://b.test/": false,
	}
	for u, got := range leases(f, frontier.Result{}) {
		if known, ok := want[u]; !ok || known != got {
			t.Errorf("%s: a seed's %v, expected %v", u, got, known)
		}
		delete(want, u)
	}
	for u := range want {
		t.Errorf("%s was not leased", u)
	}

	f = frontier.New(frontier.Config{Robots: true})
	add(f, "http://a.test/", "")
	add(f, "http://a.test/2", "http://a.test/")
	if got := leases(f, frontier.Result{Public: true}); !got["http://a.test/robots.txt"] || got["http://a.test/"] || got["http://a.test/2"] {
		t.Errorf("of a host that is public: %v", got)
	}
}
