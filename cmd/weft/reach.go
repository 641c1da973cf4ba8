package main

import (
	"net/netip"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/weburl"
)

// reach decides which addresses a fetch and its redirects may lead to: the given URL's host may
// have any address until it has had a public one; other hosts follow the rules of a crawl.
type reach struct {
	given  weburl.URL
	public bool // the given host has had a public address: its responses are public pages
	guard  guard.Guard
}

// allow returns the function that judges the addresses of u; nil allows all of them.
func (r *reach) allow(u weburl.URL) func(netip.AddrPort) error {
	if u.Host() != r.given.Host() || r.public {
		return r.guard.Allow(guard.Linked)
	}
	admit := r.guard.Allow(guard.Given)
	return func(to netip.AddrPort) error {
		r.public = r.public || guard.IsPublic(to.Addr())
		return admit(to)
	}
}

// redirect notes that one URL redirects to another: on this machine to any port.
func (r *reach) redirect(from, to weburl.URL) { r.guard.Link(written(from), written(to)) }

func written(u weburl.URL) guard.Network { return guard.NetworkIn(u.Hostname(), u.EffectivePort()) }
