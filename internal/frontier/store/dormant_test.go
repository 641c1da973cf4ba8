package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/robots"
)

// TestDormant checks that Dormant returns origins with pending URLs in order, all origins of a name
// together, and continues where the last read ended.
func TestDormant(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store) {
		rules := robots.Parse([]byte("User-agent: *\nDisallow: /x\n")).Agent("weft")
		g := s.Begin()
		for _, o := range []frontier.OriginState{
			{Name: "http://a.test", Answered: 7},
			{Name: "http://b.test", Pending: 2},
			{Name: "http://b.test:81", Pending: 1},
			{Name: "http://c.test", Pending: 3, Tried: 1},
			{Name: "http://d.test"},
			{Name: "https://[::1]:8443", Pending: 1},
			{Name: "https://a.test", Pending: 1, Tried: 1},
			{Name: "null", Pending: 5},
		} {
			g.Rules(o.Name, rules)
			g.Origin(o)
		}
		commit(t, s, g)
		for _, c := range []struct {
			name string
			r    frontier.Request
			want []string
			last string
		}{
			{"one name", frontier.Request{N: 1}, []string{"https://[::1]:8443"}, "https://[::1]:8443"},
			{"two names", frontier.Request{N: 2}, []string{"http://a.test", "https://[::1]:8443", "https://a.test"}, "https://a.test"},
			{"after one", frontier.Request{Cursor: "https://a.test", N: 1}, []string{"http://b.test", "http://b.test:81"}, "http://b.test"},
			{"to the end", frontier.Request{Cursor: "http://b.test:81", N: 5}, []string{"http://c.test"}, ""},
			{"all", frontier.Request{N: 9}, []string{"http://a.test", "http://b.test", "http://b.test:81", "http://c.test", "https://[::1]:8443", "https://a.test"}, ""},
			{"to be tried again", frontier.Request{N: 9, Tried: true}, []string{"http://a.test", "http://c.test", "https://a.test"}, ""},
			{"none", frontier.Request{Cursor: "http://c.test", N: 9}, nil, ""},
		} {
			origins, last, err := s.Dormant(c.r)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range origins {
				got = append(got, o.Name)
				if o.Rules.IsZero() {
					t.Errorf("%s: %s has no rules", c.name, o.Name)
				}
			}
			if slices.Sort(got); !slices.Equal(got, c.want) || last != c.last {
				t.Errorf("%s: %q, last %q; want %q, last %q", c.name, got, last, c.want, c.last)
			}
		}
	})
}

// TestDormantIsBounded checks that a read stops after some origins, even if none of them has
// pending URLs.
func TestDormantIsBounded(t *testing.T) {
	s := open(t, store.Options{FS: newFS(t), Memory: true})
	defer shut(t, s)
	g := s.Begin()
	const hosts = 120_000
	for i := range hosts {
		g.Origin(frontier.OriginState{Name: fmt.Sprintf("http://h%06d.test", i), Answered: 1, Pending: i / (hosts - 1)})
	}
	commit(t, s, g)
	reads, found := 0, 0
	for r := (frontier.Request{N: 9}); reads == 0 || r.Cursor != ""; reads++ {
		some, last, err := s.Dormant(r)
		if err != nil {
			t.Fatal(err)
		}
		found += len(some)
		r.Cursor = last
	}
	if found != 1 || reads < 3 || reads > 10 {
		t.Errorf("%d origins in %d reads, want 1 origin in 3 to 10 reads", found, reads)
	}
}
