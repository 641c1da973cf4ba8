package main

import (
	"net/netip"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/weburl"
)

// reach is which addresses a fetch and its redirects may lead to: those of the given URL's
// host, whatever they are, and others as in a crawl that begins there.
type reach struct {
	given weburl.URL
	all   bool
	guard guard.Guard
}

// allow returns what judges the addresses of u; nil: all are allowed.
func (r *reach) allow(u weburl.URL) func(netip.AddrPort) error {
	if n, ok := written(u); ok && u.Host() == r.given.Host() {
		r.guard.Open(n)
	}
	switch {
	case r.all:
		return nil
	case u.Host() == r.given.Host():
		return func(to netip.AddrPort) error {
			if n, ok := guard.NetworkOf(to); ok {
				r.guard.Open(n)
			}
			return nil
		}
	}
	return r.guard.Judge
}

// redirect takes in that one URL has led to another: on this machine to any port.
func (r *reach) redirect(from, to weburl.URL) {
	if n, _ := written(from); n.Local() {
		if n, _ := written(to); n.Local() {
			r.guard.Open(n)
		}
	}
}

// written returns the network of the address that is written in a URL, if it is not public.
func written(u weburl.URL) (n guard.Network, ok bool) {
	addr, ok := guard.Literal(u.Hostname())
	if !ok {
		return n, false
	}
	return guard.NetworkOf(netip.AddrPortFrom(addr, uint16(u.EffectivePort())))
}
