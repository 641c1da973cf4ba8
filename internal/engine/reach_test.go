package engine

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/internal/scope/shapes"
	"github.com/weftcrawl/weft/weburl"
)

// newWarned returns a coordinator whose warnings are collected.
func newWarned(cfg *Config) (c *Coordinator, warnings *[]string) {
	warnings = new([]string)
	cfg.OnWarning = func(err error) { *warnings = append(*warnings, err.Error()) }
	return newCoordinator(cfg), warnings
}

// TestOpenTarget: targets of redirects open their hosts as long as the share of the scope lasts.
// Then the user is warned, once; hosts that are open stay so.
func TestOpenTarget(t *testing.T) {
	cfg := new(Config)
	cfg.Fetch.Scope.Scope, cfg.Shares.Scope = scope.Host, 1<<20
	c, warnings := newWarned(cfg)
	first, other := url(t, "http://a.test/1"), url(t, "http://b.test/")
	if !c.reach.openTarget(first) || c.reach.openTarget(url(t, "http://a.test/2")) {
		t.Error("a host opens once")
	}
	cfg.Shares.Scope = 1
	for range 3 {
		if c.reach.openTarget(other) || c.reach.bounds.Inside(other) {
			t.Error("a host opens beyond the share")
		}
	}
	if !c.reach.bounds.Inside(first) || len(*warnings) != 1 {
		t.Errorf("%v is outside, or there are other warnings than one: %q", first, *warnings)
	}
}

// TestKnow: the user's secrets go to origins of the list of seeds up to a number; of the first one
// beyond the user is warned.
func TestKnow(t *testing.T) {
	cfg := new(Config)
	c, warnings := newWarned(cfg)
	if c.reach.know(url(t, "http://a.test/")); len(c.reach.origins) > 0 {
		t.Error("an origin is kept that needs no secrets")
	}
	cfg.Fetch.HTTP.Header.Set("Authorization", "Bearer 1")
	for i := range maxKnown + 3 {
		c.reach.know(url(t, fmt.Sprintf("http://%d.test/", i)))
	}
	c.reach.know(url(t, "http://0.test/again"))
	if n := len(c.reach.origins); n > maxKnown+1 || len(*warnings) != 1 {
		t.Errorf("%d origins, warnings %q", n, *warnings)
	}
}

// TestCredentials: the user is warned of credentials that no seed leads to.
func TestCredentials(t *testing.T) {
	cfg := new(Config)
	cfg.Fetch.Scope.Scope = scope.Host
	cfg.Fetch.HTTP.Auth = []httpclient.Credential{
		{Host: "a.test", User: "u"}, {Host: "b.test", User: "u"}, {Scheme: "https", Host: "c.test", User: "u"},
		{Scheme: "https", Host: "d.test", User: "u"},
	}
	c, warnings := newWarned(cfg)
	c.reach.open(url(t, "https://d.test/"))
	c.reach.warnOfCredentials([]weburl.URL{url(t, "http://a.test/")})
	if len(*warnings) != 2 {
		t.Errorf("warnings %q, expected those of b.test and c.test", *warnings)
	}
}

// TestNetwork: a network that links may lead to is new once.
func TestNetwork(t *testing.T) {
	c := newCoordinator(new(Config))
	n, err := guard.ParseNetwork("192.168.0.0/16")
	if err != nil {
		t.Fatal(err)
	}
	if !c.reach.acceptNetwork(n) || c.reach.acceptNetwork(n) {
		t.Error("a network opens once")
	}
}

// TestTrapTakes: what a seed names, what an earlier visit has had, and sitemaps are no part of a
// trap.
func TestTrapTakes(t *testing.T) {
	c := newCoordinator(&Config{MaxAlike: 100})
	in := frontier.URL{URL: url(t, "http://a.test/cal/7"), From: "http://a.test/"}
	if c.traps.takes(&in) {
		t.Error("there is a trap")
	}
	c.traps.shapes.Close(shapes.Of(url(t, "http://a.test/cal/1")))
	known, seed, sitemap, out := in, in, in, in
	known.Known, seed.From, sitemap.Rank, out.URL = new(frontier.Snapshot), "", 127, url(t, "http://a.test/other")
	for name, u := range map[string]frontier.URL{"known": known, "a seed": seed, "a sitemap": sitemap, "elsewhere": out} {
		if c.traps.takes(&u) {
			t.Errorf("%s: %v is in the trap", name, u.URL)
		}
	}
	if !c.traps.takes(&in) || !fetch.IsSitemap(sitemap) {
		t.Errorf("%v is in no trap", in.URL)
	}
	if kind, reason := c.refusals.judge(&in); kind == "" || reason != "100 pages like http://a.test/cal/# in a row said nothing new" {
		t.Errorf("refused as %q: %s", kind, reason)
	}
}
