package proof

import (
	"time"

	"github.com/weftcrawl/weft/internal/torture"
	"github.com/weftcrawl/weft/internal/webtest"
)

// Web returns the web to crawl: mostly small hosts, some with thousands of pages. A third share
// their address with some 200 others, one in a hundred is at the one address of a hoster, another
// in the one domain of a big site. Every fault of the Web occurs.
func Web(hosts int, delay time.Duration) webtest.Config {
	return webtest.Config{
		Seed: 6, Hosts: hosts, Pages: 3, Links: 2, PageBytes: 1000,
		Latency: 20 * time.Millisecond, SlowDelay: 300 * time.Millisecond, CrawlDelay: 2 * delay,
		Rates: webtest.Rates{
			Hosted: 0.01, Blogs: 0.01, SlowHost: 0.01, Refusing: 0.005, Mute: 0.002,
			Stalled: 0.001, Hostile: 0.001, Trap: 0.0003, Maze: 0.003,
		},
	}
}

// Parameters of the crawl.
const (
	retries = 2
	dial    = 2 * time.Second // time-out for a name and its connection
	repeats = 3               // of a segment in a path: the command's default
)

// policy is the policy of the crawl, for the truth.
func policy() webtest.Policy {
	p := torture.Policy(retries)
	p.Repeats = repeats
	return p
}

// costs are the times that the crawl spends on politeness and on silent servers.
func (t *Task) costs() webtest.Costs {
	return webtest.Costs{Delay: t.Delay, Patience: t.Patience, Dial: dial, RobotsTries: retries + 1, Pause: time.Second, Hold: time.Second, Variants: t.Variants}
}

// forgetsVariants is the most that a count of variants may be behind after a kill, unless an eighth
// is more.
const forgetsVariants = 64

// lag is the most time by which the command starts to wait earlier than the servers for a response
// that it gives up: its time includes the connection.
const lag = dial

// forgets is the work that the command may lose when it is killed: a batch being committed, and the
// work that waits behind it; longer on a busy disk.
const forgets = 500 * time.Millisecond
