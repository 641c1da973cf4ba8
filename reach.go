package weft

import (
	"net/netip"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/weburl"
)

// reach is which addresses the links of a crawl may lead to. Owner: one loop; each fetcher
// has a copy of the desk's.
//
// A host that a seed is on may be at any address, as the user has named it, until it has
// answered from a public one: then its pages are public. The first time a
// name that was given as a seed turns out to be at an address that is not public, its
// network is opened for links too. A name in a list of seeds opens nothing: who owns one
// name of a million must not open the user's network by where it resolves to. An address
// that is written in a seed opens its network at once.
type reach struct {
	guard guard.Guard
	given map[string]bool // hosts of seeds that were given one by one
}

func (r *reach) give(seeds []weburl.URL) {
	if r.given == nil {
		r.given = make(map[string]bool)
	}
	for _, u := range seeds {
		r.given[u.Host()] = true
	}
}

// written returns the network of the address that is written in a URL; zero if none is.
func written(u weburl.URL) guard.Network { return guard.NetworkIn(u.Hostname(), u.EffectivePort()) }

// allow returns what judges the addresses of u, which a lease or its redirects led to;
// nil: all are allowed.
func (f *fetcher) allow(lease frontier.URL, u weburl.URL) func(netip.AddrPort) error {
	named := lease.Seed && u.Host() == lease.URL.Host()
	switch {
	case named && f.reach.given[u.Host()]:
		return f.reach.guard.Allow(guard.Given)
	case named:
		return f.reach.guard.Allow(guard.Listed)
	}
	return f.reach.guard.Allow(guard.Linked)
}

// mention opens what a page on this machine leads to on this machine, if the addresses of
// both are written in their URLs: it is no public page.
func (f *fetcher) mention(page, to weburl.URL) {
	if page.Host() == to.Host() {
		return
	}
	if from := written(page); from.Local() { // most pages are not: their links are not looked at
		f.reach.guard.Link(from, written(to))
	}
}

// networkOpened opens at the desk a network that this loop has opened.
func (f *fetcher) networkOpened(n guard.Network) {
	_ = f.outbox.Post(func() { f.desk.openNetwork(n) }) // before the outcome, and the links in it
}

// openNetwork opens one here and in every fetcher, and has the job remember it.
func (d *desk) openNetwork(n guard.Network) {
	if !d.reach.guard.Open(n) {
		return
	}
	d.tellNetworks([]guard.Network{n})
	if d.job != nil {
		d.ledger.open.state.Set(noteNetwork+n.String(), nil)
		d.note()
	}
}

// recallNetworks opens those that were open in the job's last run.
func (d *desk) recallNetworks(open []guard.Network) {
	for _, n := range open {
		d.reach.guard.Open(n)
	}
	d.tellNetworks(open)
}

func (d *desk) tellNetworks(open []guard.Network) {
	for _, f := range d.fetchers {
		_ = f.inbox.Post(func() { // a fetcher that has ended asks for nothing
			for _, n := range open {
				f.reach.guard.Open(n)
			}
		})
	}
}

// give tells the fetchers of seeds that were given one by one, before they have a lease
// that comes of them.
func (d *desk) give(seeds []weburl.URL) {
	for _, f := range d.fetchers {
		_ = f.inbox.Post(func() { f.reach.give(seeds) }) // a fetcher that has ended asks for nothing
	}
}
