package frontier

import (
	"slices"
	"strings"
	"time"
)

// SetDelay changes Config.Delay, for responses that have ended, too. Like SetPerHost it
// looks at every host.
func (f *Frontier) SetDelay(now time.Time, delay time.Duration) {
	f.cfg.Delay = delay
	f.steer(now, func(*host) {})
}

// SetPerHost changes Config.PerHost. Leases beyond it run on.
func (f *Frontier) SetPerHost(now time.Time, n int) {
	f.cfg.PerHost = n
	f.idle.steered = true
	f.steer(now, f.steerPace)
}

// steerPace brings the pace of h in line with PerHost.
func (f *Frontier) steerPace(h *host) {
	switch p := &h.pace; {
	case p.overload:
	case f.cfg.PerHost > 0:
		p.most = 0 // as of a host that is new
	case p.most == 0:
		if !isLoopback(h.server.name()) {
			p.most = startPace
		}
	}
}

// SetRateLimit changes Config.RateLimit.
func (f *Frontier) SetRateLimit(now time.Time, rate float64) {
	f.tell(now)
	f.cfg.RateLimit = rate
	f.free = min(f.free, f.now+f.spacing())
}

// steer changes every host.
func (f *Frontier) steer(now time.Time, change func(*host)) {
	f.tell(now)
	for _, h := range f.all() {
		change(h)
		f.note(h)
		f.placeGroup(h.domain())
		f.placeGroup(h.address)
		f.place(h)
	}
}

// each yields every host that is in memory, in no order.
func (f *Frontier) each(yield func(*host) bool) {
	for s := range f.names.All {
		for h := range s.each {
			if !yield(h) {
				return
			}
		}
	}
}

// all returns every host that is in memory, by name, so that a crawl on a virtual clock is the same every time.
func (f *Frontier) all() []*host {
	return slices.SortedFunc(f.each, func(a, b *host) int { return strings.Compare(a.name, b.name) })
}
