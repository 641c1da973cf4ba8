package frontier

import "time"

// Settings returns the current settings.
func (v View) Settings() Settings {
	return Settings{Delay: v.f.cfg.Delay, PerHost: v.f.cfg.PerHost, RateLimit: v.f.cfg.RateLimit}
}

// Steer changes settings. A new Delay applies to responses that have ended, too; leases beyond a
// new PerHost run on. If one of these changes, Steer looks at every resident origin; evicted ones
// change when they come back.
func (f *Frontier) Steer(now time.Time, to Settings) {
	f.clock.tell(now)
	from := f.View().Settings()
	f.cfg.Delay, f.cfg.PerHost, f.cfg.RateLimit = to.Delay, to.PerHost, to.RateLimit
	if to.RateLimit != from.RateLimit {
		f.free = min(f.free, f.clock.now+f.spacing())
	}
	if to.PerHost != from.PerHost {
		f.residency.steered = true
	} else if to.Delay == from.Delay {
		return
	}
	for _, o := range f.residency.all() {
		if to.PerHost != from.PerHost {
			f.steerPace(o)
		}
		f.journal.originChanged(o)
		f.politeness.placeGroups(o.host)
		f.place(o)
	}
}

// steerPace brings the pace of o in line with PerHost.
func (f *Frontier) steerPace(o *origin) {
	switch p := &o.host.pace; {
	case p.overload:
	case f.cfg.PerHost > 0:
		p.most = 0 // as of a new host
	case p.most == 0:
		if !isLoopback(o.host.name()) {
			p.most = startPace
		}
	}
}
