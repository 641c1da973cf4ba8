package scope

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/process"
)

// TestPrefixes: a prefix reaches to the last slash of its seed.
func TestPrefixes(t *testing.T) {
	b := New(Rules{Scope: Prefix})
	for _, c := range []struct {
		seed  string
		opens bool
	}{
		{"http://a.test/docs/en/index.html?from=/x/", true},
		{"http://a.test/docs/en/", false},
		{"http://a.test/docs/en/deep/er/", false},
		{"http://a.test/docs/", true},
		{"http://b.test", true},
		{"http://b.test/x/", false},
	} {
		if opens := b.Open(parsed(t, c.seed)); opens != c.opens {
			t.Errorf("%s opens a prefix: %t, expected %t", c.seed, opens, c.opens)
		}
	}
	for url, inside := range map[string]bool{
		"http://a.test/docs/":             true,
		"http://a.test/docs/x/y/z":        true,
		"http://a.test/docs?x":            false,
		"http://a.test/docs-old/":         false,
		"http://a.test/":                  false,
		"http://a.test/?http:/docs/":      false,
		"https://a.test/docs/":            false,
		"http://a.test:81/docs/":          false,
		"http://b.test/anything?at=/all/": true,
		"http://b.test.example/":          false,
	} {
		if got := b.Inside(parsed(t, url)); got != inside {
			t.Errorf("%s is inside: %t, expected %t", url, got, inside)
		}
	}
	for url, reached := range map[string]bool{
		"http://a.test/elsewhere": true,
		"http://b.test/":          true,
		"https://b.test/":         false,
		"http://c.test/":          false,
	} {
		if got := b.Reaches(parsed(t, url)); got != reached {
			t.Errorf("%s is reached: %t, expected %t", url, got, reached)
		}
	}
}

// TestManyPrefixes: opening a prefix, and judging a link, take a time that does not grow with the
// prefixes. The bound is generous: seconds for work of milliseconds.
func TestManyPrefixes(t *testing.T) {
	const n = 40_000
	b := New(Rules{Scope: Prefix})
	start := process.CPU() // wall time grows with the load of the machine
	for i := range n {
		b.Open(parsed(t, fmt.Sprintf("http://a.test/%d/", i)))
	}
	for i := range n {
		u := parsed(t, fmt.Sprintf("http://a.test/x/%d/", i))
		if b.Inside(u) || !b.Reaches(u) {
			t.Fatalf("%s is inside, or not reached", u)
		}
	}
	if took := process.CPU() - start; took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

// TestBeyondTheScope: what need not be within the scope, a sitemap, an asset or the target of a
// seed's redirect, keeps to the bounds that are about the URL itself.
func TestBeyondTheScope(t *testing.T) {
	b := New(Rules{
		Scope: Page, Exclude: []*regexp.Regexp{regexp.MustCompile("/private")},
		Include: []*regexp.Regexp{regexp.MustCompile("/nothing")}, Traps: Traps{Repeats: 3},
	})
	for _, c := range []struct{ url, forbids, seeds, links string }{
		{"http://a.test/", "", "", ReasonScope},
		{"http://a.test:25/", ReasonPort, ReasonPort, ReasonScope},
		{"http://a.test/private", ReasonExclude, "", ReasonScope},
		{"http://a.test/x/x/x/x", ReasonRepeats, ReasonRepeats, ReasonScope},
	} {
		u := parsed(t, c.url)
		if got := b.Forbids(u); got != c.forbids {
			t.Errorf("%s: forbidden for %q, expected %q", c.url, got, c.forbids)
		}
		if got := b.RefusesTarget(u, 0); got != c.seeds {
			t.Errorf("%s: refused for %q as the target of a seed, expected %q", c.url, got, c.seeds)
		}
		if got := b.RefusesTarget(u, 1); got != c.links {
			t.Errorf("%s: refused for %q as the target of a link, expected %q", c.url, got, c.links)
		}
	}
}
