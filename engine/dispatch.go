package engine

import (
	"cmp"
	"hash/fnv"
	"io"
	"time"

	"github.com/weftcrawl/weft/fetch"
	"github.com/weftcrawl/weft/frontier"
)

// Dispatch hands leases to idle workers, and ends the crawl when nothing is left to do.
func (d *Coordinator) Dispatch() {
	if d.ending.over.IsSet() || !d.ready {
		return
	}
	free := 0
	for _, n := range d.free {
		free += n
	}
	slots := min(free, d.slots.left(d.loop.Now()))
	var leases []frontier.URL
	starts := d.mayStart()
	if starts {
		most := d.outage.limit(d.loop.Now(), slots, d.frontier.Stats().Leased)
		leases = d.frontier.Lease(d.clock.now(), most)
		d.refuse()
		d.hand(leases)
		d.readForFrontier()
	}
	s := d.frontier.Stats()
	d.seeds.release(s.Pending)
	limited := d.frontier.Limited() && d.frontier.Stopped() && (s.Pending > 0 || d.seeds.reading)
	if limited {
		d.progress.summary.Stopped = cmp.Or(d.progress.summary.Stopped, "limit")
	}
	if s.Leased == 0 && d.admission.empty() && (d.ending.draining || limited || d.frontier.Over() && !d.seeds.reading) {
		d.finish()
		return
	}
	d.wakeLater(starts && free > len(leases), slots-len(leases))
}

// mayStart reports whether fetches may start now.
func (d *Coordinator) mayStart() bool {
	return !d.ending.draining && !d.committer.behind(d.loop.Now(), d.shared.Outcomes.Held()) && !d.seeds.comparing() && len(d.pauses) == 0 && !d.shared.Bodies.Full()
}

// hand posts leases to the fetch loops.
func (d *Coordinator) hand(leases []frontier.URL) {
	share := make([][]fetch.Lease, len(d.loops))
	now := d.loop.Now()
	for _, u := range leases {
		i := d.loopFor(u)
		d.free[i]--
		share[i] = append(share[i], fetch.Lease{URL: u, Ticket: d.slots.take(now)})
	}
	for i, urls := range share {
		if len(urls) > 0 {
			d.loops[i].Lease(urls)
		}
	}
}

// loopFor returns the loop for a lease: that of its host, which has its address and perhaps a
// connection, or, if that is much busier than others, the one with the most idle workers.
func (d *Coordinator) loopFor(u frontier.URL) int {
	most, busy := 0, d.cfg.Workers
	for i, n := range d.free {
		busy -= n
		if n > d.free[most] {
			most = i
		}
	}
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, u.Where().Hostname()) // never fails
	home := int(uint64(hash.Sum32()) * uint64(len(d.loops)) >> 32)
	if slack := busy / len(d.loops); d.free[home] > 0 && d.free[most]-d.free[home] <= max(slack, 1) {
		return home
	}
	return most
}

// readForFrontier has the committer read what the frontier wants back in memory.
func (d *Coordinator) readForFrontier() {
	requests := d.frontier.Reads()
	if len(requests) == 0 {
		return
	}
	d.committer.requests = append(d.committer.requests, requests...)
	d.changed()
	d.committer.hurry.Set()
}

// wakeLater schedules Dispatch for when the next host is due, or the next slot is free, if there is
// an idle worker.
func (d *Coordinator) wakeLater(idle bool, slots int) {
	if d.later != nil {
		d.later.Cancel()
		d.later = nil
	}
	at, ok := d.frontier.Next()
	if !ok || !idle || d.outage.down && d.frontier.Stats().Leased > 0 {
		return
	}
	at = d.clock.onLoop(at)
	if d.outage.down && at.Before(d.outage.probe) {
		at = d.outage.probe
	}
	if slots == 0 && at.Before(d.slots.next()) {
		at = d.slots.next()
	}
	d.later = d.loop.CallAt(at, d.Dispatch)
}

// finish ends the crawl, in which nothing is left to do.
func (d *Coordinator) finish() {
	d.ending.over.Set()
	if d.ending.breakOff != nil {
		d.ending.breakOff.Cancel()
	}
	d.changed() // the history says that it has ended, and how
	d.committer.dirty.Set()
	d.committer.hurry.Set()
	d.admission.begin.Set()
}

// DrainTime is how long a crawl that drains waits for what is in flight. It is longer than most
// fetches take, and shorter than people wait for a command that they have interrupted.
const DrainTime = 10 * time.Second

// Drain starts no more fetches. What is in flight finishes, or is broken off after DrainTime and
// stays pending; then the crawl ends.
func (d *Coordinator) Drain() {
	if e := &d.ending; !e.draining {
		e.draining, e.until = true, d.loop.Now().Add(DrainTime)
		e.breakOff = d.loop.CallAt(e.until, func() {
			for _, f := range d.loops {
				f.Break()
			}
		})
	}
	d.Dispatch()
}

// stop is Drain because of a limit.
func (d *Coordinator) stop(limit string) {
	d.progress.summary.Stopped = cmp.Or(d.progress.summary.Stopped, limit)
	d.Drain()
}

// fail ends the crawl because its outputs cannot be written, or its seeds be read.
func (d *Coordinator) fail(err error) {
	if d.ending.failure == nil {
		d.ending.failure = err
		d.Drain()
	}
}
