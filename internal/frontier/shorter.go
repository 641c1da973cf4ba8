package frontier

import (
	"maps"
	"slices"

	"github.com/weftcrawl/weft/weburl"
)

// openLevels opens the levels that nothing blocks, with so many leases in flight.
func (a *agenda) openLevels(now moment, inFlight int) {
	ls := &a.levels
	if !a.cfg.Levels {
		return
	}
	if ls.nearer.hurry && a.journal.to == nil {
		a.moveInMemory(now)
	}
	if a.hangs(now, inFlight) {
		ls.open(now, &ls.common)
	}
	for len(ls.vacant) > 0 {
		l := ls.vacant[len(ls.vacant)-1]
		if l.blockers == 0 && !l.joined && (l.ahead.Len() > 0 || l == &ls.common) && !a.mayOpen(now) {
			return
		}
		ls.vacant = ls.vacant[:len(ls.vacant)-1]
		l.listed = false
		for l.blockers == 0 && !l.joined && ls.open(now, l) {
		}
	}
}

// mayOpen reports whether levels may open now: no seeds are to come, and nothing is to be moved to
// an open one.
func (a *agenda) mayOpen(now moment) bool {
	if now < a.levels.until {
		return false
	}
	if a.journal.to == nil {
		a.moveInMemory(now)
	}
	return a.levels.nearer.empty()
}

// hangs reports whether all that blocks the common level is in flight, and silent.
func (a *agenda) hangs(now moment, inFlight int) bool {
	ls := &a.levels
	if !a.mayHang(inFlight) || now < ls.stirred+hangTime {
		return false
	}
	ls.stirred = now
	silent := make(map[*origin]struct{})
	for _, o := range a.leased {
		if o.step.blocks && ls.levelOf(o) == &ls.common {
			silent[o] = struct{}{}
		}
	}
	return len(silent) == ls.common.blockers && a.mayOpen(now)
}

// mayHang reports whether the common level waits for something in flight.
func (a *agenda) mayHang(inFlight int) bool {
	l := &a.levels.common
	return l.blockers > 0 && l.ahead.Len() > 0 && inFlight > 0
}

// nextLevel returns when a level may open by itself, or Reads has a request for that.
func (a *agenda) nextLevel(now moment, inFlight int) (at moment, ok bool) {
	ls := &a.levels
	switch {
	case len(ls.vacant) > 0 && now < ls.until:
		return ls.until, true
	case a.wantsNearer():
		return now, true
	case a.mayHang(inFlight):
		return ls.stirred + hangTime, true
	}
	return 0, false
}

// wantsNearer reports whether pending URLs are to be looked up in the store.
func (a *agenda) wantsNearer() bool {
	n := &a.levels.nearer
	return a.journal.to != nil && n.asked == nil && len(n.ways) > 0 &&
		(len(n.ways) >= fewNearer || n.text >= nearerText/4 || n.hurry || len(a.levels.vacant) > 0)
}

// requestNearer requests those of the URLs found again that are pending.
func (a *agenda) requestNearer() (r Request, ok bool) {
	if !a.wantsNearer() {
		return r, false
	}
	n := &a.levels.nearer
	n.asked, n.ways, n.left = n.ways, nil, make(map[string]struct{})
	return Request{Kind: Find, URLs: slices.Collect(maps.Keys(n.asked))}, true
}

// resume places the origins that no URL has to be moved to any more.
func (a *agenda) resume(now moment) {
	n := &a.levels.nearer
	names := slices.Sorted(maps.Keys(n.names))
	n.names = nil
	for u := range n.ways {
		n.name(u)
	}
	for _, name := range names {
		if o := a.above.resident(name); o != nil {
			a.above.changed(now, o)
		}
	}
}

// moveInMemory does the same of a crawl without a journal, in which everything is in memory.
func (a *agenda) moveInMemory(now moment) {
	n := &a.levels.nearer
	ways := n.ways
	n.ways, n.hurry = nil, false
	found := make(map[*origin][]URL)
	for u := range ways {
		if o := a.above.resident(u.Origin()); o != nil {
			found[o] = nil
		}
	}
	for o := range found {
		for c, queued := range o.queue.All() {
			if _, ok := ways[queued.url]; ok && !queued.role().Beyond() {
				found[o] = append(found[o], queued.as(c))
			}
		}
	}
	a.moveAll(now, found, ways)
	a.resume(now)
}

