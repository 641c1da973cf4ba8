package engine

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/internal/scope/shapes"
	"github.com/weftcrawl/weft/record"
)

// shareTaken are the bytes that a part of the engine may take with a share of n bytes, as it
// behaves.
var shareTaken = map[string]func(t *testing.T, cfg *Config, n int) int{
	"Bodies": func(_ *testing.T, cfg *Config, _ int) int { return int(newCoordinator(cfg).shared.Bodies.Share()) },
	"Batch":  func(_ *testing.T, cfg *Config, _ int) int { return newCoordinator(cfg).committer.most },
	"Seen":   func(_ *testing.T, cfg *Config, _ int) int { return newCoordinator(cfg).outcomes.mostQueued },
	"Scope": func(t *testing.T, cfg *Config, n int) int { // redirects open hosts until it is exceeded
		cfg.Fetch.Scope.Scope = scope.Host
		r := &newCoordinator(cfg).reach
		for i := 0; ; i++ {
			switch full, opens := r.bounds.Bytes() > n, r.openTarget(url(t, fmt.Sprintf("http://%d.test/", i))); {
			case full == opens:
				return r.bounds.Bytes()
			case full:
				return n
			}
		}
	},
	"Again": func(t *testing.T, cfg *Config, _ int) int { // two lists of ended URLs
		cfg.Job = new(job.Job)
		a := newAgain(cfg)
		all := 0
		for _, list := range []*endedURLs{&a.redirects, &a.pages} {
			for i := 0; ; i++ {
				u := frontier.URL{URL: url(t, fmt.Sprintf("http://a.test/%d", i))}
				bytes := list.bytes
				if !list.add(u.Fingerprint(), &ended{url: u, record: record.Record{URL: u.URL.String()}}, 1) {
					all += bytes
					break
				}
			}
		}
		return all
	},
	"Shapes": func(t *testing.T, cfg *Config, n int) int { // half of it are shapes of 32 bytes
		cfg.MaxAlike = 100
		table := newCoordinator(cfg).traps.shapes
		first := shapes.Of(url(t, "http://a.test/first/1"))
		forgets := func(others int) bool {
			for !table.Watch(first) { // it is not sketched before its 33rd page
			}
			for i := range others {
				table.Watch(shapes.Of(url(t, fmt.Sprintf("http://%d.test/other/1", i))))
			}
			return !table.Watch(first)
		}
		switch fit := n / 2 / 32; {
		case forgets(fit / 8):
			return 0
		case !forgets(8 * fit):
			return 8 * n
		}
		return n
	},
}

// TestShares: each part takes the memory of its share, within the grain of its tables.
func TestShares(t *testing.T) {
	for name, taken := range shareTaken {
		const share = 64 << 10
		cfg := new(Config)
		reflect.ValueOf(&cfg.Shares).Elem().FieldByName(name).SetInt(share)
		if got := taken(t, cfg, share); got > share || got < share*9/10 {
			t.Errorf("%s: %d bytes with a share of %d", name, got, share)
		}
	}
}

// TestForgottenIsLost: without a job nothing else remembers how URLs have ended, and what the store
// would take is free.
func TestForgottenIsLost(t *testing.T) {
	a := newAgain(&Config{Shares: budget.Shares{Again: 10, Buffer: 200, Cache: 4000}})
	if a.kept || a.redirects.most+a.pages.most != 4210 {
		t.Errorf("kept %v, %d and %d bytes", a.kept, a.redirects.most, a.pages.most)
	}
}

// TestOutcomesShare: big outcomes that wait to be saved are a part of the bodies, and no more than
// a commit takes in a moment.
func TestOutcomesShare(t *testing.T) {
	for bodies, want := range map[int]int64{1000: 500, 1 << 30: mostUnsaved} {
		c := newCoordinator(&Config{Shares: budget.Shares{Bodies: bodies}})
		if got := c.shared.Outcomes.Share(); got != want {
			t.Errorf("%d bytes of %d for outcomes, expected %d", got, bodies, want)
		}
		if c.cfg.Fetch.HTTP.Meter != c.shared.Bodies {
			t.Error("responses do not count among the bodies")
		}
	}
}

// TestRenderedShare: pages that are being rendered take half of the bodies, and each its part of
// the workers, or as many requests as browsers have at a host.
func TestRenderedShare(t *testing.T) {
	for workers, want := range map[int]int{8: leastOfPage, 96: 16} {
		cfg := &Config{Shares: budget.Shares{Bodies: 1000}, Tabs: 3, Workers: workers}
		cfg.Fetch.Render = new(fetch.Rendering)
		bytes := newCoordinator(cfg).shared.Rendered.Share()
		if atOnce := cfg.Fetch.Render.AtOnce; bytes != 500 || atOnce != want {
			t.Errorf("%d workers: %d bytes, %d requests of a page at once, expected 500 and %d", workers, bytes, atOnce, want)
		}
	}
}
