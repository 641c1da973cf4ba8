package webtest

import (
	"fmt"
	"strings"
	"time"
)

// Config configures a Web. Zero values are defaults. The same Config always gives the same web,
// byte by byte.
type Config struct {
	Seed      uint64
	Hosts     int    // 0: 1
	Pages     int    // per host on average, of host 0 exactly; few hosts have many; 0: 100
	MostPages int    // of any host but host 0; 0: a thousand times Pages
	Links     int    // per page on average, in addition to the tree of pages; 0: 8, negative: none
	PageBytes int    // per page on average, before charset and coding; 0: 4,096
	Domain    string // names are h000000.s000000.DOMAIN and so on, a public suffix; empty: test
	Host      string // name or address of the only host; empty: as above
	Port      int    // in all URLs; 0: 80
	Network   byte   // first byte of all addresses; 0: 127, those of this machine

	RefusingPort int // in URLs of hosts that refuse connections; 0: 9
	MutePort     int // in URLs of hosts to which no connection completes; 0: 10

	Latency    time.Duration // the most that a response is delayed; 0: none
	SlowDelay  time.Duration // of slow responses; 0: 500 ms
	CrawlDelay time.Duration // in robots.txt files that have one; 0: 200 ms
	Fails      int           // the most refusals of a flaky page; 0: 2
	Traps      bool          // every host has an endless calendar
	Listed     int           // pages of a host that only its sitemaps list; 0: no sitemaps

	Clean bool // a rate of 0 means none, not the default
	Rates Rates
}

// Rates are frequencies, from 0 to 1. 0 is the default, unless Config.Clean is set; negative is
// none.
type Rates struct {
	// Of links.
	Across float64 // lead to another host; 0: 0.2
	Copy   float64 // lead to a second URL with the same body; 0: 0.05

	// Of pages that link to such a resource.
	Redirect float64 // chain of redirects, of all statuses, some longer than 10; 0: 0.1
	Loop     float64 // of redirects; 0: 0.01
	Missing  float64 // 404 or 410; 0: 0.05
	Failing  float64 // always 500, 501, 502 or 504; 0: 0.02
	Stalled  float64 // a response that never starts, or never ends; 0: 0.005
	Broken   float64 // cut off, absent or not HTTP; 0: 0.01
	Private  float64 // closed by robots.txt, if the host has one; 0: 0.05
	Asset    float64 // image, style sheet, PDF, script; 0: 0.3
	Hostile  float64 // an endless response, or a bomb; 0: none
	Maze     float64 // a path that repeats a segment ever more often; 0: none
	Refresh  float64 // by meta refresh; 0: 0.02
	Header   float64 // by a Link header; 0: 0.02

	// Of pages themselves.
	Flaky   float64 // refuse with 503 or 429 at first, some with Retry-After (1 s, a date); 0: 0.03
	Slow    float64 // respond after SlowDelay; 0: 0.02
	Charset float64 // ISO-8859-1, windows-1251 or UTF-16; 0: 0.05
	Base    float64 // have a <base>; 0: 0.1

	// Of hosts.
	DeadHost float64 // no such name; 0: 0.02
	Shared   float64 // share their address with up to 200 others; 0: 0.3
	Siblings float64 // share their registrable domain with 3 others; 0: 0.2
	Delayed  float64 // have a Crawl-delay in robots.txt; 0: 0.1
	Hosted   float64 // share the one address of a big hoster; 0: none
	Blogs    float64 // share the one registrable domain of a big site; 0: none
	SlowHost float64 // take SlowDelay for every response; 0: none
	Refusing float64 // refuse connections; 0: none
	Mute     float64 // leave connections unanswered; 0: none
	Trap     float64 // have an endless calendar; 0: none, but see Config.Traps

	// Of hosts, by their robots.txt; at most 1 in sum. The rest have a plain one.
	NoRobots     float64 // 404; 0: 0.2
	ClosedRobots float64 // always 503, so nothing may be fetched; 0: 0.02
	ShyRobots    float64 // 503 at first; 0: 0.05
	MovedRobots  float64 // behind a redirect; 0: 0.05
	NamedRobots  float64 // closed to all but the agent "weft"; 0: 0.05
}

// Agent is the product token that NamedRobots allow.
const Agent = "weft"

