package main

import (
	"net/netip"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/weburl"
)

// reach decides which addresses a fetch and its redirects may lead to: the given URL's host may
// have any address until it answers from a public one; other hosts follow the rules of a crawl.
type reach struct {
	given  weburl.URL
	public bool // the given host has answered from a public address: its responses are public pages
	guard  guard.Guard
}

// allow returns the function that judges the addresses of u; nil allows all of them.
func (r *reach) allow(u weburl.URL) func(netip.AddrPort) error { return r.guard.Allow(r.trust(u)) }

// trust says who named the host of u.
func (r *reach) trust(u weburl.URL) guard.Trust {
	if u.Host() != r.given.Host() || r.public {
		return guard.Linked
	}
	return guard.Given
}

// answered takes in that a request for u was answered from an address. Private says whether a
// look-up returned no public one.
func (r *reach) answered(u weburl.URL, from netip.AddrPort, private bool) {
	trust := r.trust(u)
	r.guard.Answered(trust, from, private)
	r.public = r.public || trust == guard.Given && guard.IsPublic(from.Addr())
}

// trusted reports whether secrets may be sent to an origin: to that of the given URL, and where it
// is http, to https at the same host.
func (r *reach) trusted(scheme, host string) bool {
	return host == r.given.Host() && (scheme == r.given.Scheme() || scheme == "https" && r.given.EffectivePort() == 80)
}

// redirect notes that one URL redirects to another: on this machine to any port.
func (r *reach) redirect(from, to weburl.URL) { r.guard.Link(written(from), written(to)) }

func written(u weburl.URL) guard.Network { return guard.NetworkIn(u.Hostname(), u.EffectivePort()) }
