package frontier

const (
	// maxRefills is the most origins that are refilled at once, so that a crawl with a million origins
	// does not read of each when it restarts.
	maxRefills = 1000

	// refillAll is the number of URLs that a refill brings without Heads.
	refillAll = 10_000

	// atOnce is the least number of URLs of an origin that a refill brings, if so many can be leased
	// at once, even if there is no room.
	atOnce = 8

	// usualCost is the usual size of a URL, for sharing the room.
	usualCost = costOfURL + 80
)

// refills is the share of the queues that is in memory, and the origins whose queues are refilled.
type refills struct {
	cfg      *Config
	bytes    int       // memory of the URLs in queues
	backlogs int       // origins that have one
	wanted   []*origin // to be requested
	unread   int       // wanted, or requested and not answered
}

// crowded reports whether there is no room for another URL in memory.
func (r *refills) crowded() bool { return r.cfg.InMemory > 0 && r.bytes > r.cfg.InMemory }

// heads returns how many URLs stay in memory of an origin with a backlog; these origins share the
// room. It may be none.
func (r *refills) heads() int {
	if r.cfg.InMemory <= 0 {
		return r.cfg.Heads
	}
	return min(r.cfg.Heads, r.cfg.InMemory/usualCost/max(1, r.backlogs))
}

// backlog returns that of o, which has one from now on.
func (r *refills) backlog(o *origin) *backlog {
	if o.backlog == nil {
		o.backlog = new(backlog)
		r.backlogs++
	}
	return o.backlog
}

// release drops the backlog of o if it is empty.
func (r *refills) release(o *origin) {
	if b := o.backlog; b != nil && !b.more && b.refill == nil {
		o.backlog = nil
		r.backlogs--
	}
}

// restore makes everything pending of an origin that was recalled its backlog.
func (r *refills) restore(o *origin, s *OriginState) {
	if s.Pending > 0 {
		*r.backlog(o) = backlog{cursor: beforeAll, more: true, n: s.Pending, tried: s.Tried}
	}
}

// dropped takes in that an origin with something pending was evicted.
func (r *refills) dropped(o *origin) {
	r.bytes -= costOf(&o.queue)
	if o.backlog != nil {
		r.backlogs--
	}
}

// add queues a new URL, in memory or behind the cursor in the store.
func (r *refills) add(o *origin, u *URL) {
	if o.step != nil {
		o.step.floor = min(o.step.floor, u.Depth)
	}
	if b := o.backlog; b != nil && b.cursor.Compare(u.QueueKey()) < 0 {
		b.n++
		b.more = true
		if b.refill != nil {
			b.refill.keep(u, max(r.heads(), min(r.cfg.Heads, atOnce)))
		}
		return
	}
	r.queue(o, u)
	r.trim(o)
	if r.crowded() {
		r.spill(o)
	}
}

// queue puts a URL into the queue of o.
func (r *refills) queue(o *origin, u *URL) {
	push(&o.queue, u)
	r.bytes += u.cost()
}

// trim leaves the tail of a queue that has grown too long to the store.
func (r *refills) trim(o *origin) {
	if r.cfg.Heads > 0 && o.queued() > 2*r.cfg.Heads {
		r.cut(o, r.cfg.Heads)
	}
}

// spill leaves the second half of a queue to the store. An origin's last URL stays while a refill
// is being read, so that its turn is not in vain.
func (r *refills) spill(o *origin) {
	keep := o.queued() / 2
	if keep > 0 || o.backlog == nil || o.backlog.refill == nil {
		r.cut(o, keep)
	}
}

// cut leaves all but the first URLs of a queue to the store.
func (r *refills) cut(o *origin, keep int) {
	n, b := o.queued(), r.backlog(o)
	var freed int
	b.cursor, freed = cut(&o.queue, keep)
	r.bytes -= freed
	b.more = true
	b.n += n - keep
	if b.refill != nil {
		b.refill.void = true
	}
}

// want requests URLs of o, whose turn it is, if it has few in memory.
func (r *refills) want(o *origin, turn bool) {
	if r.unread >= maxRefills {
		return
	}
	heads := r.heads()
	if r.cfg.Heads <= 0 || o.queued() <= heads/4 && (turn || heads > 0 && !r.crowded()) {
		o.backlog.refill = &refill{empty: turn, at: o.host.turn.at, order: o.host.turn.order}
		r.wanted = append(r.wanted, o)
		r.unread++
	}
}

// size returns how many URLs to request for o, if usable ones can be leased at its turn.
func (r *refills) size(o *origin, usable int) int {
	switch {
	case r.cfg.InMemory > 0:
		return max(usable, r.heads()-o.queued())
	case r.cfg.Heads > 0:
		return max(1, r.cfg.Heads-o.queued())
	}
	return refillAll
}

// fit returns how many of the URLs read for an origin there is room for, at least usable.
func (r *refills) fit(usable int, urls []URL) int {
	if r.cfg.InMemory <= 0 {
		return len(urls)
	}
	room := r.cfg.InMemory - r.bytes
	for i := range urls {
		if room -= urls[i].cost(); room < 0 && i >= usable {
			return i
		}
	}
	return len(urls)
}
