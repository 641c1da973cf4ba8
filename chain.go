package weft

import (
	"net/netip"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/weburl"
)

// chain is the guard of a URL and its redirects: the host of the first URL may have any address
// until it answers from a public one; other hosts follow the rules of a crawl. With distrust it is
// a host like others.
type chain struct {
	first    weburl.URL
	distrust bool
	public   bool // its host has answered from a public address: its responses are public pages
	guard    guard.Guard
}

// allow returns the function that judges the addresses of u; nil allows all of them.
func (c *chain) allow(u weburl.URL) func(netip.AddrPort) error { return c.guard.Allow(c.trust(u)) }

// trust says who named the host of u.
func (c *chain) trust(u weburl.URL) guard.Trust {
	if c.distrust || c.public || u.Host() != c.first.Host() {
		return guard.Linked
	}
	return guard.Given
}

// answered takes in that a request for u was answered from an address. Private says whether a
// look-up returned no public one.
func (c *chain) answered(u weburl.URL, from netip.AddrPort, private bool) {
	trust := c.trust(u)
	c.guard.Answered(trust, from, private)
	c.public = c.public || trust == guard.Given && guard.IsPublic(from.Addr())
}

// trusted reports whether secrets may be sent to an origin: to that of the first URL, and where it
// is http, to https at the same host.
func (c *chain) trusted(scheme, host string) bool {
	return !c.distrust && host == c.first.Host() && (scheme == c.first.Scheme() || scheme == "https" && c.first.EffectivePort() == 80)
}

// redirect notes that one URL redirects to another: on this machine to any port.
func (c *chain) redirect(from, to weburl.URL) {
	c.guard.Link(fetch.WrittenNetwork(from), fetch.WrittenNetwork(to))
}
