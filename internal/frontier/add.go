package frontier

import "time"

// Add makes a URL pending, and reports whether it did: not if the URL was seen before, if it is of
// another partition (see Partitions.SendBy), if its host has had LimitPerHost or, unless it is a
// seed, if its path has had MaxVariants. With SeenBytes or HostBytes it is a URL of the batch last
// given to Prepare.
func (f *Frontier) Add(u URL) bool {
	if f.residency.batch.unanswered {
		panic("frontier: Add: the page for the batch was not provided")
	}
	if f.residency.ownership.sends(&u) {
		return false
	}
	if u.From == "" {
		f.politeness.addSeed(f.residency.originOf(f.clock.now, u.URL))
	}
	fp := u.Fingerprint()
	if f.agenda.crawled(&u) || !f.agenda.seen.add(fp) {
		f.agenda.stats.Duplicates++
		f.follow(f.agenda.shortened(fp, u.Hops))
		f.foundAgain(&u)
		return false
	}
	f.agenda.number(&u, fp)
	o := f.residency.originOf(f.clock.now, u.URL)
	f.found(o, &u)
	if f.agenda.dropped(o, &u, fp) {
		return false
	}
	f.agenda.add(o, &u)
	f.politeness.place(f.clock.now, o)
	return true
}

// found takes in that a URL leads to o, perhaps from another site.
func (f *Frontier) found(o *origin, u *URL) {
	if !f.cfg.Levels {
		return
	}
	f.agenda.levels.reach(u.Depth)
	from := originOf(u.From)
	if from == "" || from == o.name || u.Role.Beyond() {
		return
	}
	if source := f.residency.origin(from); source != nil {
		f.agenda.levels.link(f.clock.now, source, o)
	}
}

// foundAgain takes in another way to a URL that was seen.
func (f *Frontier) foundAgain(u *URL) {
	if !f.cfg.Levels {
		return
	}
	o := f.residency.origin(u.URL.Origin())
	if o != nil {
		f.found(o, u)
	}
	from := originOf(u.From)
	f.agenda.foundAgain(f.clock.now, u, o, f.residency.origin(from), f.residency.ownership.foreign(Hostname(from)))
}

// Redirect says that u, which is leased, was answered by a redirect. The target is added like any
// link, so two ways to one target meet, unless MaxRedirects in a row led to u. Then Redirect
// returns false, and the target waits for a shorter way to u to turn up.
func (f *Frontier) Redirect(u, target URL) bool {
	return f.follow(f.agenda.redirected(&u, &target))
}

// follow adds the target of a URL that has redirected, if that is near enough; nil: none is known.
func (f *Frontier) follow(h *hops) bool {
	if h == nil || h.target == nil || h.fewest >= f.cfg.MaxRedirects {
		return false
	}
	target := *h.target
	target.Hops = h.fewest + 1
	f.Add(target)
	return true
}

// Again makes a URL pending that is done: its response was to a request that would be another one
// now. It is the URL as Done was given it, and has been given to Prepare as a seed. It comes before
// all that were never tried, and no limit counts it twice. Again reports whether it is pending
// here: one of another partition is sent.
func (f *Frontier) Again(now time.Time, u URL) bool {
	if f.residency.ownership.sends(&u) {
		return false
	}
	f.clock.advance(now)
	o := f.residency.originOf(f.clock.now, u.URL)
	f.agenda.reopen(o, &u, now)
	f.agenda.wait(o, u, f.clock.moment(now))
	f.politeness.place(f.clock.now, o)
	return true
}
