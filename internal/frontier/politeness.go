package frontier

import "time"

const (
	// rateSlack is the delay of a timer that does not lower the rate: that much later, two leases may
	// be closer together than RateLimit says.
	rateSlack = time.Millisecond

	// maxSpacing bounds the time between two leases that RateLimit can ask for.
	maxSpacing = 24 * time.Hour
)

// lendAddress counts a lease of the address of h.
func (p *politeness) lendAddress(h *host) {
	h.resolve = addressAsked
	h.own.countLeases(1)
	p.leased++
}

// endAddress takes in the end of such a lease.
func (p *politeness) endAddress(h *host) {
	h.own.countLeases(-1)
	p.leased--
	h.resolve = addressKnown
}

// lend counts a lease of o.
func (p *politeness) lend(now moment, o *origin) {
	o.countLeases(1)
	p.leased++
	if all := o.host.origins; all != nil && o.doubtful {
		all.probed, all.order = now, p.nextOrder()
	}
	h := o.host
	if h.busy++; h.busy == 1 {
		h.moved = now
	}
	h.asked, h.last = now, now // until the response says when it really ended
	h.domain().lend(now)
	h.address.lend(now)
	p.placeGroups(h)
	p.agenda.levels.stir(now, o)
	p.journal.originChanged(o)
	if p.cfg.RateLimit > 0 {
		p.free = max(p.free, now-rateSlack) + p.spacing()
	}
}

// spacing returns the time between two leases that RateLimit asks for.
func (p *politeness) spacing() moment {
	if p.cfg.RateLimit <= 0 {
		return 0
	}
	return moment(min(float64(time.Second)/p.cfg.RateLimit, float64(maxSpacing)))
}

// end takes in the end of a lease of o.
func (p *politeness) end(now moment, o *origin, a Result) {
	h := o.host
	o.countLeases(-1)
	p.leased--
	p.agenda.levels.stir(now, o)
	p.learn(now, h, a)
	p.patience.judge(now, o, &a)
	h.asked, h.last = now, now
	if a.Addr.IsValid() && p.cfg.Resolve {
		p.moveTo(now, h, a.Addr)
	}
	o.seed = o.seed && !a.Public
	p.journal.originChanged(o)
	p.place(now, o)
}

// placeGroups places the groups of a host.
func (p *politeness) placeGroups(h *host) {
	p.groups.place(h.domain())
	p.groups.place(h.address)
}

// remove takes h, which leaves memory, out of all lines and groups.
func (p *politeness) remove(h *host) {
	p.groups.drop(h, h.domain())
	p.groups.drop(h, h.address)
	h.enter(nil)
	for o := range h.each {
		p.patience.count(o, -1)
	}
}

// steerPace brings the pace of o in line with PerHost.
func (p *politeness) steerPace(o *origin) {
	switch h := &o.host.pace; {
	case h.overload:
	case p.cfg.PerHost > 0:
		h.most = 0 // as of a new host
	case h.most == 0:
		if !isLoopback(o.host.name()) {
			h.most = startPace
		}
	}
}

// politeness is the part of a frontier that decides when an origin may be leased from: it keeps the
// turns of hosts and origins, the groups whose delay and pace hosts share, what failures have
// taught, and the rules of robots.txt. What there is to lease it asks the agenda.
type politeness struct {
	cfg      *Config
	journal  *journal
	agenda   *agenda
	groups   groups
	patience patience
	rules    robotsCache

	prompt, others line   // ready hosts that are prompt, or are not: see turn
	lastly         moment // when a prompt lease ended last; never: none did
	order          uint64 // of the last turn given
	leased         int    // URLs, robots.txt files and addresses
	free           moment // RateLimit allows nothing before
}

func newPoliteness(cfg *Config, e *epoch, j *journal, a *agenda) *politeness {
	return &politeness{
		cfg: cfg, journal: j, agenda: a,
		groups:   newGroups(cfg),
		patience: patience{cfg: cfg, epoch: e},
		rules:    robotsCache{limit: cfg.RulesBytes},
		lastly:   never,
	}
}

// bytes is about how much memory groups and troubles take.
func (p *politeness) bytes() int { return p.groups.bytes() + p.patience.bytes }
