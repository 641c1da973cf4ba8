package frontier

import (
	"math"
	"net/netip"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

const never moment = math.MinInt64

// server is what is known of a host name: what its hosts, which differ by scheme and
// port, share. Whoever asks for a page over http and for the next over https asks the same
// machine twice.
type server struct {
	hosts []*host
	pace  pace
	last  moment // from which the delay counts: it was asked, has answered, or was restored
	asked moment // it was last, or has last answered
	busy  int32  // leases of all hosts
	first int32  // URLs leased for the first time
}

// host is what is known of a host, and its pending URLs. There may be a million.
type host struct {
	*server
	name     string // its origin
	queue    queue  // pending, never leased
	retry    retryHeap
	disk     *backlog // pending, and only in the ledger; nil: none
	robots   *rules   // nil: no robots.txt is asked for
	at       moment   // key in ready
	order    uint64
	index    int32 // in ready, −1 while not there
	leased   int32 // with robots.txt
	pending  int32 // in queue, retry and disk
	answered int32 // URLs that were tried
	tried    int32 // of these, not done nor refused
	capped   bool  // it has had LimitPerHost
	seed     bool  // a seed is on it, and it has not answered from a public address
	dirty    bool  // changed since NoteHosts
}

func (f *Frontier) host(u weburl.URL) *host {
	key := hostKey(u)
	h := f.hosts[key]
	if h == nil {
		h = f.newHost(key, u)
	}
	return h
}

// newHost makes the host of a URL.
func (f *Frontier) newHost(key string, u weburl.URL) *host {
	name := u.Hostname()
	s := f.servers[name]
	if s == nil {
		s = &server{last: f.last, asked: never}
		if f.cfg.PerHost == 0 && !isLoopback(name) {
			s.pace.most = startPace
		}
		f.servers[name] = s
	}
	h := &host{server: s, name: key, index: -1}
	if f.cfg.Robots && u.IsHTTP() {
		h.robots = new(rules)
	}
	s.hosts = append(s.hosts, h)
	f.hosts[key] = h
	return h
}

// seedHost takes in that a seed is on the host of u.
func (f *Frontier) seedHost(u weburl.URL) {
	if h := f.host(u); !h.seed {
		h.seed = true
		f.note(h)
	}
}

// seeded reports whether a seed is on h, or on its like: that which differs only by being
// http or https, each on the port of its own, as where one redirects to the other.
func (h *host) seeded() bool {
	if h.seed || len(h.server.hosts) == 1 {
		return h.seed
	}
	_, authority, _ := strings.Cut(h.name, "://")
	for _, other := range h.server.hosts {
		if _, its, _ := strings.Cut(other.name, "://"); other.seed && its == authority {
			return true
		}
	}
	return false
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
// before those that were not leased.
func (h *host) take(now moment, u *URL) (again bool) {
	if h.retries(now) {
		*u = h.retry.take()
		return true
	}
	*u = h.queue.pop()
	return false
}

// retries reports whether a URL is due that is to be tried again.
func (h *host) retries(now moment) bool { return len(h.retry) > 0 && h.retry[0].at <= now }

// leastDepth is that of the URLs of h that are in memory; known is false if none are.
func (h *host) leastDepth() (depth int, known bool) {
	depth = math.MaxInt
	for i := range h.queue {
		depth = min(depth, h.queue[i].depth)
	}
	for i := range h.retry {
		depth = min(depth, h.retry[i].url.Depth)
	}
	return depth, depth < math.MaxInt
}

// queued is how many URLs are in the queue of h.
func (h *host) queued() int {
	n := int(h.pending) - len(h.retry)
	if h.disk != nil {
		n -= h.disk.n
	}
	return n
}

// try counts a try that has ended, of a URL that was tried so many times before. More is
// 1 if there is to be another, else −1.
func (h *host) try(tries int, more int32) {
	if tries == 0 {
		h.answered++
	}
	if (tries > 0) != (more > 0) {
		h.tried += more
	}
}
