package frontier

import (
	"net/netip"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// host is what is known of a host, and its pending URLs. There may be a million.
type host struct {
	name    string // its origin
	queue   queue  // pending, never leased
	retry   retryHeap
	robots  *rules // nil: no robots.txt is asked for
	pace    pace
	next    moment // not before: the delay after the last response
	at      moment // key in ready
	order   uint64
	index   int32 // in ready, −1 while not there
	leased  int32 // with robots.txt
	pending int   // in queue and retry
	first   int   // URLs leased for the first time
}

func (f *Frontier) host(u weburl.URL) *host {
	key := hostKey(u)
	h := f.hosts[key]
	if h == nil {
		h = &host{name: key, index: -1}
		if f.cfg.Robots && u.IsHTTP() {
			h.robots = new(rules)
		}
		if f.cfg.PerHost == 0 && !isLoopback(u.Hostname()) {
			h.pace.most = startPace
		}
		f.hosts[key] = h
	}
	return h
}

func hostKey(u weburl.URL) string { return u.Origin() }

// isLoopback reports whether a canonical host name can only mean this machine:
// RFC 6761, section 6.3, and the loopback addresses.
func isLoopback(name string) bool {
	name = strings.TrimSuffix(name, ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}

// take removes the URL that is due: one to be tried again, if its time has come,
// before those that were not tried.
func (h *host) take(now moment) (u URL, again bool) {
	if len(h.retry) > 0 && h.retry[0].at <= now {
		return h.retry.take(), true
	}
	return h.queue.pop(), false
}
