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

// room returns how many leases may start now. Without hosts that need it nothing is reserved.
func (d *dispatcher) room() room {
	now := d.clock.loop.Now()
	idle, left := d.loops.idle(), d.slots.left(now)
	most := d.outage.limit(now, min(idle, left))
	r := room{most, most}
	if !d.outage.down && d.frontier.View().Reserves(d.clock.now()) {
		r.all = max(0, min(idle-d.loops.workers/reserved, left-d.slots.most/reserved))
	}
	switch {
	case d.bodies.Full(true), d.rendered.Full(true):
		return room{}
	case d.bodies.Full(false):
		r.all = 0
	}
	return r
}

// lease takes URLs from the frontier.
func (d *dispatcher) lease() []frontier.URL {
	now, errands := d.clock.now(), d.errands()
	room := d.room()
	room.all, room.prompt = max(0, room.all-len(errands)), max(0, room.prompt-len(errands))
	leases := d.frontier.Lease(now, room.all)
	if room.prompt > room.all {
		leases = append(leases, d.frontier.LeasePrompt(now, room.prompt-len(leases))...)
	}
	leases = append(errands, leases...)
	if d.outage.down && len(leases) > 0 {
		d.outage.probed(d.clock.loop.Now())
	}
	return leases
}

// errands takes what pages need that are being rendered: they come first, whatever waits, as they
// hold memory.
func (d *dispatcher) errands() []frontier.URL {
	if d.rendered == nil {
		return nil
	}
	now := d.clock.loop.Now()
	return d.frontier.Errands().Lease(d.clock.now(), d.outage.limit(now, min(d.loops.idle(), d.slots.left(now))))
}

// hand hands URLs that are leased to the fetch loops.
func (d *dispatcher) hand(leases []frontier.URL) {
	now := d.clock.loop.Now()
	for _, u := range leases {
		d.loops.assign(&fetch.Lease{
			URL: u, Ticket: d.slots.take(now, &u), Sketch: d.traps.watch(&u), Guess: d.isGuess(&u),
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
	if at, ok := d.frontier.Errands().Next(); ok && d.loops.idle() > 0 {
		if page, any := d.nextPage(); !any || d.clock.onLoop(at).Before(page) {
			return later(d.clock.onLoop(at), d.slotFree()), true
		}
	}
	return d.nextPage()
}

// slotFree returns when there is a slot; zero: now.
func (d *dispatcher) slotFree() time.Time {
	if d.slots.left(d.clock.loop.Now()) > 0 {
		return time.Time{}
	}
	at, _ := d.slots.next()
	return at
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
