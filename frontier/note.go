package frontier

import "slices"

// Tell makes the frontier tell l of each change from now on; nil: nobody.
func (f *Frontier) Tell(l Ledger) { f.ledger = l }

// NoteHosts tells the ledger the state of each host that has changed since the last
// call, and the counts. With what was told before, that is a state to begin from again.
func (f *Frontier) NoteHosts() {
	f.idle.notes++
	for _, h := range f.dirty {
		h.dirty = false
		h.noted = f.idle.notes
		f.ledger.Host(f.state(h))
		f.rests(h.server)
	}
	clear(f.dirty)
	f.dirty = f.dirty[:0]
	if f.ledger != nil {
		f.ledger.Counts(f.Stats())
		f.doubts.sealed()
	}
}

// note takes note that h has changed.
func (f *Frontier) note(h *host) {
	if h.isErrands() {
		h = &h.own // the pace is the server's
	}
	if f.ledger != nil && !h.dirty {
		h.dirty = true
		f.dirty = append(f.dirty, h)
	}
}

func (f *Frontier) noteRedirected(fp [16]byte, h *hops) {
	if f.ledger != nil {
		f.ledger.Redirected(fp, h.fewest, h.target)
	}
}

// leave takes note of what noteOverLimit is to tell of a URL that is leased.
func (f *Frontier) leave(h *host, u *URL) {
	if f.ledger != nil && f.cfg.LimitPerHost > 0 && !h.capped {
		f.away[h] = append(f.away[h], *u)
	}
}

// back takes note that a lease is answered.
func (f *Frontier) back(h *host, seq uint64) {
	if len(f.away) == 0 {
		return
	}
	urls := f.away[h]
	i := slices.IndexFunc(urls, func(u URL) bool { return u.Seq == seq })
	switch {
	case i < 0:
	case len(urls) == 1:
		delete(f.away, h)
	default:
		f.away[h] = slices.Delete(urls, i, i+1)
	}
}

// noteOverLimit tells the ledger that h has had LimitPerHost, and of those of its URLs
// that are under way for the first time.
func (f *Frontier) noteOverLimit(h *host) {
	if f.ledger == nil {
		return
	}
	f.ledger.OverLimit(h.name)
	for _, u := range f.away[h] {
		if u.Tries == 0 {
			f.ledger.Pending(u)
		}
	}
	for _, w := range h.again() {
		if u := w.url; u.Tries == 0 { // postponed
			f.ledger.Pending(u)
		}
	}
	delete(f.away, h)
}

// state is what outlives the process of a host.
func (f *Frontier) state(h *host) HostState {
	s := HostState{
		Name:     h.name,
		Pending:  int(h.pending + h.leased),
		Tried:    int(h.tried),
		Answered: int(h.answered),
		Capped:   h.capped,
		Seed:     h.seed,
		Took:     h.pace.took.duration(),
		Best:     h.pace.best.duration(),
		Most:     int(h.pace.most),
		Strikes:  int(h.pace.strikes),
		Overload: h.pace.overload,
		Failures: int(h.fails),
		Dead:     h.deadAt(f.now),
	}
	if h.robots.phase == asked {
		s.Pending-- // a lease of robots.txt
	}
	if h.isAsked() {
		s.Pending-- // a lease of its address
	}
	if h.asked != never {
		s.Asked = f.time(h.asked)
	}
	if h.pace.hold > f.now {
		s.Hold = f.time(h.pace.hold)
	}
	if r := &h.robots; r.phase != off {
		s.Robots = RobotsState{Have: r.have, Shut: r.phase == shut, Tries: int(r.tries)}
		if r.until > f.now {
			s.Robots.Until = f.time(r.until)
		}
		if r.phase == shut {
			why := r.why()
			s.Robots.Kind, s.Robots.Reason = why.kind, why.reason
		}
	}
	return s
}
