package frontier

import (
	"time"

	"github.com/weftcrawl/weft/robots"
)

// Restorer brings a new frontier to the state that a Journal has recorded. Everything is restored
// before the frontier is used; the order does not matter, except that Beside comes last. What is of
// another partition is left out.
type Restorer struct{ f *Frontier }

// Restore starts with an empty frontier.
func Restore(cfg Config) *Restorer { return &Restorer{New(cfg)} }

// Frontier returns the frontier once all is restored.
func (r *Restorer) Frontier() *Frontier { return r.f }

// Reserve makes room for a number of URLs to be seen.
func (r *Restorer) Reserve(urls int) { r.f.agenda.seen.table.Reserve(urls) }

// Stats restores Done, Refused, OverLimit, OverVariants and Duplicates.
func (r *Restorer) Stats(s Stats) {
	to := &r.f.agenda.stats
	to.Done, to.Refused, to.Duplicates = s.Done, s.Refused, s.Duplicates
	to.OverLimit, to.OverVariants = s.OverLimit, s.OverVariants
}

// Seen restores that a URL with this fingerprint was seen. It is called for all of them; beyond
// SeenBytes some are forgotten again.
func (r *Restorer) Seen(fingerprint [16]byte) { r.f.agenda.seen.table.Add(fingerprint) }

// Seq sets the Seq of the next new URL, at least 1: larger than any in use.
func (r *Restorer) Seq(next uint64) { r.f.agenda.seq = max(next, 1) - 1 }

// Redirected restores what Journal.Redirected last recorded of a URL.
func (r *Restorer) Redirected(fingerprint [16]byte, fewest int, target *URL) {
	if fewest == 0 { // of a job older than the forgetting of such
		return
	}
	if h := r.f.agenda.redirects.reached(fingerprint, fewest); h != nil && target != nil {
		for _, oldest := range r.f.agenda.redirects.redirected(fingerprint, h, target) {
			r.f.agenda.recordForgotten(oldest)
		}
	}
}

// Nearer restores what Journal.Nearer has recorded, with open true and not false since.
func (r *Restorer) Nearer(u URL) {
	if r.f.cfg.Levels {
		r.f.agenda.levels.nearer.keep(u.URL, way{u.Depth, u.From})
	}
}

// Variants restores what Journal.Variants last recorded of a key.
func (r *Restorer) Variants(key [16]byte, n int) { r.f.agenda.variants.Raise(key, n) }

// Origin restores an origin. Each is restored once. Its pending URLs stay in the store: see
// Frontier.Reads. It waits its full delay from now, even if it was never requested: the journal
// need not have recorded what was in flight when the process ended.
//
// With HostBytes it returns false if there is no room for the origin, which stays in the store.
// Then Beside is called for all origins, once Origin was.
func (r *Restorer) Origin(now time.Time, s OriginState, rules robots.Rules) bool {
	f := r.f
	if f.residency.ownership.foreign(Hostname(s.Name)) {
		return true
	}
	f.clock.advance(now)
	f.residency.waits = f.clock.now
	f.agenda.stats.Pending += s.Pending
	f.agenda.fresh += s.Pending - s.Tried
	if f.residency.dispensable(s) {
		f.residency.gone.Add(f.residency.nameKey(Hostname(s.Name)))
		f.residency.countEvicted(s.Name, s, 1)
		if s.Pending > 0 {
			f.agenda.levels.found = maxDepth
		}
		f.agenda.firsts.all += s.Answered
		return false
	}
	o := f.residency.recall(f.clock.now, s, rules, true)
	f.politeness.place(f.clock.now, o)
	f.residency.consider(o.host)
	f.agenda.firsts.all += s.Answered
	return true
}

// dispensable reports whether an origin that is restored can stay in the store.
func (r *residency) dispensable(s OriginState) bool {
	full := r.cfg.HostBytes > 0 && r.hostBytes() > r.cfg.HostBytes
	return full && storable(s.Name) && r.names.Find(Hostname(s.Name)) == nil
}

// Beside restores an origin that Origin has left out if another of its name is resident.
func (r *Restorer) Beside(s OriginState, rules robots.Rules) {
	f := r.f
	name := Hostname(s.Name)
	if f.residency.names.Find(name) == nil || f.residency.origin(s.Name) != nil || f.residency.ownership.foreign(name) {
		return
	}
	f.residency.wake(f.clock.now, f.residency.recall(f.clock.now, s, rules, true), s)
}

// AskedUntil says that hosts which were not recorded may have been requested until now, by a
// process that ended before it could record that: a new host waits its full delay from now, as
// restored ones do.
func (r *Restorer) AskedUntil(now time.Time) {
	r.f.clock.advance(now)
	r.f.politeness.groups.restored = r.f.clock.now
}
