package weft

import (
	"fmt"
	"iter"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// seeds are those that were given one by one, under the rules.
func (d *desk) seeds() []weburl.URL {
	var all []weburl.URL
	for _, u := range d.cfg.seeds {
		all = append(all, d.cfg.Canon.Apply(u))
	}
	return all
}

// begin adds a seed, and reports whether it is new.
func (d *desk) begin(u weburl.URL) bool {
	u = d.cfg.Canon.Apply(u)
	d.open(u)
	d.openNetwork(written(u))
	added := d.frontier.Add(frontier.URL{URL: u})
	if d.cfg.NoRobots {
		d.addSitemaps(d.usualSitemaps(u))
	}
	d.note()
	return added
}

// open widens the scope by u, here and in every fetcher, before it can have a lease
// that comes of it. It reports whether that has changed it.
func (d *desk) open(u weburl.URL) bool {
	if !d.bounds.open(u) {
		return false
	}
	d.widen([]weburl.URL{u})
	if d.job != nil {
		d.ledger.open.state.Set(noteScope+u.String(), nil)
		d.note()
	}
	return true
}

// widen tells the fetchers what has widened the scope.
func (d *desk) widen(by []weburl.URL) {
	for _, f := range d.fetchers {
		_ = f.inbox.Post(func() { // a fetcher that has ended needs no scope
			for _, u := range by {
				f.bounds.open(u)
			}
		})
	}
}

// enough is how many URLs may be pending before seeds are held back.
const enough = 10_000

// seed receives a seed of SeedSeq; release makes room for another.
func (d *desk) seed(u weburl.URL, release func()) {
	d.arrive(none, d.begins(d.cfg.Canon.Apply(u)), func() { d.takeSeed(u, release) })
	d.dispatch()
}

// begins yields what begin may add of seeds, under the rules.
func (d *desk) begins(seeds ...weburl.URL) iter.Seq[weburl.URL] {
	return func(yield func(weburl.URL) bool) {
		for _, u := range seeds {
			if !yield(u) {
				return
			}
			if s, reason := d.cfg.sitemapAt(u, usualSitemap); reason == "" && d.cfg.Sitemaps && d.cfg.NoRobots && !yield(s) {
				return
			}
		}
	}
}

// takeSeed takes it in. Those that an earlier run has read are known, and only compared.
func (d *desk) takeSeed(u weburl.URL, release func()) {
	d.list.add(u)
	known := d.list.Seeds <= d.before.Seeds
	switch {
	case known && d.list.Seeds == d.before.Seeds && d.list.Sum != d.before.Sum:
		d.failList(fmt.Sprintf("the first %d URLs have changed", d.list.Seeds))
	case !known && d.before.Listed:
		d.failList(fmt.Sprintf("%.128s is new", u))
	}
	if known || d.another {
		release()
	} else {
		d.room = append(d.room, release)
		d.begin(u)
	}
}

// comparing reports whether seeds that an earlier run has read are still to come. Until
// they have, no URL is begun.
func (d *desk) comparing() bool { return d.seeding && d.list.Seeds < d.before.Seeds }

// failList ends the crawl, as SeedSeq is not what it was.
func (d *desk) failList(what string) {
	d.another = true
	d.fail(&OptionError{Option: "SeedSeq", Err: fmt.Errorf("%s, expected the list %w", what, ErrPlan)})
}

// seeded says that SeedSeq has ended, behind its last seed.
func (d *desk) seeded(err error) {
	d.arrive(none, none, func() { d.takeSeedsEnd(err) })
	d.dispatch()
}

func (d *desk) takeSeedsEnd(err error) {
	switch {
	case err != nil:
		d.fail(err)
	case d.comparing():
		d.failList(fmt.Sprintf("%d URLs, and before there were %d", d.list.Seeds, d.before.Seeds))
	default:
		d.list.Listed = true
		d.note()
	}
	d.seeding = false
}

// read is what all runs have read of SeedSeq.
func (d *desk) read() list {
	if d.another || d.list.Seeds < d.before.Seeds {
		return d.before
	}
	l := d.list
	l.Listed = l.Listed || d.before.Listed && l.Seeds == d.before.Seeds // not read to its end again, and was
	return l
}
