package frontier

// requestRefills returns the requests for the origins that are wanted. Usable is how
// many URLs of an origin can be leased at its turn.
func (a *agenda) requestRefills(usable func(*origin) int) []Request {
	var requests []Request
	for _, o := range a.refills.wanted {
		r := o.backlog.refill
		*r = refill{empty: r.empty, at: r.at, order: r.order} // the store has the changes up to now
		requests = append(requests, Request{
			Kind: Refill, Origin: o.name, After: o.backlog.cursor, N: a.refills.size(o, usable(o)),
		})
	}
	clear(a.refills.wanted)
	a.refills.wanted = a.refills.wanted[:0]
	return requests
}

// refilled takes in the page of o: the first of its pending URLs after the cursor, in order, and
// whether there are others behind. It returns the refill, which has ended.
func (a *agenda) refilled(now moment, o *origin, usable int, urls []URL, more bool) *refill {
	r := o.backlog.refill
	o.backlog.refill = nil
	a.refills.unread--
	if !r.void {
		if n := a.refills.fit(usable, urls); n < len(urls) {
			urls, more = urls[:n], true
		}
		a.load(now, o, r, urls, more)
		a.refills.trim(o)
	}
	a.refills.release(o)
	return r
}

// load brings URLs that were read from the store into memory.
func (a *agenda) load(now moment, o *origin, r *refill, urls []URL, more bool) {
	b := o.backlog
	urls = b.merge(r, urls, more)
	missing := make(map[uint64]struct{}, len(urls))
	for i := range urls {
		missing[urls[i].Seq] = struct{}{}
	}
	for seq := range r.ended {
		delete(missing, seq)
	}
	for _, w := range o.again() {
		delete(missing, w.url.Seq)
	}
	for i := range urls {
		u := &urls[i]
		if b.more && b.cursor.Compare(u.QueueKey()) < 0 {
			break
		}
		if _, ok := missing[u.Seq]; !ok || a.leased[u.leaseKey()] != nil {
			continue
		}
		delete(missing, u.Seq) // it may be both in the page and kept
		b.n--
		if u.Tries > 0 {
			b.tried--
			a.queueAgain(o, *u, a.epoch.restored(now, u.NotBefore, MaxRetryAfter))
		} else {
			a.refills.queue(o, u)
		}
	}
	a.recount(o)
}

// recount makes the size of a backlog agree with what was read of it. It does, unless the store was
// damaged; then the crawl ends all the same, with everything there is.
func (a *agenda) recount(o *origin) {
	b := o.backlog
	n, tried := 0, 0
	if b.more {
		n, tried = max(b.n, 0), max(b.tried, 0)
	}
	if n != b.n || o.step != nil { // its least depth may be known by now
		a.journal.originChanged(o)
	}
	o.pending += int32(n - b.n)
	a.stats.Pending += n - b.n
	a.fresh += n - tried - (b.n - b.tried)
	b.n, b.tried = n, tried
}

// lost takes in that the store lacks URLs of dormant origins, some of which were never leased.
func (a *agenda) lost(pending, fresh int) {
	a.stats.Pending -= pending
	a.fresh -= fresh
	clear(a.levels.dormant)
}
