package frontier

import (
	"cmp"
	"slices"
	"time"
)

// HostStat is how a host fares.
type HostStat struct {
	Host    string // its origin
	Pending int
	Leased  int
	Took    time.Duration // response time, smoothed; 0: unknown
	Pace    int           // leases it may have at once now; 0: any number
	BackOff time.Time     // it is let alone until then, having been overloaded; zero: it is not
}

// maxLooked bounds the hosts without a lease that Slowest looks at: a million would take it
// seconds, in which nothing is leased.
const maxLooked = 4096

// Slowest returns at most n hosts that have something pending or leased: first those
// that are let alone for a while, then those with the longest response time. It is for a
// display that changes once a second: where there are many hosts it looks at those with
// URLs leased, and at some of the others.
func (f *Frontier) Slowest(n int) []HostStat {
	var slowest []*host
	held := func(h *host) moment { return max(0, h.pace.hold-f.now) }
	longer := func(a, b *host) int {
		return cmp.Or(cmp.Compare(held(b), held(a)), cmp.Compare(b.pace.took, a.pace.took), cmp.Compare(a.name, b.name))
	}
	look := func(h *host) {
		if h.pending == 0 && h.leased == 0 || len(slowest) == n && (n == 0 || longer(h, slowest[n-1]) > 0) {
			return
		}
		if i, found := slices.BinarySearchFunc(slowest, h, longer); !found {
			slowest = slices.Insert(slowest, i, h)
			slowest = slowest[:min(n, len(slowest))]
		}
	}
	for _, h := range f.leased {
		look(h)
	}
	left := maxLooked
	for h := range f.each {
		if left--; left < 0 {
			break
		}
		look(h)
	}
	stats := make([]HostStat, len(slowest))
	for i, h := range slowest {
		s := HostStat{Host: h.name, Pending: int(h.pending), Leased: int(h.leased), Took: h.pace.took.duration()}
		if pace := f.pace(h.server); pace < anyPace {
			s.Pace = int(pace)
		}
		if h.pace.hold > f.now {
			s.BackOff = f.time(h.pace.hold)
		}
		stats[i] = s
	}
	return stats
}
