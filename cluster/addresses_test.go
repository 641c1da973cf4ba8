package cluster_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/webtest"
)

// TestAddress: sites of several nodes have one address, and the delay of that holds for all nodes
// together, also when one of them dies and another one joins.
func TestAddress(t *testing.T) {
	t.Parallel()
	const delay = 10 * time.Millisecond
	web := small()
	web.Hosts, web.Pages = 16, 5
	web.Rates = webtest.Rates{Shared: 1, Siblings: -1, Delayed: -1, DeadHost: -1, Stalled: -1, Flaky: -1, ShyRobots: -1, ClosedRobots: -1, Broken: -1, Failing: -1}
	c := newCrawl(t, web)
	c.options.Pace.Delay = delay
	a, b, d := c.join("a"), c.join("b"), c.join("d")
	d.until(t, 5)
	c.lose(d)
	e := c.join("e")
	c.wait()
	c.check()
	if a.sum.Done == 0 || b.sum.Done == 0 {
		t.Errorf("%d, %d, %d and %d URLs, expected some of a and b", a.sum.Done, b.sum.Done, len(c.lost), e.sum.Done)
	}
	for addr, m := range c.web.Log.Politeness().Addresses {
		t.Logf("%v: %+v", addr, m)
		if m.SmallGap < delay-delay/10 || m.MostAtOnce > 1 {
			t.Errorf("%v was requested %v after a response, and %d times at once; expected %v and once", addr, m.SmallGap, m.MostAtOnce, delay)
		}
	}
}
