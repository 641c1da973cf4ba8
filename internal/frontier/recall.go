package frontier

import (
	"fmt"
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
		r.politeness.regroup(now, h, nil, r.politeness.groups.domains[domain])
	case first == nil:
		if !names.ShareKey(name, domain) {
			names.Add(domain, h)
		}
	default:
		g := r.politeness.groups.domainOf(domain, first)
		r.politeness.regroup(now, first, nil, g)
		r.politeness.regroup(now, h, nil, g)
	}
}

// newHost makes the host of a name, with its first origin.
func (r *residency) newHost(now moment, name, first string, http bool) *host {
	h := r.politeness.newHost(now, name)
	r.politeness.newOrigin(h, &h.own, first, http)
	if r.ownership.place != nil {
		h.part = int32(r.ownership.partition(name))
	}
	if h.held, h.foreign = r.ownership.holds(name), r.ownership.foreign(name); h.foreign {
		r.ownership.foreigners[h] = struct{}{}
	}
	r.joinDomain(now, h, name)
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
		o = &r.newHost(now, hostname, name, http).own
	} else {
		o = new(origin)
		r.politeness.newOrigin(h, o, name, http)
	}
	r.agenda.levels.stepIn(o)
	r.added(o)
	if h != nil {
		r.politeness.originsOf(now, h).add(o)
	}
	return o
}

// comeBack makes an evicted origin resident again.
func (r *residency) comeBack(now moment, s OriginState, rules robots.Rules) *origin {
	o := r.recall(now, s, rules, false)
	r.politeness.waitFrom(o.host, r.waits)
	if r.steered {
		r.politeness.steerPace(o)
	}
	r.wake(now, o, s)
	return o
}

// wake has an origin that was evicted take its turn.
func (r *residency) wake(now moment, o *origin, s OriginState) {
	r.countEvicted(s.Name, s, -1)
	r.politeness.place(now, o)
	r.consider(o.host)
}

// recall makes an origin, and brings it to what is known of it; ofAnother says whether another
// process has recorded that.
func (r *residency) recall(now moment, s OriginState, rules robots.Rules, ofAnother bool) *origin {
	o := r.newOrigin(now, s.Name, strings.HasPrefix(s.Name, "http"))
	r.politeness.restore(now, o, &s, rules, ofAnother)
	r.agenda.restore(now, o, &s)
	return o
}

// state returns the part of an origin's state that outlives the process.
func (r *residency) state(now moment, o *origin) OriginState {
	s := OriginState{
		Name:     o.name,
		Pending:  int(o.pending + o.leased + o.errands.beyond()),
		Tried:    int(o.tried),
		Answered: int(o.answered),
		Errors:   int(o.errors),
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
		s.BackOffEnd = r.epoch.time(o.host.pace.backOffEnd)
	}
	if o.robots.phase != off {
		s.Robots = o.robots.state(now, r.epoch)
	}
	return s
}
