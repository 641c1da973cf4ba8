package frontier

// hostBytes returns about how much memory the hosts take, with their origins, names and groups,
// without what their robots.txt say.
func (r *residency) hostBytes() int {
	return r.bytes + r.agenda.bytes + r.politeness.bytes() + r.gone.Bytes()
}

// consider lines h up for eviction if nothing of it is left to do, or all of that can wait in the
// store.
func (r *residency) consider(h *host) {
	switch {
	case r.cfg.HostBytes <= 0:
	case h.isIdle():
		if !h.residence.idling {
			h.residence.idling = true
			r.idle.push(h)
		}
	case !h.residence.waiting && h.canWait():
		h.residence.waiting = true
		r.dormant.waiting.push(h)
	}
}

// noted takes in that the state of an origin of h was recorded.
func (r *residency) noted(h *host) {
	h.residence.noted = r.journal.seals
	r.consider(h)
}

// settled reports whether h, which is idle or can wait, may be evicted now: a commit has kept all
// that is known of it. A host that time alone will free stays, unless there are too many: its turn
// would come in vain, and late once it is free.
func (r *residency) settled(now moment, h *host) bool {
	if !h.residence.isKept(r.journal) || r.delaysOthers(now, h) || r.freedAt(now, h) > now && !r.givesWay(now, h) {
		return false
	}
	answered := int32(0)
	for o := range h.each {
		if o.dirty {
			return false
		}
		answered += o.answered
	}
	// Otherwise a lease counts that the store does not know: its URL was refused or postponed.
	return answered == h.leases
}

// freedAt returns until when a delay of h runs, or something of it is held or refused. That an idle
// host is held does not matter.
func (r *residency) freedAt(now moment, h *host) (at moment) {
	if h.last != never {
		at = h.last + r.politeness.delay(h)
	}
	if !h.isIdle() {
		at = max(at, h.aloneUntil())
	}
	for o := range h.each {
		if o.deadAt(now) {
			at = max(at, o.trouble.until)
		}
	}
	return at
}

// givesWay reports whether h gives way to others, although time will free it: not soon, and there
// are too many hosts.
func (r *residency) givesWay(now moment, h *host) bool {
	return r.crowded() && r.freedAt(now, h) > now+maxRest
}

// delaysOthers reports whether a host that comes to the domain of h, in which h is alone, would
// have to wait. A group stays for as long as its delay runs.
func (r *residency) delaysOthers(now moment, h *host) bool {
	return h.siblings == nil && h.last != never && h.last+r.politeness.groups.delay(false) > now
}

// crowded reports whether hosts take so much memory that some leave although time will free them.
func (r *residency) crowded() bool {
	return r.hostBytes() > 2*r.cfg.HostBytes+r.spare
}

// makeRoom evicts hosts as long as they exceed their budget: first the hosts that have been
// idle for longest, then waiting ones that have been resident for longest. While a batch of URLs is
// looked up, hosts stay, so that each is resident, or not, until all of the batch are added.
func (r *residency) makeRoom(now moment) {
	if r.cfg.HostBytes <= 0 || r.batch.unanswered {
		return
	}
	most := r.cfg.HostBytes - r.dormant.turnover(r.cfg.HostBytes)
	r.evictFrom(now, &r.idle, most, func(h *host) evictability {
		switch {
		case !h.isIdle():
			h.residence.idling = false
			r.consider(h) // it may be able to wait
			return notAnyMore
		case r.settled(now, h):
			return evictable
		}
		return notYet
	})
	r.evictFrom(now, &r.dormant.waiting, most, func(h *host) evictability {
		switch {
		case !h.canWait():
			h.residence.waiting = false
			return notAnyMore
		case h.residence.owed && !h.waitsForGroup() && !h.isAhead() && !h.isIdle() && !r.givesWay(now, h):
		case r.settled(now, h):
			return evictable
		}
		return notYet
	})
	r.politeness.groups.sweep(now)
}

// evictability is a verdict on a host in a line: may it be evicted?
type evictability int

