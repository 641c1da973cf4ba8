package frontier

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// joinDomain makes h, which is new, one of the hosts of its registrable domain. A name that has
// none is a domain of its own.
func (r *residency) joinDomain(now moment, h *host, name string) {
	names := r.names
	domain := weburl.RegistrableDomain(name)
	first := names.Member(domain)
	names.Add(name, h)
	switch {
	case domain == "":
	case r.politeness.groups.domains[domain] != nil:
		r.politeness.regroup(now, h, r.politeness.groups.domains[domain], h.address)
	case first == nil:
		if !names.ShareKey(name, domain) {
			names.Add(domain, h)
		}
	default:
		g := r.politeness.groups.domainOf(domain, first)
		r.politeness.regroup(now, first, g, first.address)
		r.politeness.regroup(now, h, g, h.address)
	}
}

// newHost makes the host of a name, with its first origin.
func (r *residency) newHost(now moment, hostname, first string) *host {
	h := &host{last: r.politeness.groups.restored, asked: never, turn: turn{index: -1, rank: -1}}
	h.own.name = first
	if r.ownership.place != nil {
		h.part = int32(r.ownership.partition(hostname))
	}
	if h.held, h.foreign = r.ownership.holds(hostname), r.ownership.foreign(hostname); h.foreign {
		r.ownership.foreigners[h] = struct{}{}
	}
	if r.cfg.PerHost == 0 && !isLoopback(hostname) {
		h.pace.most = startPace
	}
	r.joinDomain(now, h, hostname)
	if r.cfg.Resolve {
		if addr, err := netip.ParseAddr(strings.Trim(hostname, "[]")); err == nil {
			r.politeness.moveTo(now, h, addr)
		} else if hostname != "" {
			h.resolve = addressUnknown
		}
	}
	return h
}

// originOf returns the origin of a URL, which it makes if it is new.
func (r *residency) originOf(now moment, u weburl.URL) *origin {
	name := u.Origin()
	if o := r.origin(name); o != nil {
		return o
	}
	if !r.lookedUp(Hostname(name)) {
		panic(fmt.Sprintf("frontier: origin %s may be evicted, and was not given to Prepare", name))
	}
	o := r.newOrigin(now, name, u.IsHTTP())
	r.journal.originChanged(o) // it is recorded even if its first URL is dropped
	return o
}

// newOrigin makes an origin that is not known.
func (r *residency) newOrigin(now moment, name string, http bool) *origin {
	hostname := Hostname(name)
	h := r.names.Find(hostname)
	var o *origin
	if h == nil {
		h = r.newHost(now, hostname, name)
		o = &h.own
	} else {
		o = new(origin)
	}
	*o = origin{host: h, name: name, index: -1, doubtful: true}
	if r.cfg.Robots && http {
		o.robots.phase = unknown
	}
	r.agenda.levels.stepIn(o)
	r.added(o)
	if o != &h.own {
		r.politeness.originsOf(now, h).known[name] = o
	}
	return o
}

// addSeed takes in that a seed is on the origin of u.
func (r *residency) addSeed(now moment, u weburl.URL) {
	if o := r.originOf(now, u); !o.seed {
		o.seed = true
		r.journal.originChanged(o)
	}
}

// comeBack makes an evicted origin resident again.
func (r *residency) comeBack(now moment, s OriginState, rules robots.Rules) *origin {
	o, latest := r.recall(now, s, rules, false)
	o.host.last = max(o.host.last, r.waits, min(o.host.asked, now))
	if latest {
		o.host.pace.most = uint8(s.Most) // unbounded or not: this is the same process
	}
	if r.steered {
		r.politeness.steerPace(o)
	}
	r.wake(now, o, s)
	return o
}

// wake has an origin that was evicted take its turn.
func (r *residency) wake(now moment, o *origin, s OriginState) {
	r.countEvicted(s.Name, s, -1)
	r.agenda.refills.restore(o, s)
	r.politeness.place(now, o)
	r.consider(o.host)
}

// recall makes an origin, and brings it to what is known of it, apart from its pending URLs and
// from when its delay counts; ofAnother says whether another process has recorded that. It reports
// whether that is the latest that is known of its host.
func (r *residency) recall(now moment,
	s OriginState, rules robots.Rules, ofAnother bool,
) (o *origin, latest bool) {
	o = r.newOrigin(now, s.Name, strings.HasPrefix(s.Name, "http"))
	o.pending, o.tried, o.answered = int32(s.Pending), int32(s.Tried), int32(s.Answered)
	o.capped, o.seed = s.Capped, s.Seed
	o.host.leases += o.answered
	since := never
	if !s.Asked.IsZero() {
		since = r.epoch.restored(now, s.Asked, 0)
	}
	if latest = since >= o.host.asked; latest { // the origin requested last knows the host's pace
		o.host.asked = since
		o.host.pace.restore(s)
	}
	if !s.Hold.IsZero() {
		o.host.pace.backOffEnd = max(o.host.pace.backOffEnd, r.epoch.restored(now, s.Hold, MaxRetryAfter))
	}
	r.politeness.patience.restore(now, o, s, ofAnother)
	r.agenda.levels.restore(now, o, s.Levels, s.Pending)
	if o.robots.phase != off {
		cached, ok := r.politeness.rules.add(now, rules)
		if !ok {
			s.Robots = RobotsState{} // it is leased again
		}
		o.robots.restore(s.Robots, cached)
		longest := maxPause
		switch {
		case s.Robots.Have:
			longest = robots.CacheFor
		case s.Robots.Shut:
			longest = shutFor
		}
		if !s.Robots.Until.IsZero() {
			o.robots.until = r.epoch.restored(now, s.Robots.Until, longest)
		}
		o.host.rulesChanged(o, 0)
	}
	return o, latest
}

// state returns the part of an origin's state that outlives the process.
func (r *residency) state(now moment, o *origin) OriginState {
	s := OriginState{
		Name:     o.name,
		Pending:  int(o.pending + o.leased),
		Tried:    int(o.tried),
		Answered: int(o.answered),
		Capped:   o.capped,
		Seed:     o.seed,
		Took:     o.host.pace.took.duration(),
		Best:     o.host.pace.best.duration(),
		Most:     int(o.host.pace.most),
		Strikes:  int(o.host.pace.strikes),
		Overload: o.host.pace.overload,
		Trouble:  r.politeness.patience.state(now, o),
		Levels:   r.agenda.levels.state(o),

		Responded: o.responded,
	}
	if o.robots.phase == asked {
		s.Pending-- // a lease of robots.txt
	}
	if o.isResolving() {
		s.Pending-- // a lease of its address
	}
	if o.host.asked != never {
		s.Asked = r.epoch.time(o.host.asked)
	}
	if o.host.pace.backOffEnd > now {
		s.Hold = r.epoch.time(o.host.pace.backOffEnd)
	}
	if o.robots.phase != off {
		s.Robots = o.robots.state(now, r.epoch)
	}
	return s
}
