package frontier

import "slices"

// journal is where changes are recorded, and which hosts have changed since they were recorded
// last. Without a Journal it records nothing.
type journal struct {
	to      Journal // nil: none
	changed []*host
	leased  map[*host][]URL // of hosts that may reach LimitPerHost
	entries int             // since the last seal
	seals   uint32          // calls of NoteHosts
	saved   uint32          // of these, the last whose batch is committed
}

func newJournal() journal { return journal{leased: make(map[*host][]URL)} }

// record calls fn with the Journal, if there is one.
func (j *journal) record(fn func(Journal)) {
	if j.to != nil {
		j.entries++
		fn(j.to)
	}
}

// pending and done are record of what a crawl has most of, without a function for each.
func (j *journal) pending(u URL) {
	if j.to != nil {
		j.entries++
		j.to.Pending(u)
	}
}

func (j *journal) done(u URL) {
	if j.to != nil {
		j.entries++
		j.to.Done(u)
	}
}

// next returns the number of the seal that has everything recorded until now; 0: none is needed.
func (j *journal) next() uint32 {
	if j.entries == 0 {
		return j.seals
	}
	return j.seals + 1
}

// hostChanged marks a host as changed since the last seal.
func (j *journal) hostChanged(h *host) {
	if h.isRobotsRedirects() {
		h = &h.own // the pace is the server's
	}
	if j.to != nil && !h.dirty {
		h.dirty = true
		j.changed = append(j.changed, h)
	}
}

// urlLeased keeps a leased URL for overLimit.
func (j *journal) urlLeased(h *host, u *URL) {
	if j.to != nil && !h.capped {
		j.leased[h] = append(j.leased[h], *u)
	}
}

// leaseEnded drops what urlLeased has kept.
func (j *journal) leaseEnded(h *host, seq uint64) {
	if len(j.leased) == 0 {
		return
	}
	urls := j.leased[h]
	i := slices.IndexFunc(urls, func(u URL) bool { return u.Seq == seq })
	switch {
	case i < 0:
	case len(urls) == 1:
		delete(j.leased, h)
	default:
		j.leased[h] = slices.Delete(urls, i, i+1)
	}
}

// overLimit records that h has had LimitPerHost, and repeats those of its URLs that are in flight
// for the first time.
func (j *journal) overLimit(h *host) {
	if j.to == nil {
		return
	}
	j.entries++
	j.to.OverLimit(h.name)
	for _, u := range j.leased[h] {
		if u.Tries == 0 {
			j.to.Pending(u)
		}
	}
	for _, w := range h.again() {
		if u := w.url; u.Tries == 0 { // postponed
			j.to.Pending(u)
		}
	}
	delete(j.leased, h)
}

// SetJournal makes the frontier record each change in l from now on; nil: nowhere.
func (f *Frontier) SetJournal(l Journal) { f.journal.to = l }

// NoteHosts records the state of each host that has changed since the last call, and the counts.
// With everything recorded before, that is a state to restart from: it ends a batch.
func (f *Frontier) NoteHosts() {
	j := &f.journal
	j.seals++
	j.entries = 0
	for _, h := range j.changed {
		h.dirty = false
		h.noted = j.seals
		j.to.Host(f.state(h))
		f.consider(h.server)
	}
	clear(j.changed)
	j.changed = j.changed[:0]
	if j.to != nil {
		j.to.Counts(f.Stats())
		f.seen.seal()
	}
}

// Saved reports that all changes up to the last NoteHosts are committed, and visible to the reads
// of Requests.
func (f *Frontier) Saved() {
	f.seen.saved()
	f.journal.saved = f.journal.seals
}

// state returns the part of a host's state that outlives the process.
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
	if h.isResolving() {
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
		if !r.have && !r.dropped() {
			why := r.why()
			s.Robots.Kind, s.Robots.Reason = why.kind, why.reason
		}
	}
	return s
}
