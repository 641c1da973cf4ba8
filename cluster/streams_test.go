package cluster

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft"
)

// TestClock: a node whose clock is wrong by an hour, beside the servers', says so once when it
// joins. It joins like any other: only the servers' clocks count for the time that the crawl may
// take.
func TestClock(t *testing.T) {
	t.Parallel()
	c := begun(t)
	const effect = " the servers', expected the same time: records, archives and checks of certificates use it; --max-time uses theirs"
	for skew, want := range map[time.Duration]string{
		0:                                 "",
		mostApart / 2:                     "",
		time.Hour:                         "the clock of this machine is 1h0m0s ahead of" + effect,
		-time.Hour - 300*time.Millisecond: "the clock of this machine is 1h0m0s behind" + effect,
	} {
		got := ""
		c.servers.skew, c.servers.warn = skew, func(err error) { got += err.Error() }
		n := &node{remote: c}
		if _, err := n.attach(t.Context(), 16, &weft.Options{Job: "job", Seeds: []string{"http://a.test/"}, Limits: weft.Limits{MaxTime: time.Minute}}); err != nil {
			t.Error(err)
		}
		if got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
