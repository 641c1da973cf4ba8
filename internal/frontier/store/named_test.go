package store_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/robots"
)

// TestNamed checks that Named returns all origins of a name with their rules, and no origin whose
// name merely starts with it.
func TestNamed(t *testing.T) {
	onBoth(t, func(t *testing.T, s *store.Store) {
		rules := robots.Parse([]byte("User-agent: *\nDisallow: /x\n")).Agent("weft")
		g := s.Begin()
		for i, name := range []string{
			"http://a.test", "https://a.test", "http://a.test:81", "https://a.test:8443", "http://a.test.b.test", "http://a.testing",
			"http://[::1]", "http://[::1]:81", "http://b.test", "ftp://a.test",
		} {
			if i%2 == 0 {
				g.Rules(name, rules)
			}
			g.Origin(frontier.OriginState{Name: name, Answered: i})
		}
		commit(t, s, g)
		for _, c := range []struct {
			names []string
			want  []string
		}{
			{nil, nil},
			{[]string{"unknown.test"}, nil},
			{[]string{"b.test"}, []string{"http://b.test 8 true"}},
			{[]string{"[::1]", "a.test"}, []string{
				"http://[::1] 6 true", "http://[::1]:81 7 false", "http://a.test 0 true", "http://a.test:81 2 true", "https://a.test 1 false", "https://a.test:8443 3 false",
			}},
		} {
			origins, err := s.Named(c.names)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range origins {
				got = append(got, fmt.Sprint(o.Name, " ", o.Answered, " ", !o.Rules.IsZero()))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%q: %q, want %q", c.names, got, c.want)
			}
		}
	})
}

// BenchmarkNamed measures the lookup of an origin among 300,000 on disk, in batches of 256, and of
// a origin that is not there.
func BenchmarkNamed(b *testing.B) {
	const hosts, batch = 300_000, 256
	for _, c := range []struct{ name, format string }{{"there", "www.h%06d.test"}, {"new", "www.n%06d.test"}} {
		b.Run(c.name, func(b *testing.B) {
			s, err := store.Open(b.TempDir(), store.Options{Outputs: outputs})
			if err != nil {
				b.Fatal(err)
			}
			defer shut(b, s)
			for i := 0; i < hosts; {
				g := s.Begin()
				for end := i + 10_000; i < end; i++ {
					g.Origin(frontier.OriginState{Name: fmt.Sprintf("http://www.h%06d.test", i), Answered: 1, Most: 2, Asked: epoch, Robots: frontier.RobotsState{Have: true, Until: epoch}})
				}
				commit(b, s, g)
			}
			names := make([]string, batch)
			b.ReportAllocs()
			b.ResetTimer()
			for n := 0; n < b.N; n += batch {
				for i := range names {
					names[i] = fmt.Sprintf(c.format, (n+i)*7919%hosts)
				}
				slices.Sort(names)
				if _, err := s.Named(names); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// onBoth runs a test with a store on disk and with one in memory.
func onBoth(t *testing.T, test func(*testing.T, *store.Store)) {
	for _, memory := range []bool{false, true} {
		t.Run(fmt.Sprintf("memory=%t", memory), func(t *testing.T) {
			s := open(t, store.Options{FS: newFS(t), Memory: memory})
			defer shut(t, s)
			test(t, s)
		})
	}
}
