package frontier

import (
	"fmt"
	"math"
	"net/netip"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// host returns the host of a URL, which it makes if it is new.
func (f *Frontier) host(u weburl.URL) *host {
	origin := u.Origin()
	if h := f.residency.host(origin); h != nil {
		return h
	}
	if !f.residency.lookedUp(Hostname(origin)) {
		panic(fmt.Sprintf("frontier: host %s may be evicted, and was not given to Prepare", origin))
	}
	h := f.newHost(origin, u.IsHTTP())
	f.journal.hostChanged(h) // it is recorded even if its first URL is dropped
	return h
}

// newHost makes a host that is not known.
func (f *Frontier) newHost(origin string, http bool) *host {
	name := Hostname(origin)
	s := f.residency.names.Find(name)
	var h *host
	if s == nil {
		s = f.newServer(name, origin)
		h = &s.own
	} else {
		h = new(host)
	}
	*h = host{server: s, name: origin, index: -1}
	if f.cfg.Robots && http {
		h.robots.phase = unknown
	}
	f.residency.added(h)
	if h != &s.own {
		f.originsOf(s).known[origin] = h
	}
	return h
}

// newServer makes the server of a name, which an origin has.
func (f *Frontier) newServer(name, origin string) *server {
	s := &server{last: f.politeness.restored, asked: never, turn: turn{index: -1, rank: -1}}
	s.own.name = origin
	if f.cfg.PerHost == 0 && !isLoopback(name) {
		s.pace.most = startPace
	}
	f.joinDomain(s, name)
	if f.cfg.Resolve {
		if addr, err := netip.ParseAddr(strings.Trim(name, "[]")); err == nil {
			f.moveTo(s, addr)
		} else if name != "" {
			s.resolve = addressUnknown
		}
	}
	return s
}

// addSeed takes in that a seed is on the host of u.
func (f *Frontier) addSeed(u weburl.URL) {
	if h := f.host(u); !h.seed {
		h.seed = true
		f.journal.hostChanged(h)
	}
}

// isResolving reports whether the address of the server is leased, as that of h.
func (h *host) isResolving() bool { return h.resolve == addressAsked && h == &h.server.own }

// seeded reports whether a seed is on h, or on its counterpart: the host that differs only by being
// http or https, each on its default port, as where one redirects to the other.
func (h *host) seeded() bool {
	if h.seed || h.origins == nil {
		return h.seed
	}
	scheme, authority, _ := strings.Cut(h.name, "://")
	counterpart := map[string]string{"http": "https://", "https": "http://"}[scheme]
	other := h.origins.known[counterpart+authority]
	return other != nil && other.seed
}

// take removes the URL that is due: a retry whose time has come before URLs that were never leased.
func (h *host) take(now moment, u *URL) (again bool) {
	if h.retries(now) {
		*u = h.retry.Pop().url
		if h.retry.Len() == 0 {
			h.retry = nil
		}
		return true
	}
	pop(&h.queue, u)
	return false
}

// again returns the retries of h, the first of them in front.
func (h *host) again() []*waiting {
	if h.retry == nil {
		return nil
	}
	return h.retry.Items()
}

// retries reports whether a retry is due.
func (h *host) retries(now moment) bool { return h.retry != nil && h.retry.First().at <= now }

// leastDepth returns that of the URLs of h that are in memory; known is false if none are.
func (h *host) leastDepth() (depth int, known bool) {
	depth = math.MaxInt
	for c := range h.queue.Classes() {
		depth = min(depth, int(c.depth))
	}
	for _, w := range h.again() {
		depth = min(depth, w.url.Depth)
	}
	return depth, depth < math.MaxInt
}

// queued returns how many URLs are in the queue of h.
func (h *host) queued() int {
	n := int(h.pending) - len(h.again())
	if h.backlog != nil {
		n -= h.backlog.n
	}
	return n
}

// triedOnce counts a try that has ended, of a URL with so many tries before. More is 1 if there is
// to be another, else -1.
func (h *host) triedOnce(tries int, more int32) {
	if tries == 0 {
		h.answered++
	}
	if (tries > 0) != (more > 0) {
		h.tried += more
	}
}

// refusing reports whether everything leased of h at a time would be refused.
func (h *host) refusing(at moment) bool { return h.robots.refuses(at) || h.deadAt(at) }
