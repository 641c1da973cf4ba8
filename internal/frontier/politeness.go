package frontier

import (
	"net/netip"
	"strings"
	"time"

	"github.com/weftcrawl/weft/robots"
)

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

// lend counts a lease of o: of an errand, or what that needs before, or, without one, of the crawl.
func (p *politeness) lend(now moment, o *origin, e *Errand) {
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
	h.visited = e.isForeign()
	h.domain().lend(now, e.isForeign())
	h.address.lend(now, e != nil)
	p.placeGroups(h)
	p.agenda.levels.stir(now, o)
	p.journal.originChanged(o.recorded())
	p.visited = e != nil && p.cfg.RateLimit > 0
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

// countLeases counts n more leases of o.
func (o *origin) countLeases(n int32) {
	o.leased += n
	if all := o.host.origins; all != nil && o.doubtful {
		all.probing += n
	}
}

// end takes in the end of a lease of o, which has changed.
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
	h.leaveSiblings()
	for o := range h.each {
		p.patience.count(o, -1)
	}
	if all := h.origins; all != nil && all.redirects != nil {
		p.patience.count(all.redirects, -1)
	}
}

// politeness is the part of a frontier that decides when an origin may be leased from: it keeps the
// turns of hosts and origins, the groups whose delay and pace hosts share, what failures have
// taught, and the rules of robots.txt. What there is to lease it asks the agenda.
type politeness struct {
	cfg       *Config
	epoch     *epoch
	journal   *journal
	agenda    *agenda
	groups    groups
	patience  patience
	rules     robotsCache
	rendering rendering

	prompt, others line   // ready hosts that are prompt, or are not: see turn
	lastly         moment // when a prompt lease ended last; never: none did
	order          uint64 // of the last turn given
	leased         int    // URLs, robots.txt files and addresses
	free           moment // RateLimit allows nothing before
	visited        bool   // there is a RateLimit, and the last lease was for an errand
}

func newPoliteness(cfg *Config, e *epoch, j *journal, a *agenda) *politeness {
	return &politeness{
		cfg: cfg, epoch: e, journal: j, agenda: a,
		groups:    newGroups(cfg),
		patience:  patience{cfg: cfg, epoch: e},
		rules:     robotsCache{limit: cfg.RulesBytes},
		lastly:    never,
		rendering: rendering{of: make(map[*origin]int)},
	}
}

// newHost returns the host of a name. Its address is known if that is its name.
func (p *politeness) newHost(now moment, name string) *host {
	h := &host{last: p.groups.restored, asked: never, turn: turn{index: -1, rank: -1}}
	if p.cfg.PerHost == 0 && !isLoopback(name) {
		h.pace.most = startPace
	}
	if p.cfg.Resolve {
		if addr, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
			p.moveTo(now, h, addr)
		} else if name != "" {
			h.resolve = addressUnknown
		}
	}
	return h
}

// newOrigin makes o a new origin of h; without a name, that of its robots.txt redirects.
func (p *politeness) newOrigin(h *host, o *origin, name string, http bool) {
	o.host, o.name, o.index, o.doubtful = h, name, -1, true
	if p.cfg.Robots && http {
		o.robots.phase = unknown
	}
}

// addSeed takes in that a seed is on o.
func (p *politeness) addSeed(o *origin) {
	if !o.seed {
		o.seed = true
		p.journal.originChanged(o)
	}
}

// waitFrom makes the delay of h count from a time on.
func (p *politeness) waitFrom(h *host, from moment) { h.last = max(h.last, from) }

// restore brings a new origin, and its host, to what was recorded of them; ofAnother says whether
// another process has recorded that, which may have requested more before it ended.
func (p *politeness) restore(now moment, o *origin, s *OriginState, rules robots.Rules, ofAnother bool) {
	h := o.host
	o.seed = s.Seed
	since := never
	if !s.Asked.IsZero() {
		since = p.epoch.restored(now, s.Asked, 0)
	}
	if since >= h.asked { // the origin requested last knows the host's pace
		h.asked = since
		h.pace.restore(s)
		if !ofAnother {
			h.pace.most = uint8(s.Most) // unbounded or not
		}
	}
	if !s.BackOffEnd.IsZero() {
		h.pace.backOffEnd = max(h.pace.backOffEnd, p.epoch.restored(now, s.BackOffEnd, MaxRetryAfter))
	}
	if ofAnother {
		p.waitFrom(h, now)
		h.address.waitFrom(now)
		h.domain().waitFrom(now)
	} else {
		p.waitFrom(h, min(h.asked, now))
	}
	p.patience.restore(now, o, s, ofAnother)
	if o.robots.phase != off {
		p.restoreRobots(now, o, s.Robots, rules)
	}
}

// restoreRobots brings the robots.txt of a new origin to what was recorded of it.
func (p *politeness) restoreRobots(now moment, o *origin, s RobotsState, rules robots.Rules) {
	cached, ok := p.rules.add(now, rules)
	if !ok {
		s = RobotsState{} // it is leased again
	}
	o.robots.restore(s, cached)
	longest := maxPause
	switch {
	case s.Have:
		longest = robots.CacheFor
	case s.Shut:
		longest = shutFor
	}
	if !s.Until.IsZero() {
		o.robots.until = p.epoch.restored(now, s.Until, longest)
	}
	o.host.rulesChanged(o, 0)
}

// bytes returns the memory that groups and troubles take, roughly.
func (p *politeness) bytes() int { return p.groups.bytes() + p.patience.bytes }

// learn takes in what the end of a lease of a host says of its pace, and of its groups'.
func (p *politeness) learn(now moment, h *host, a Result) {
	h.busy--
	if prompt := p.judgePrompt(now, h, a.Total); prompt != h.prompt {
		p.setPrompt(now, h, prompt)
	}
	as, overloaded := h.pace.learn(now, a)
	p.groups.learn(now, h, &a, as, overloaded)
}

// pinFor is the time, in minutes, for which requests to a host go to the address found, even if its
// name leads elsewhere by then. The turn of a lease belongs to one address; if names whose records
// rotate were looked up each time, the request would mostly go to another. Heritrix keeps an
// address for 6 hours, too.
const pinFor = 6 * 60

// pinned reports whether h, whose address is known, is to be requested there.
func (h *host) pinned(now moment) bool { return minute(now)-h.located < pinFor }

// minute returns the minute of a moment; it wraps around after 45 days.
func minute(now moment) uint16 { return uint16(now / time.Minute) }

// moveTo takes in the address that h has, or has answered from.
func (p *politeness) moveTo(now moment, h *host, addr netip.Addr) {
	g := p.groups.address(now, addr.Unmap())
	if h.address != g || !h.pinned(now) {
		h.located = minute(now)
	}
	if h.address != g {
		p.regroup(now, h, h.address, g)
	}
}
