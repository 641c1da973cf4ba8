package frontier

import "time"

// Frontier holds the URLs of a crawl. It passes the time to its parts, and carries what one of them
// finds out to the next: calls lead from here to residency, politeness and agenda. Back lead three
// functions that parts are given: the two of above, and Errands.yield.
//
// Invariants: every URL seen is in exactly one state. A host has a turn if and only if time
// alone will let it have another lease, refusal or refill, as far as that depends on the host;
// but a turn for what Limit ends stays until it comes: see nextTurn. No turn is set to a time
// before now: a host that is new, or whose delay is long over, comes after the hosts that are
// already due.
type Frontier struct {
	cfg     Config
	clock   clock
	journal journal

	agenda     *agenda
	politeness *politeness
	residency  *residency

	robots     Robots
	partitions Partitions
	addresses  Addresses
	errands    Errands

	refuse func(*URL) (kind, reason string)
	work   int // of this Lease: see maxWork
}

// New returns an empty frontier.
func New(cfg Config) *Frontier {
	f := &Frontier{cfg: cfg, journal: newJournal()}
	c, e, j := &f.clock, &f.clock.epoch, &f.journal
	a := newAgenda(&f.cfg, e, j, above{
		changed:  func(now moment, o *origin) { f.politeness.place(now, o) },
		resident: func(name string) *origin { return f.residency.origin(name) },
	})
	p := newPoliteness(&f.cfg, e, j, a)
	r := newResidency(&f.cfg, e, j, a, p)
	f.agenda, f.politeness, f.residency = a, p, r
	f.robots = Robots{cfg: &f.cfg, clock: c, journal: j, agenda: a, politeness: p, residency: r}
	f.partitions = Partitions{
		clock: c, agenda: a, politeness: p, residency: r, ownership: &r.ownership, robots: &f.robots,
	}
	f.addresses = Addresses{clock: c, politeness: p, residency: r}
	f.errands = Errands{
		clock: c, agenda: a, politeness: p, residency: r, robots: &f.robots, leased: make(map[*Errand]*origin),
	}
	return f
}

// Robots returns the part that takes in how leases of robots.txt end.
func (f *Frontier) Robots() *Robots { return &f.robots }

// Partitions returns the part that takes over and gives away partitions of the crawl.
func (f *Frontier) Partitions() *Partitions { return &f.partitions }

// Addresses returns the part that learns and shares the addresses of hosts.
func (f *Frontier) Addresses() *Addresses { return &f.addresses }

// RefuseBy makes the frontier ask fn about each URL whose turn comes, before its origin's
// robots.txt: the URL is refused if kind is not empty.
func (f *Frontier) RefuseBy(fn func(*URL) (kind, reason string)) { f.refuse = fn }

// SetJournal makes the frontier record each change in l from now on; nil: nowhere.
func (f *Frontier) SetJournal(l Journal) { f.journal.to = l }

// DelayLevels has no level open for a while: seeds are to come. The last call counts.
func (f *Frontier) DelayLevels(now time.Time, wait time.Duration) {
	f.clock.advance(now)
	f.agenda.levels.until = f.clock.now + wait
}

// stats returns the counts.
func (f *Frontier) stats() Stats {
	s := f.agenda.stats
	s.Leased = f.leased()
	s.Origins = f.residency.origins + f.residency.evicted
	s.LimitReached = f.agenda.limited() && f.agenda.fresh > 0
	return s
}

// leased returns how much is leased: URLs, with those being rendered, errands, robots.txt files and
// addresses.
func (f *Frontier) leased() int { return f.politeness.leased + f.politeness.rendering.pages }

// quiet reports whether nothing is leased, refused and not collected, or being read, and no errand
// waits.
func (f *Frontier) quiet() bool {
	return f.leased() == 0 && len(f.errands.waiting)+len(f.errands.refused)+len(f.agenda.refused) == 0 &&
		f.agenda.refills.unread == 0 && !f.residency.reading()
}
