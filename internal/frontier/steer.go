package frontier

import "time"

// Settings returns the current settings.
func (v View) Settings() Settings {
	return Settings{Delay: v.f.cfg.Delay, PerHost: v.f.cfg.PerHost, RateLimit: v.f.cfg.RateLimit, Limit: v.f.cfg.Limit}
}

// Steer changes settings. A new Delay applies to responses that have ended, too; leases beyond a
// new PerHost run on. If one of these changes, Steer looks at every resident origin; evicted ones
// change when they come back.
func (f *Frontier) Steer(now time.Time, to Settings) {
	f.clock.advance(now)
	from := f.View().Settings()
	limited := f.agenda.limited()
	f.cfg.Delay, f.cfg.PerHost, f.cfg.RateLimit, f.cfg.Limit = to.Delay, to.PerHost, to.RateLimit, to.Limit
	more := limited && !f.agenda.limited() // may be leased, which were beyond the limit
	if to.RateLimit != from.RateLimit {
		f.politeness.free = min(f.politeness.free, f.clock.now+f.politeness.spacing())
	}
	if to.PerHost != from.PerHost {
		f.residency.steered = true
	} else if to.Delay == from.Delay && !more {
		return
	}
	for _, o := range f.residency.all() {
		if to.PerHost != from.PerHost {
			f.politeness.steerPace(o)
		}
		f.journal.originChanged(o)
		f.politeness.placeGroups(o.host)
		f.politeness.place(f.clock.now, o)
	}
}
