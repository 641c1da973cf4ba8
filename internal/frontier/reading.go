package frontier

import "fmt"

// requestDormant requests dormant origins if they are wanted.
func (r *residency) requestDormant(now moment) (Request, bool) {
	d := &r.dormant
	if !d.useful(r.agenda.limited()) || d.resting(now) {
		return Request{}, false
	}
	r.makeRoom(now)
	room := r.cfg.HostBytes - r.hostBytes()
	return d.ask(now, room, r.cfg.HostBytes, r.origins, r.agenda.refills.unread, r.agenda.limited())
}

// revive takes in the answer to a request for dormant origins: all origins of the names that were
// found.
func (r *residency) revive(now moment, origins []StoredOrigin, last string) {
	d := &r.dormant
	if d.request == nil {
		panic("frontier: Provide: nobody has requested dormant origins")
	}
	tried := d.request.Tried
	d.request = nil
	revived := 0
	for _, s := range origins {
		name := Hostname(s.Name)
		_, left := d.left[name]
		if r.ownership.unread(name) { // it may count until it is forgotten
			d.same = false
			continue
		}
		if left || r.origin(s.Name) != nil {
			continue
		}
		r.comeBack(now, s.OriginState, s.Rules).host.residence.owed = true
		revived++
	}
	r.allRead()
	if d.answered(now, revived, last) { // the crawl ends all the same, with everything there is
		pending, fresh := d.missing(tried)
		r.agenda.lost(pending, fresh)
	}
}

// moveFound moves the URLs of a page, which were found again by a shorter way, with what is known
// of their origins.
func (r *residency) moveFound(now moment, p Page) {
	asked := r.agenda.asked()
	n := &r.agenda.levels.nearer
	for _, s := range p.Origins {
		name := Hostname(s.Name)
		if _, left := n.left[name]; !left && r.origin(s.Name) == nil && !r.ownership.unread(name) {
			r.comeBack(now, s.OriginState, s.Rules)
		}
	}
	found := make(map[*origin][]URL)
	for _, u := range p.URLs {
		if o := r.origin(u.URL.Origin()); o != nil {
			found[o] = append(found[o], u)
		} else if !r.ownership.foreign(u.URL.Hostname()) { // it was evicted meanwhile
			n.keep(u.URL, asked[u.URL])
		}
	}
	r.agenda.shorten(now, found, asked)
	r.allRead()
}

// refill takes in the page for an origin: the first of its pending URLs after the cursor, in order,
// and whether there are others behind.
func (r *residency) refill(now moment, name string, urls []URL, more bool) {
	o := r.origin(name)
	if o == nil || o.backlog == nil || o.backlog.refill == nil {
		panic(fmt.Sprintf("frontier: Provide: nobody has requested a refill of %q", name))
	}
	ended := r.agenda.refilled(now, o, r.politeness.usable(o), urls, more)
	r.politeness.place(now, o)
	if ended.empty && o.host.hasTurn() && o.host.turn.at <= now {
		r.politeness.changeTurn(o.host, ended.at, ended.order)
	}
	r.consider(o.host)
}

// reading reports whether origins or URLs are being read that are not of the batch.
func (r *residency) reading() bool {
	return r.dormant.request != nil || r.agenda.levels.nearer.asked != nil
}

// allRead takes in that a page was provided; if others are being read, nothing changes.
func (r *residency) allRead() {
	if !r.reading() {
		clear(r.ownership.late)
	}
}