var defaultRates = Rates{
	Across: 0.2, Copy: 0.05,
	Redirect: 0.1, Loop: 0.01, Missing: 0.05, Failing: 0.02, Stalled: 0.005, Broken: 0.01, Private: 0.05, Asset: 0.3,
	Refresh: 0.02, Header: 0.02,
	Flaky: 0.03, Slow: 0.02, Charset: 0.05, Base: 0.1,
	DeadHost: 0.02, Shared: 0.3, Siblings: 0.2, Delayed: 0.1,
	NoRobots: 0.2, ClosedRobots: 0.02, ShyRobots: 0.05, MovedRobots: 0.05, NamedRobots: 0.05,
}

func (r *Rates) all() []*float64 {
	return []*float64{
		&r.Across, &r.Copy,
		&r.Redirect, &r.Loop, &r.Missing, &r.Failing, &r.Stalled, &r.Broken, &r.Private, &r.Asset, &r.Hostile, &r.Maze, &r.Refresh, &r.Header,
		&r.Flaky, &r.Slow, &r.Charset, &r.Base,
		&r.DeadHost, &r.Shared, &r.Siblings, &r.Delayed, &r.Hosted, &r.Blogs, &r.SlowHost, &r.Refusing, &r.Mute, &r.Trap,
		&r.NoRobots, &r.ClosedRobots, &r.ShyRobots, &r.MovedRobots, &r.NamedRobots,
	}
}

// maxHosts is the number of hosts that fit into a network of 24 bits with an address each.
const maxHosts = 10_000_000

// maxPages is the most pages of one host.
const maxPages = 10_000_000

// maxListed is the most pages that the sitemaps of one host list.
const maxListed = 1_000_000

// check returns the configuration with its defaults.
func (c Config) check() (Config, error) {
	for _, n := range []struct {
		name     string
		value    *int
		def, max int
	}{
		{"hosts", &c.Hosts, 1, maxHosts},
		{"pages", &c.Pages, 100, maxPages},
		{"pages at most", &c.MostPages, 0, maxPages},
		{"bytes of a page", &c.PageBytes, 4096, 64 << 20},
		{"port", &c.Port, 80, 65535},
		{"port that refuses", &c.RefusingPort, 9, 65535},
		{"mute port", &c.MutePort, 10, 65535},
		{"fails", &c.Fails, 2, 1000},
		{"pages of sitemaps", &c.Listed, 0, maxListed},
	} {
		if *n.value == 0 {
			*n.value = n.def
		}
		if *n.value < 0 || *n.value > n.max {
			return c, fmt.Errorf("webtest: %d %s, expected 1 to %d", *n.value, n.name, n.max)
		}
	}
	if c.MostPages == 0 {
		c.MostPages = min(1000*c.Pages, maxPages)
	}
	for _, d := range []struct {
		name  string
		value *time.Duration
		def   time.Duration
	}{
		{"latency", &c.Latency, 0},
		{"slow delay", &c.SlowDelay, 500 * time.Millisecond},
		{"crawl delay", &c.CrawlDelay, 200 * time.Millisecond},
	} {
		if *d.value == 0 {
			*d.value = d.def
		}
		if *d.value < 0 {
			return c, fmt.Errorf("webtest: %s of %v, expected a positive time", d.name, *d.value)
		}
	}
	switch {
	case c.Links == 0:
		c.Links = 8
	case c.Links < 0:
		c.Links = 0
	case c.Links > 10_000:
		return c, fmt.Errorf("webtest: %d links of a page, expected at most 10,000", c.Links)
	}
	if c.Host != "" && c.Hosts != 1 {
		return c, fmt.Errorf("webtest: the name %q for %d hosts, expected one host", c.Host, c.Hosts)
	}
	if c.Network == 0 {
		c.Network = 127
	}
	if c.Domain == "" {
		c.Domain = "test"
	}
	c.Domain = strings.ToLower(c.Domain)
	defaults := defaultRates
	for i, r := range c.Rates.all() {
		if *r == 0 && !c.Clean {
			*r = *defaults.all()[i]
		}
		*r = max(0, *r)
		if !(*r <= 1) {
			return c, fmt.Errorf("webtest: a rate of %v, expected at most 1", *r)
		}
	}
	return c, nil
}
