package frontier

import (
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/weburl"
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
	f.steer(now, func(h *host) {
		switch p := &h.pace; {
		case p.overload:
		case n > 0:
			p.most = 0 // as of a host that is new
		case p.most == 0:
			if u, _ := weburl.Parse(h.name); !isLoopback(u.Hostname()) {
				p.most = startPace
			}
		}
	})
}

// SetRateLimit changes Config.RateLimit.
func (f *Frontier) SetRateLimit(now time.Time, rate float64) {
	f.tell(now)
	f.cfg.RateLimit = rate
	f.free = min(f.free, f.now+f.spacing())
}

// steer changes every host, by name so that a crawl on a virtual clock is the same
// every time.
func (f *Frontier) steer(now time.Time, change func(*host)) {
	f.tell(now)
	for _, name := range slices.Sorted(maps.Keys(f.hosts)) {
		h := f.hosts[name]
		change(h)
		f.note(h)
		f.place(h)
	}
}
