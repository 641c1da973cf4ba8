package fetch

import (
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// reach is the private addresses that the links of a crawl may lead to. Owner: one loop.
//
// The host of a seed may be at any address, as the user named it, until it has answered from a
// public one: then its pages are public. A name given as a seed that answers from a private address
// opens that network to links, too, unless the name also has a public address. A name in a list of
// seeds opens nothing: see guard.Listed. An address written in a seed opens its network at once.
// With distrust, seeds are links like others.
type reach struct {
	guard    guard.Guard
	distrust bool
	given    map[string]bool // hosts of seeds that were given one by one
	known    map[string]bool // origins of seeds that may have the user's secrets
}

func newReach() reach { return reach{given: make(map[string]bool), known: make(map[string]bool)} }

func (r *reach) trust(seeds []weburl.URL) {
	if r.distrust {
		return
	}
	for _, u := range seeds {
		r.given[u.Host()] = true
	}
	r.know(seeds)
}

// know lets the user's secrets go to the origins of seeds. Those of http may have https too:
// whoever could read them there has read them before.
func (r *reach) know(seeds []weburl.URL) {
	if r.distrust {
		return
	}
	for _, u := range seeds {
		r.known[u.Origin()] = true
		if u.Scheme() == "http" && u.EffectivePort() == 80 {
			r.known["https://"+u.Host()] = true
		}
	}
}

// knows reports whether an origin may have the user's secrets.
func (r *reach) knows(scheme, host string) bool { return r.known[scheme+"://"+host] }

// WrittenNetwork returns the network of the address that is written in a URL; zero if there is
// none.
func WrittenNetwork(u weburl.URL) guard.Network {
	return guard.NetworkIn(u.Hostname(), u.EffectivePort())
}

// allow returns the function that judges the addresses of u, which a lease or its redirects led to;
// nil allows all.
func (r *reach) allow(lease frontier.URL, u weburl.URL) func(netip.AddrPort) error {
	return r.guard.Allow(r.trusts(lease, u))
}

// trusts says who named the host of u, which a lease or its redirects led to.
func (r *reach) trusts(lease frontier.URL, u weburl.URL) guard.Trust {
	switch {
	case r.distrust || !lease.Seed || u.Host() != lease.URL.Host():
		return guard.Linked
	case r.given[u.Host()]:
		return guard.Given
	}
	return guard.Listed
}

// answered takes in a response to a request for u, before the lease's outcome is sent, and returns
// what it teaches about the host.
func (r *reach) answered(lease frontier.URL, u weburl.URL, res *httpclient.Response, now time.Time) frontier.Result {
	r.guard.Answered(r.trusts(lease, u), res.Addr, res.Private)
	result := resultOf(res, now)
	result.Public = lease.Seed && u.Host() == lease.URL.Host() && guard.IsPublic(res.Addr.Addr())
	return result
}

// mention opens the network of to for the links of page, if both are addresses of this machine,
// written in their URLs: such a page is not public.
func (r *reach) mention(page, to weburl.URL) {
	if page.Host() == to.Host() {
		return
	}
	if from := WrittenNetwork(page); from.Local() { // seldom: the target is not looked at
		r.guard.Link(from, WrittenNetwork(to))
	}
}
