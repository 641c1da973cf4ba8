package frontier

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// isQuiet reports whether nothing of h is leased, nor being read from the store.
func (h *host) isQuiet() bool {
	if h.busy > 0 || h.resolve == addressAsked || h.origins != nil && h.origins.isRedirecting() {
		return false
	}
	for o := range h.each {
		if o.leased > 0 || o.errands != nil || o.robots.waits() || o.backlog != nil && o.backlog.refill != nil {
			return false
		}
	}
	return true
}

// Partitions are the share of a frontier in a crawl of several: it takes partitions over and gives
// them away, and has a part of Limit. See the package's documentation.
type Partitions struct {
	clock      *clock
	agenda     *agenda
	politeness *politeness
	residency  *residency
	ownership  *ownership // of residency
	robots     *Robots
	loud       []*host // held hosts that were not quiet when Quiet looked last
}

// Allow sets how many URLs may be leased for the first time since New, with Metered. It returns how
// many were, which is the least that may be.
func (p *Partitions) Allow(now time.Time, most int) (begun int) {
	p.clock.advance(now)
	if p.agenda.allow(most) {
		for _, o := range p.residency.all() {
			p.politeness.place(p.clock.now, o)
		}
	}
	return p.agenda.firsts.begun
}

// SendBy makes the frontier give fn each URL of another partition that is added, unless it was
// given the same one lately. A seed is given each time.
func (p *Partitions) SendBy(fn func(URL)) { p.ownership.send = fn }

// SendOn sends a URL that another frontier has sent, and that is of another partition by now, and
// reports whether it is. It does so even if the URL was sent lately: it may be what was sent then.
func (p *Partitions) SendOn(u URL) bool {
	foreign := p.ownership.foreign(u.URL.Hostname())
	if foreign {
		p.ownership.send(u)
	}
	return foreign
}

// Hold leases nothing more of partitions, ours or not, until Release, Forget or Own.
func (p *Partitions) Hold(now time.Time, numbers ...int) {
	p.clock.advance(now)
	for _, n := range numbers {
		p.ownership.held[n] = struct{}{}
	}
	p.eachOf(numbers, func(h *host) {
		h.held = true
		p.robots.dropRedirects(p.clock.now, h)
		p.politeness.placeHost(p.clock.now, h)
		if !h.isQuiet() {
			p.loud = append(p.loud, h)
		}
	})
}

// Release undoes Hold.
func (p *Partitions) Release(now time.Time, numbers ...int) {
	p.clock.advance(now)
	for _, n := range numbers {
		delete(p.ownership.held, n)
	}
	p.eachOf(numbers, func(h *host) {
		h.held = false
		p.politeness.placeHost(p.clock.now, h)
	})
}

// eachOf calls fn with the resident hosts of partitions. It looks at all that are resident, if it
// must.
func (p *Partitions) eachOf(numbers []int, fn func(*host)) {
	w := p.ownership
	wanted, among := make(map[int]bool, len(numbers)), maps.Keys(w.foreigners)
	for _, n := range numbers {
		wanted[n] = true
		_, ours := w.ours[n]
		if _, leaving := w.leaving[n]; ours || leaving {
			among = p.residency.names.All
		}
	}
	var all []*host // fn may remove them
	for h := range among {
		if wanted[int(h.part)] {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b *host) int { return strings.Compare(a.name(), b.name()) })
	for _, h := range all {
		fn(h)
	}
}

// Quiet returns those of the partitions, which are held, of which nothing is leased, nor being read
// from the store.
func (p *Partitions) Quiet(numbers ...int) []int {
	p.loud = slices.DeleteFunc(p.loud, func(h *host) bool { return h.residence.evicted || h.isQuiet() })
	loud := make(map[int]bool)
	for _, h := range p.loud {
		loud[int(h.part)] = true
	}
	var quiet []int
	for _, n := range numbers {
		if !loud[n] {
			quiet = append(quiet, n)
		}
	}
	return quiet
}