// evictFrom evicts hosts from a line until hosts take no more memory than most. One that may not
// leave is not looked at again before the next commit, or a second: it may have 65,535 origins.
func (r *residency) evictFrom(now moment, l *evictionLine, most int, judge func(*host) evictability) {
	for vain := 0; r.hostBytes() > most && !l.empty() && vain < maxVain; {
		c := l.pop()
		h := c.host
		switch {
		case h.residence.evicted:
			continue
		case c.noted != h.residence.noted: // recorded since
			c.noted, c.next = h.residence.noted, 0
		case now >= c.next || c.saved != r.journal.saved:
			switch judge(h) {
			case notAnyMore:
				continue
			case evictable:
				r.evict(h)
				continue
			}
			c.next, c.saved = now+lookAgain, r.journal.saved
			vain += h.count() - 1
		}
		vain++
		l.hosts = append(l.hosts, c)
	}
}

// evict drops h. The store must have all of its state.
func (r *residency) evict(h *host) {
	r.politeness.withdraw(h)
	h.residence.evicted = true
	r.dormant.evicted(h.name())
	r.agenda.levels.nearer.evicted(h.name())
	r.removed(h)
	r.politeness.remove(h)
	delete(r.ownership.foreigners, h)
	for o := range h.each {
		s := OriginState{
			Pending: int(o.pending), Tried: int(o.tried), Answered: int(o.answered), Levels: r.agenda.evicted(o),
		}
		if !h.foreign {
			r.countEvicted(o.name, s, 1)
		}
	}
}

// countEvicted counts an origin that is evicted from now on, or with -1 is not any more.
func (r *residency) countEvicted(name string, s OriginState, n int) {
	r.evicted += n
	r.dormant.count(s, n)
	if s.Pending > 0 {
		r.agenda.levels.countDormant(s.Levels, n)
	}
	r.ownership.countEvicted(name, s, n)
}

// evictionLine is hosts that may be evicted, those first that have waited for it for longest.
type evictionLine struct {
	hosts []candidate
	head  int
}

// candidate is a host that may be evicted.
type candidate struct {
	host  *host
	noted uint32 // its last record when it was put there
	saved uint32 // the commit after which it could not leave
	next  moment // not looked at again before, or before another commit
}

func (l *evictionLine) push(h *host) {
	l.hosts = append(l.hosts, candidate{host: h, noted: h.residence.noted})
}

func (l *evictionLine) empty() bool { return l.head == len(l.hosts) }

// pop removes the first of a line that is not empty.
func (l *evictionLine) pop() candidate {
	c := l.hosts[l.head]
	l.hosts[l.head] = candidate{}
	if l.head++; l.head > len(l.hosts)/2 {
		l.hosts = append(l.hosts[:0:0], l.hosts[l.head:]...)
		l.head = 0
	}
	return c
}

// canWait reports whether h may be evicted with what is pending of it, as far as settled does not
// say.
func (h *host) canWait() bool {
	if h.busy > 0 || h.resolve == addressAsked || h.origins != nil && h.origins.isRedirecting() {
		return false
	}
	for o := range h.each {
		refilling := o.backlog != nil && o.backlog.refill != nil
		if o.leased > 0 || o.errands != nil || o.starved || o.robots.waits() || refilling || !storable(o.name) {
			return false
		}
	}
	return true
}

// waitsForGroup reports whether h waits for others: of its domain, or its address.
func (h *host) waitsForGroup() bool {
	if h.turn.index >= 0 {
		return h.waitsFor != BlockedByNone
	}
	return h.turn.rank >= 0
}

// isAhead reports whether what is next of h is deeper than its level.
func (h *host) isAhead() bool { return !h.hasTurn() && h.own.step != nil && h.own.step.index >= 0 }

// isIdle reports whether nothing of h is left to do.
func (h *host) isIdle() bool {
	if h.busy > 0 || h.resolve == addressAsked || h.hasTurn() {
		return false
	}
	if all := h.origins; all != nil && (all.due.Len()+all.doubts.Len() > 0 || all.isRedirecting()) {
		return false
	}
	for o := range h.each {
		queued := o.pending > 0 || o.retry != nil || o.backlog != nil
		if queued || o.leased > 0 || o.errands != nil || o.starved || o.robots.waits() || !storable(o.name) {
			return false
		}
	}
	return true
}
