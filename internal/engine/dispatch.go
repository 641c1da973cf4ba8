package engine

import (
	"cmp"
	"hash/fnv"
	"io"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// Dispatch hands leases to idle workers, and ends the crawl when nothing is left to do.
func (d *Coordinator) Dispatch() {
	if d.ending.over.IsSet() || !d.ready {
		return
	}
	starts := d.mayStart()
	if starts {
		now, room := d.clock.now(), d.room()
		leases := d.frontier.Lease(now, room.all)
		if room.prompt > room.all {
			leases = append(leases, d.frontier.LeasePrompt(now, room.prompt-len(leases))...)
		}
		if d.outage.down && len(leases) > 0 {
			d.outage.probed(d.loop.Now())
		}
		d.refuse()
		d.hand(leases)
		d.readForFrontier()
	}
	s := d.frontier.Stats()
	d.seeds.release(s.Pending)
	d.wantMore()
	limited := (d.cfg.Frontier.Limit > 0 || d.node.limited) && d.frontier.Limited() && d.frontier.Stopped() && (s.Pending > 0 || d.seeds.reading)
	if limited {
		d.progress.summary.Stopped = cmp.Or(d.progress.summary.Stopped, "limit")
	}
	ends := (d.ending.draining || limited) && d.mayLeave()
	if s.Leased == 0 && d.admission.empty() && (ends || d.frontier.Over() && !d.seeds.reading && d.node.mayEnd()) {
		d.finish()
		return
	}
	d.checkDrains()
	d.wakeLater(starts)
	d.tellHomes()
}

// mayStart reports whether fetches may start now, as far as hosts do not matter.
func (d *Coordinator) mayStart() bool {
	now := d.loop.Now()
	return !d.ending.draining && !d.committer.behind(now, d.shared.Outcomes.Held()) && !d.seeds.comparing() && len(d.pauses) == 0 && !d.node.untold.overdue(now)
}

// room is how many leases may start: of all hosts, and as many of prompt ones in all.
type room struct{ all, prompt int }

// reserved is the part of workers and slots that only prompt hosts have, one in so many, as of the
// memory for bodies: see budget.
const reserved = 8

// room returns how many leases may start now. Without hosts that need it nothing is reserved.
func (d *Coordinator) room() room {
	now := d.loop.Now()
	idle, left := d.idle(), d.slots.left(now)
	most := d.outage.limit(now, min(idle, left))
	r := room{most, most}
	if !d.outage.down && d.frontier.Reserves(d.clock.now()) {
		r.all = max(0, min(idle-d.cfg.Workers/reserved, left-d.slots.most/reserved))
	}
	switch {
	case d.shared.Bodies.Full(true):
		return room{}
	case d.shared.Bodies.Full(false):
		r.all = 0
	}
	return r
}

// hand posts leases to the fetch loops.
func (d *Coordinator) hand(leases []frontier.URL) {
	share := make([][]fetch.Lease, len(d.loops))
	now := d.loop.Now()
	for _, u := range leases {
		i := d.loopFor(u)
		d.free[i]--
		share[i] = append(share[i], fetch.Lease{
			URL: u, Ticket: d.slots.take(now, &u), Sketch: d.traps.watch(&u), Guess: d.isGuess(&u),
		})
	}
	for i, urls := range share {
		if len(urls) > 0 {
			d.loops[i].Lease(urls)
		}
	}
}

// isGuess reports whether the scheme of a URL is a guess, or that of all URLs that a robots.txt is for.
func (d *Coordinator) isGuess(u *frontier.URL) bool {
	if u.Robots {
		return u.At == nil && d.frontier.View().OnlyRank(u.URL.Origin(), fetch.GuessedRank)
	}
	return u.Rank == fetch.GuessedRank
}

// placing is which loop gets a lease.
type placing struct {
	free  []int // by loop: workers without a lease
	http1 http1
}

// loopFor returns the loop for a lease: that of its host, which has its address and perhaps a
// connection, or, if that is much busier than others, the one with the most idle workers. A host that
// may speak HTTP/2 keeps its loop, whose one connection serves all requests.
func (d *Coordinator) loopFor(u frontier.URL) int {
	most, busy := 0, d.cfg.Workers
	for i, n := range d.free {
		busy -= n
		if n > d.free[most] {
			most = i
		}
	}
	where := u.Where()
	host := where.Hostname()
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, host) // never fails
	home := int(uint64(hash.Sum32()) * uint64(len(d.loops)) >> 32)
	keeps := where.Scheme() == "https" && !d.http1.has(host)
	if slack := busy / len(d.loops); d.free[home] > 0 && (keeps || d.free[most]-d.free[home] <= max(slack, 1)) {
		return home
	}
	return most
}

// http1 are hosts that have chosen HTTP/1.1 over TLS.
type http1 struct{ hosts map[string]struct{} }

// mostHTTP1 bounds them. Beyond it all are forgotten, and keep to one loop until they respond again.
const mostHTTP1 = 4096

func (h *http1) has(host string) bool {
	_, has := h.hosts[host]
	return has
}

// learn takes in how a host has responded.
func (h *http1) learn(r *record.Record, at weburl.URL) {
	switch host := at.Hostname(); {
	case at.Scheme() != "https" || r.Protocol == "":
	case r.Protocol == "h2":
		delete(h.hosts, host)
	case !h.has(host):
		if h.hosts == nil || len(h.hosts) >= mostHTTP1 {
			h.hosts = make(map[string]struct{})
		}
		h.hosts[strings.Clone(host)] = struct{}{}
	}
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

// wakeLater schedules Dispatch for when the next host is due that there is room for.
func (d *Coordinator) wakeLater(starts bool) {
	if d.later != nil {
		d.later.Cancel()
		d.later = nil
	}
	if !starts {
		return
	}
	if at, ok := d.nextStart(); ok {
		d.later = d.loop.CallAt(at, d.Dispatch)
	}
}

// nextStart returns when the next lease may start, unless an outcome comes before.
func (d *Coordinator) nextStart() (at time.Time, ok bool) {
	room := d.room()
	at, ok = d.frontier.Next()
	at = d.clock.onLoop(at)
	switch {
	case !ok || d.idle() == 0:
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

// idle returns how many workers have no lease.
func (d *Coordinator) idle() (n int) {
	for _, free := range d.free {
		n += free
	}
	return n
}

// finish ends the crawl, in which nothing is left to do.
func (d *Coordinator) finish() {
	d.ending.over.Set()
	if d.committer.archive.name != "" {
		d.committer.archive.end(d.committer.open.state)
	}
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

// Drain is drain for people, who do not wait for a full disk: after DrainTime what needs room there
// fails, and the crawl with it.
func (d *Coordinator) Drain() {
	if d.ending.giveUp == nil {
		d.ending.giveUp = d.loop.CallLater(d.ending.patience, d.committer.abandon)
	}
	d.drain()
}

// drain starts no more fetches. What is in flight finishes, or is broken off after DrainTime and
// stays pending; then the crawl ends.
func (d *Coordinator) drain() {
	if e := &d.ending; !e.draining {
		e.draining, e.until = true, d.loop.Now().Add(e.patience)
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
	d.drain()
}

// fail ends the crawl because its outputs cannot be written, or its seeds be read.
func (d *Coordinator) fail(err error) {
	if d.ending.failure == nil {
		d.ending.failure = err
		d.drain()
	}
}