// moveAll moves pending URLs that were never leased to the depths of shorter ways.
func (a *agenda) moveAll(now moment, found map[*origin][]URL, ways map[weburl.URL]way) {
	for _, o := range slices.SortedFunc(maps.Keys(found), byName) {
		inMemory := make(map[uint64]struct{})
		moved := slices.DeleteFunc(found[o], func(u URL) bool {
			return u.Tries > 0 || u.Depth <= ways[u.URL].depth || a.leased[u.leaseKey()] != nil || o.capped
		})
		for i := range moved {
			if b := o.backlog; b == nil || b.cursor.Compare(moved[i].QueueKey()) >= 0 {
				inMemory[moved[i].Seq] = struct{}{}
			}
		}
		gone := a.unqueue(o, inMemory)
		for _, u := range moved {
			_, queued := inMemory[u.Seq]
			if _, taken := gone[u.Seq]; !queued {
				o.backlog.n--
				o.backlog.ended(u.Seq)
			} else if !taken { // it has ended, or is to be tried again
				continue
			}
			a.moveNearer(o, u, ways[u.URL])
		}
		a.above.changed(now, o)
	}
}

// unqueue takes URLs out of the queue of o, and returns those that were there.
func (a *agenda) unqueue(o *origin, seqs map[uint64]struct{}) map[uint64]struct{} {
	gone := make(map[uint64]struct{})
	if len(seqs) == 0 {
		return gone
	}
	o.queue.Remove(func(_ class, n *queued) bool {
		_, ok := seqs[n.seq()]
		if ok {
			gone[n.seq()] = struct{}{}
			a.refills.bytes -= n.cost()
		}
		return ok
	})
	return gone
}

// moveNearer queues a URL of o, which is in no queue any more, at the depth of a way to it.
func (a *agenda) moveNearer(o *origin, u URL, w way) {
	was := u.QueueKey()
	a.seq++
	u.Seq, u.Depth, u.From, u.ByDepth = a.seq, w.depth, w.from, w.depth > 0
	a.journal.record(func(l Journal) { l.Moved(u, was) })
	a.journal.originChanged(o)
	a.refills.add(o, &u)
}

// foundAgain takes in that u, which was seen, was found again: on an origin of another partition
// (elsewhere), or on from, nil if that is not in memory; o is the URL's own, or nil. That way may
// be shorter if it is no deeper than the level: what is found by links from an open level is one
// deeper.
func (a *agenda) foundAgain(now moment, u *URL, o, from *origin, elsewhere bool) {
	ls := &a.levels // elsewhere these may be deeper, or less deep, than here
	if u.Depth >= ls.found || u.Depth > ls.deepest && !elsewhere || u.Role.Beyond() {
		return
	}
	// An origin may be ahead of sites that it has joined.
	if o == nil || elsewhere || u.Depth <= ls.levelOf(o).depth || from != nil && u.Depth <= from.step.reached {
		if ls.nearer.keep(u.URL, way{u.Depth, u.From}) {
			a.journal.record(func(l Journal) { l.Nearer(*u, true) })
		}
	}
	if o != nil && ls.nearer.on(o) {
		a.above.changed(now, o)
	}
}

// asked returns the ways of the URLs that were requested, whose page has come.
func (a *agenda) asked() map[weburl.URL]way {
	n := &a.levels.nearer
	if n.asked == nil {
		panic("frontier: Provide: nobody has requested pending URLs")
	}
	asked := n.asked
	n.asked, n.hurry = nil, false
	return asked
}

// shorten moves the URLs that were asked for, and found pending, to the depths of the ways to them.
func (a *agenda) shorten(now moment, found map[*origin][]URL, asked map[weburl.URL]way) {
	for u := range asked {
		if _, again := a.levels.nearer.ways[u]; !again {
			a.journal.record(func(l Journal) { l.Nearer(URL{URL: u}, false) })
		}
	}
	a.moveAll(now, found, asked)
	a.resume(now)
}
