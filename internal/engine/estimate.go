package engine

import (
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/record"
)

// Estimate is the time that a crawl takes from now on.
type Estimate = record.Estimate

const (
	// NewPerURL is an average over the last growthOver URLs, or the last 1/growthShare of all if these
	// are more, and over up to twice as many. The leaves of a list come in one run, which is as long
	// as the list: on a site that grows, an average over few URLs would now and then see only leaves.
	growthOver  = 32
	growthShare = 4

	// endless is the NewPerURL from which the crawl is growing. With a little less it takes ten
	// times what the known URLs do.
	endless = 0.9

	// judgedFrom is the number of URLs done from which a crawl may be called growing: the first
	// pages of any site lead to new ones.
	judgedFrom = 100
)

// estimate says how long the crawl takes from now on. kept is the number of URLs that were done
// before the visit; limit and maxTime are those of its run, 0: none.
func (p *progress) estimate(f *frontier.Frontier, kept, limit int, maxTime time.Duration) Estimate {
	now := p.clock.loop.Now()
	e := Estimate{NewPerURL: p.growth.perURL()}
	stats, view := f.View().Stats(), f.View()
	stats.Done -= kept
	known := stats.Pending + view.LeasedURLs()
	perSecond, _ := p.rate.perSecond(now)
	take := func(urls int) time.Duration { return time.Duration(float64(urls) / perSecond * float64(time.Second)) }
	e.Growing = known > 0 && e.NewPerURL >= endless && stats.Done >= judgedFrom
	if e.NewPerURL < endless {
		if perSecond > 0 {
			e.Left = take(known)
		}
		if origin, left := view.Longest(); left > e.Left {
			e.Bound, e.Left = origin, left
		}
		e.Left = time.Duration(float64(e.Left) / (1 - e.NewPerURL))
	}
	if rest := limit - stats.Done; limit > 0 && perSecond > 0 {
		endBy(&e, "limit", take(max(0, rest)))
	}
	if maxTime > 0 {
		endBy(&e, "max-time", max(0, maxTime-now.Sub(p.started)))
	}
	return e
}

// endBy takes in that a limit ends the crawl.
func endBy(e *Estimate, limit string, left time.Duration) {
	if e.Growing || e.Left == 0 || left < e.Left {
		e.Growing, e.Bound, e.Left = false, limit, left
	}
}

// growth is the number of new URLs that the latest URLs have led to.
type growth struct {
	done        int // URLs in all
	now, before finds
}

// finds are URLs that were done, and the new ones that they led to.
type finds struct{ done, found int }

// add takes in a URL that led to new ones.
func (g *growth) add(found int) {
	if g.now.done >= max(growthOver, g.done/growthShare) {
		g.now, g.before = finds{}, g.now
	}
	g.done++
	g.now.done++
	g.now.found += found
}

func (g *growth) perURL() float64 {
	return float64(g.now.found+g.before.found) / float64(max(1, g.now.done+g.before.done))
}
