package webtest_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/webtest"
)

// allElements are the elements that a thorough crawler reads links from.
var allElements = []string{"a", "area", "frame", "iframe", "link", "img", "script", "meta", "header"}

// TestTruth: a crawler that shares no code with the truth finds exactly the same.
func TestTruth(t *testing.T) {
	few := []string{"a", "area", "frame", "iframe", "link"}
	for _, tt := range []struct {
		name   string
		cfg    webtest.Config
		policy webtest.Policy
		seed   bool // only the host of the seed is in scope
	}{
		{"one host", webtest.Config{Seed: 1, Pages: 60, SlowDelay: time.Millisecond}, webtest.Policy{MaxRedirects: 10, Retries: 2, Elements: few}, true},
		{"short patience", webtest.Config{Seed: 2, Pages: 60, SlowDelay: time.Millisecond, Rates: webtest.Rates{Flaky: 0.3}}, webtest.Policy{MaxRedirects: 2, Elements: allElements}, true},
		{"many hosts", webtest.Config{Seed: 3, Hosts: 40, Pages: 8, SlowDelay: time.Millisecond, Rates: webtest.Rates{Charset: 0.3, DeadHost: 0.1, Stalled: -1}},
			webtest.Policy{MaxRedirects: 10, Retries: 2, Robots: true, Agent: "weft", Elements: allElements}, false},
		{"not let in", webtest.Config{Seed: 4, Hosts: 40, Pages: 8, SlowDelay: time.Millisecond, Rates: webtest.Rates{NamedRobots: 0.3, ShyRobots: 0.3, ClosedRobots: 0.2, Stalled: -1}},
			webtest.Policy{MaxRedirects: 10, Retries: 1, Robots: true, Agent: "other", Elements: few}, false},
		{"clean", webtest.Config{Seed: 5, Hosts: 10, Pages: 10, Clean: true}, webtest.Policy{MaxRedirects: 10, Elements: few}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := webtest.Start(t, tt.cfg)
			inside := func(string) bool { return true }
			if tt.seed {
				inside = func(host string) bool { return host == r.Web.Name(0) }
			} else {
				tt.policy.Scope = webtest.Anywhere
			}
			truth := maps.Collect(r.Web.Truth(tt.policy))
			found := newNaive(r, tt.policy, inside).crawl(r.Web.Home(0))
			for _, u := range slices.Sorted(maps.Keys(truth)) {
				if f, ok := found[u]; !ok {
					t.Errorf("%s: %v in truth, not found", u, truth[u])
				} else if f != truth[u] {
					t.Errorf("%s: %v in truth, found %v", u, truth[u], f)
				}
			}
			for _, u := range slices.Sorted(maps.Keys(found)) {
				if _, ok := truth[u]; !ok {
					t.Errorf("%s: found %v, not in truth", u, found[u])
				}
			}
			for _, req := range r.Log.Requests() {
				if strings.Contains(req.Target, "decoy") {
					t.Errorf("%s: requested, but no page links to it", req.URL())
				}
				name, _, _ := strings.Cut(req.Host, ":")
				if addr, ok := r.Web.Resolve(name); tt.cfg.Hosts > 1 && (!ok || addr != req.Addr) {
					t.Errorf("%s: asked at %v, expected at %v", req.URL(), req.Addr, addr)
				}
			}
			t.Logf("%d URLs, %d requests", len(truth), r.Log.Len())
		})
	}
}

// TestChains: a crawl ends in a chain that is too long, unless a link leads into its middle.
func TestChains(t *testing.T) {
	w := newWeb(t, webtest.Config{Pages: 2, Links: -1, Clean: true, Rates: webtest.Rates{Redirect: 1e-9}})
	truth := maps.Collect(w.Truth(webtest.Policy{MaxRedirects: 10}))
	for _, tt := range []struct {
		target string
		want   int // status; 0: it is not reached
	}{
		{"go/7/0", 303}, {"go/7/10", 303}, {"go/7/11", 0},
		{"go/8/0", 307}, {"go/8/10", 307}, {"go/8/11", 308},
	} {
		if got := truth[w.Home(0)+tt.target].Status; got != tt.want {
			t.Errorf("%s: %d, expected %d", tt.target, got, tt.want)
		}
	}
}
