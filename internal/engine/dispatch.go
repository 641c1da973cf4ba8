package engine

import (
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
)

// dispatcher leases as many URLs as there is room for, and hands them to the fetch loops.
// Owner: the coordinator's loop.
type dispatcher struct {
	clock    *clock
	frontier *frontier.Frontier
	loops    *loops
	bodies   *budget.Meter
	traps    *traps
	outage   *outage
	dispatch func()

	rendered *budget.Meter // pages that are being rendered; nil: none is

	slots slots
	next  *aio.Callback // dispatch, when the next host is due
}

// room is the number of leases that may start: of all hosts, and as many of prompt ones in all.
type room struct{ all, prompt int }

// reserved is the part of workers and slots that only prompt hosts have, one in so many, as of the
// memory for bodies: see budget.
const reserved = 8

// errandsOf returns how many of so many workers or slots errands may have: half, or pages whose
// requests hang hold up the crawl of all hosts.
func errandsOf(n int) int { return max(1, n/2) }

// leastOfPage bounds, from below, the requests of a page at once: browsers have as many at a host.
// Otherwise the pages that are rendered at once share the workers for errands.
const leastOfPage = 6

// room returns how many leases of URLs may start now.
func (d *dispatcher) room() room {
	r := d.free()
	switch {
	case d.bodies.Full(true), d.rendered.Full(true):
		return room{}
	case d.bodies.Full(false):
		r.all = 0
	}
	return r
}

// free returns how many leases may start now, whatever they take of memory. Without hosts that need
// it nothing is reserved.
func (d *dispatcher) free() room {
	now := d.clock.loop.Now()
	idle, left := d.loops.idle(), d.slots.left(now)
	most := d.outage.limit(now, min(idle, left))
	r := room{most, most}
	if !d.outage.down && d.frontier.View().Reserves(d.clock.now()) {
		r.all = max(0, min(idle-d.loops.workers/reserved, left-d.slots.most/reserved))
	}
	return r
}

// lease takes errands and URLs from the frontier.
func (d *dispatcher) lease() (errands, urls []frontier.URL) {
	now := d.clock.now()
	if d.rendered != nil { // they come first, whatever waits, as their pages hold memory
		errands = d.frontier.Errands().Lease(now, d.errandRoom(), d.bodies.Full(false) || d.rendered.Full(true))
	}
	room := d.room()
	room.all, room.prompt = max(0, room.all-len(errands)), max(0, room.prompt-len(errands))
	urls = d.frontier.Lease(now, room.all)
	if room.prompt > room.all {
		urls = append(urls, d.frontier.LeasePrompt(now, room.prompt-len(urls))...)
	}
	if d.outage.down && len(errands)+len(urls) > 0 {
		d.outage.probed(d.clock.loop.Now())
	}
	return errands, urls
}

// errandRoom returns how many leases of errands may start now.
func (d *dispatcher) errandRoom() int {
	all, has := d.free().all, &d.slots.errands
	return min(all, errandsOf(d.loops.workers)-has.all, errandsOf(d.slots.most)-has.busy)
}

// hand hands what is leased to the fetch loops, as errands or as URLs.
func (d *dispatcher) hand(leases []frontier.URL, errands bool) {
	now := d.clock.loop.Now()
	for _, u := range leases {
		d.loops.assign(&fetch.Lease{
			URL: u, Ticket: d.slots.take(now, &u, errands), Sketch: d.traps.watch(&u), Guess: d.isGuess(&u),
		})
	}
	d.loops.send()
}

// isGuess reports whether the scheme of a URL is a guess, or that of all URLs that a robots.txt is
// for.
func (d *dispatcher) isGuess(u *frontier.URL) bool {
	if u.Robots {
		return u.At == nil && d.frontier.View().OnlyRank(u.URL.Origin(), fetch.GuessedRank)
	}
	return u.Rank == fetch.GuessedRank
}

// wake schedules dispatch for when the next host is due that there is room for; if no fetch may
// start, for no time.
func (d *dispatcher) wake(starts bool) {
	if d.next != nil {
		d.next.Cancel()
		d.next = nil
	}
	if !starts {
		return
	}
	if at, ok := d.nextStart(); ok {
		d.next = d.clock.loop.CallAt(at, d.dispatch)
	}
}

// nextStart returns when the next lease may start, unless an outcome comes before.
func (d *dispatcher) nextStart() (at time.Time, ok bool) {
	at, ok = d.nextPage()
	if errand, may := d.nextErrand(); may && (!ok || errand.Before(at)) {
		return errand, true
	}
	return at, ok
}

// nextErrand is nextStart for errands.
func (d *dispatcher) nextErrand() (at time.Time, ok bool) {
	at, ok = d.frontier.Errands().Next()
	at = d.clock.onLoop(at)
	switch {
	case !ok || d.loops.idle() == 0:
		return at, false
	case d.outage.down:
		return later(at, d.outage.probe), true
	case d.errandRoom() > 0:
		return at, true
	}
	slot, waits := d.slots.next()
	return later(at, slot), waits
}

// nextPage is nextStart for URLs of the crawl.
func (d *dispatcher) nextPage() (at time.Time, ok bool) {
	room := d.room()
	at, ok = d.frontier.Next()
	at = d.clock.onLoop(at)
	switch {
	case !ok || d.loops.idle() == 0:
		return at, false
	case d.outage.down:
		return later(at, d.outage.probe), true
	case room.all > 0:
		return at, true
	}
	// A slot that becomes free is for any host.
	slot, waits := d.slots.next()
	if waits {
		at = later(at, slot)
	}
	if room.prompt > 0 {
		if prompt, ok := d.frontier.NextPrompt(); ok && (!waits || d.clock.onLoop(prompt).Before(at)) {
			return d.clock.onLoop(prompt), true
		}
	}
	return at, waits
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
