package proof

import (
	"time"

	"github.com/weftcrawl/weft/internal/torture"
	"github.com/weftcrawl/weft/internal/webtest"
)

// Web is what is crawled: mostly small hosts, some with thousands of pages, a third at addresses
// that they share with some 200 others, one in a hundred at the one address of a hoster, another in
// the one domain of a big site; and of all that is wrong on the Web something.
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

// How the crawl is asked to go about it.
const (
	retries = 2
	dial    = 2 * time.Second // with a name and its connection
	repeats = 3               // of a segment in a path: the command's default
)

// policy is that of the crawl, for the truth.
func policy() webtest.Policy {
	p := torture.Policy(retries)
	p.Repeats = repeats
	return p
}

// costs are what the crawl spends where it is polite, and where servers don't answer.
func (t *Task) costs() webtest.Costs {
	return webtest.Costs{Delay: t.Delay, Patience: t.Patience, Dial: dial, RobotsTries: retries + 1, Pause: time.Second, Hold: time.Second, Variants: t.Variants}
}

// forgetsVariants is by how much a count of variants may be behind after a kill, or by an eighth.
const forgetsVariants = 64

// lag is how much earlier than the servers the command may have begun to wait for an answer that it
// gives up.
const lag = time.Second

// forgets is how much work the command may lose when it is killed: a group that is being committed,
// and what waits behind it; a busy disk makes it longer.
const forgets = 500 * time.Millisecond
