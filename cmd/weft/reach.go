package main

import (
	"net/netip"

	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/weburl"
)

// reach is which addresses a fetch and its redirects may lead to: those of the given URL's
// host, whatever they are, until one was public; and others as in a crawl that begins there.
type reach struct {
	given  weburl.URL
	all    bool
	public bool // what the given host answers is a public page
	guard  guard.Guard
}

// allow returns what judges the addresses of u; nil: all are allowed.
func (r *reach) allow(u weburl.URL) func(netip.AddrPort) error {
	switch {
	case r.all:
		return nil
	case u.Host() == r.given.Host() && !r.public:
		return func(to netip.AddrPort) error {
			n := guard.NetworkOf(to)
			r.public = r.public || n == guard.Network{}
			r.guard.Open(n)
			return nil
		}
	}
	return r.guard.Judge
}

// redirect takes in that one URL has led to another: on this machine to any port.
func (r *reach) redirect(from, to weburl.URL) {
	n := guard.NetworkIn(to.Hostname(), to.EffectivePort())
	if n.Local() && guard.NetworkIn(from.Hostname(), from.EffectivePort()).Local() {
		r.guard.Open(n)
	}
}
