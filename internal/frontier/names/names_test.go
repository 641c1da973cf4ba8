package names_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier/names"
)

type host struct{ name, domain string }

// TestIndex adds and removes hosts at random, each under its name and some under their domain,
// and compares the index with a map after each step.
func TestIndex(t *testing.T) {
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 1))
		x := names.New(func(s *host) string { return s.name })
		known := make(map[string]*host)
		for range 3000 {
			domain := fmt.Sprintf("d%d.example", r.IntN(20))
			name := []string{"", "www.", "a.", "b."}[r.IntN(4)] + domain
			if s := known[name]; s != nil {
				x.Remove(name, s)
				x.Remove(domain, s)
				delete(known, name)
			} else {
				s = &host{name, domain}
				first := x.Member(domain) == nil
				x.Add(name, s)
				if first && !x.ShareKey(name, domain) {
					x.Add(domain, s)
				}
				known[name] = s
			}
			check(t, x, known)
		}
	}
}

func check(t *testing.T, x *names.Index[host], known map[string]*host) {
	t.Helper()
	for name, s := range known {
		if got := x.Find(name); got != s {
			t.Fatalf("%s is %v, expected %v", name, got, s)
		}
	}
	n := 0
	for s := range x.All {
		if n++; known[s.name] != s {
			t.Fatalf("the index yields %v, which it does not hold", s)
		}
		if m := x.Member(s.domain); m != nil && m.domain != s.domain {
			t.Fatalf("the member of %s is %s", s.domain, m.name)
		}
	}
	if n != len(known) {
		t.Fatalf("the index yields %d hosts, expected %d", n, len(known))
	}
	if got := x.Find("nobody.example"); got != nil {
		t.Fatalf("nobody is %v", got)
	}
}