// Adopt takes in origins of a partition that is not ours, and fingerprints of its URLs, as the
// store has them by now. It is called with all of them, in any number of calls, before Own.
func (p *Partitions) Adopt(number int, origins []OriginState, seen [][16]byte) {
	if _, ours := p.ownership.ours[number]; ours {
		panic(fmt.Sprintf("frontier: Adopt: partition %d is ours", number))
	}
	t := p.ownership.tallyOf(number)
	for _, s := range origins {
		p.residency.gone.Add(p.residency.nameKey(Hostname(s.Name)))
		t.count(s, 1)
	}
	for _, fp := range seen {
		p.agenda.seen.table.Add(fp)
	}
}

// Unsee takes in that the store no longer has some URLs, of a partition that is not ours. If the
// partition comes back, those that its log does not have can be found anew. It is called between
// two batches of Prepare.
func (p *Partitions) Unsee(seen [][16]byte) {
	p.betweenBatches("Unsee")
	p.agenda.seen.remove(seen)
}

// Reject takes back what Adopt was given of a partition.
func (p *Partitions) Reject(number int) {
	if _, ours := p.ownership.ours[number]; !ours {
		delete(p.ownership.tally, number)
	}
}

// Own makes a partition ours, with the origins that were adopted: they are evicted, and those with
// something pending dormant. Every host of it waits its full delay from now on. Next is larger than
// the Seq of every URL of the partition. Of a partition that was not ours nothing may be leased:
// see Hold and Quiet. It is called between two batches of Prepare.
func (p *Partitions) Own(now time.Time, number int, next uint64) {
	p.clock.advance(now)
	p.betweenBatches("Own")
	w := p.ownership
	_, ours := w.ours[number]
	if _, leaving := w.leaving[number]; ours || leaving {
		panic(fmt.Sprintf("frontier: Own: partition %d is ours", number))
	}
	p.eachOf([]int{number}, func(h *host) { p.dropQuiet(h, "Own") })
	p.countTally(w.tallyOf(number), 1)
	p.agenda.seq = max(p.agenda.seq, max(next, 1)-1)
	p.residency.waits = p.clock.now
	w.ours[number] = struct{}{}
	delete(w.held, number)
	if p.residency.reading() {
		w.late[number] = struct{}{}
	}
}

// Disown makes a partition another's: its URLs are sent from now on. What is known of it is
// recorded with the next NoteOrigins, and forgotten by Forget. Nothing of it may be leased: see
// Hold and Quiet. It is called between two batches of Prepare.
func (p *Partitions) Disown(number int) {
	p.betweenBatches("Disown")
	delete(p.ownership.ours, number)
	p.ownership.leaving[number] = struct{}{}
}

// Forget drops everything of partitions that were disowned, from memory and from the counts, once
// that is Saved. It is called between two batches of Prepare.
func (p *Partitions) Forget(numbers ...int) {
	p.betweenBatches("Forget")
	w := p.ownership
	for _, n := range numbers {
		if _, leaving := w.leaving[n]; !leaving {
			panic(fmt.Sprintf("frontier: Forget: partition %d was not disowned", n))
		}
	}
	p.eachOf(numbers, func(h *host) { p.dropQuiet(h, "Forget") })
	for _, n := range numbers {
		p.countTally(w.tallyOf(n), -1)
		delete(w.tally, n)
		delete(w.held, n)
		delete(w.leaving, n)
	}
}

func (p *Partitions) betweenBatches(what string) {
	if p.residency.batch.unanswered {
		panic("frontier: " + what + ": a batch is being looked up")
	}
}

// countTally counts all of a partition, or with -1 not any more.
func (p *Partitions) countTally(t *tally, n int) {
	p.residency.evicted += n * t.evicted
	p.residency.dormant.countAll(t.dormant, n)
	p.agenda.adopt(t, n)
}

// dropQuiet evicts a host of which nothing is leased, and whose state the store has.
func (p *Partitions) dropQuiet(h *host, what string) {
	if !h.isQuiet() {
		panic(fmt.Sprintf("frontier: %s: something of %s is leased", what, h.name()))
	}
	for o := range h.each {
		if o.dirty {
			panic(fmt.Sprintf("frontier: %s: what is known of %s is not recorded", what, o.name))
		}
		if o.starved {
			p.politeness.rules.leave(o)
		}
	}
	p.residency.evict(h)
}
