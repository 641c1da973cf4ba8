package engine

import (
	"regexp"
	"testing"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
)

// TestErrandsExcluded: what the user excludes is not requested for pages either. What is beyond the
// scope is.
func TestErrandsExcluded(t *testing.T) {
	cfg := new(Config)
	cfg.Fetch.Scope.Exclude = []*regexp.Regexp{regexp.MustCompile("/out/")}
	c := newCoordinator(cfg)
	c.clock.loop = aio.NewLoop(aio.Options{})
	for _, path := range []string{"/out/data", "/data"} {
		c.errands.add(frontier.URL{URL: url(t, "http://cdn.test"+path), Errand: &frontier.Errand{For: new(fetch.Errand)}})
	}
	leases := c.frontier.Errands().Lease(c.clock.now(), 9, true)
	if len(leases) != 1 || leases[0].URL.String() != "http://cdn.test/data" {
		t.Errorf("leased %v, expected http://cdn.test/data only", leases)
	}
}
