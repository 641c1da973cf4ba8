package fetch

import (
	"net/netip"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/weburl"
)

// reach is the private addresses that the links of a crawl may lead to. Owner: one loop.
//
// The host of a seed may be at any address, as the user named it, until it has answered from a
// public one: then its pages are public. The first time that a name given as a seed turns out to
// be at a private address, that network is opened to links, too. A name in a list of seeds opens
// nothing: the owner of one name among a million must not open the user's network by where it
// resolves to. An address written in a seed opens its network at once.
type reach struct {
	guard guard.Guard
	given map[string]bool // hosts of seeds that were given one by one

	judges, admits allowFunc // Guard.Judge and Loop.admit, made once
}

func (r *reach) trust(seeds []weburl.URL) {
	if r.given == nil {
		r.given = make(map[string]bool)
	}
	for _, u := range seeds {
		r.given[u.Host()] = true
	}
}

// WrittenNetwork returns the network of the address that is written in a URL; zero if there is none.
func WrittenNetwork(u weburl.URL) guard.Network {
	return guard.NetworkIn(u.Hostname(), u.EffectivePort())
}

// isPublic reports whether any link may lead to an address.
func isPublic(addr netip.AddrPort) bool {
	class, _ := guard.Classify(addr.Addr())
	return class == guard.Public
}

// allow returns what judges the addresses of u, which a lease or its redirects led to; nil: all are
// allowed.
func (f *Loop) allow(lease frontier.URL, u weburl.URL) allowFunc {
	named := lease.Seed && u.Host() == lease.URL.Host()
	switch {
	case named && f.reach.given[u.Host()]:
		return f.reach.admits
	case named || f.cfg.AllowPrivate:
		return nil
	}
	return f.reach.judges
}

// admit allows an address of a seed that was given, and opens its network.
func (f *Loop) admit(to netip.AddrPort) error {
	f.openNetwork(guard.NetworkOf(to))
	return nil
}

// mention opens the network of to for the links of page, if both are addresses of this machine,
// written in their URLs: such a page is not public.
func (f *Loop) mention(page, to weburl.URL) {
	if page.Host() != to.Host() && WrittenNetwork(page).Local() && WrittenNetwork(to).Local() {
		f.openNetwork(WrittenNetwork(to))
	}
}

// openNetwork opens a network here, and reports it before the outcome with the links to it.
func (f *Loop) openNetwork(n guard.Network) {
	if f.reach.guard.Open(n) {
		_ = f.outbox.Post(func() { f.report.Network(n) })
	}
}
