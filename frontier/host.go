package frontier

import (
	"fmt"
	"math"
	"net/netip"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

const never moment = math.MinInt64

// phase of a server's address.
const (
	addressKnown   uint8 = iota // or nobody is asked for it: see Config.Resolve
	addressUnknown              // to be asked for before anything else
	addressAsked                // leased
)

// server is what is known of a host name: what its hosts, which differ by scheme and
// port, share. Whoever asks for a page over http and for the next over https asks the same
// machine twice. There may be a million, each with one host: so that one is part of it.
type server struct {
	own     host     // the first that was known
	origins *origins // all of them; nil: there is one
	pace    pace
	last    moment // from which the delay counts: it was asked, has answered, or was restored
	asked   moment // it was last, or has last answered
	address *group // nil: it is not known
	cell    *cell  // nil: it is alone in its registrable domain
	seat
	busy    int32  // leases of all hosts
	first   int32  // URLs leased for the first time
	where   place  // of the seat
	resolve uint8  // how far its address is known
	fails   uint8  // leases in a row that the server did not answer
	dead    bool   // too many: until pace.hold its URLs are refused
	located uint16 // the minute, from the epoch on, in which it came to its address: see pinned
	resting bool   // it is in the line of those that may leave memory: see idle
	dozing  bool   // it is in that of dormant
	owed    bool   // it came back for its turn, which it has not had
	away    bool   // it has left memory
	noted   uint32 // the last NoteHosts that told of it
}

// host is what is known of a host, and its pending URLs.
type host struct {
	*server
	name     string    // its origin
	queue    hostQueue // pending, never leased
	retry    *retryHeap
	disk     *backlog // pending, and only in the ledger; nil: none
	robots   rules
	index    int32 // in the heap of origins, −1 while not there
	leased   int32 // with robots.txt
	pending  int32 // in queue, retry and disk
	answered int32 // URLs that were tried
	tried    int32 // of these, not done nor refused
	capped   bool  // it has had LimitPerHost
	seed     bool  // a seed is on it, and it has not answered from a public address
	dirty    bool  // changed since NoteHosts
	starved  bool  // in Frontier.starved
}

func (f *Frontier) host(u weburl.URL) *host {
	origin := u.Origin()
	if h := f.find(origin); h != nil {
		return h
	}
	if name := Hostname(origin); f.idle.left > 0 && f.names.Find(name) == nil {
		if _, asked := f.idle.asked[name]; !asked {
			panic(fmt.Sprintf("frontier: host %s, which Doubts was not asked about", origin))
		}
	}
	h := f.newHost(origin, u.IsHTTP())
	f.note(h) // or the ledger is not told, if its first URL is dropped
	return h
}

// find returns the host with an origin; nil if it is not known.
func (f *Frontier) find(origin string) *host {
	s := f.names.Find(Hostname(origin))
	switch {
	case s == nil:
		return nil
	case s.own.name == origin:
		return &s.own
	case s.origins == nil:
		return nil
	}
	return s.origins.known[origin]
}

// Hostname is the name in an origin; empty if it has none, as "null".
func Hostname(origin string) string {
	_, name, _ := strings.Cut(origin, "://")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, ']') {
		name = name[:i]
	}
	return name
}

// newHost makes a host that is not known.
func (f *Frontier) newHost(origin string, http bool) *host {
	name := Hostname(origin)
	s := f.names.Find(name)
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
	f.hosts++
	f.idle.bytes += costOfHost(h)
	if h != &s.own {
		f.addOrigin(s, h)
	}
	return h
}

// name is the host name.
func (s *server) name() string { return Hostname(s.own.name) }

// newServer makes the server of a name, of which origin is a part.
func (f *Frontier) newServer(name, origin string) *server {
	s := &server{last: f.last, asked: never, seat: seat{index: -1, sub: -1}}
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

// isAsked reports whether the address of the server is leased, as that of h.
func (h *host) isAsked() bool { return h.resolve == addressAsked && h == &h.server.own }

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
	if h.seed || h.origins == nil {
		return h.seed
	}
	scheme, authority, _ := strings.Cut(h.name, "://")
	like := map[string]string{"http": "https://", "https": "http://"}[scheme] + authority
	other := h.origins.known[like]
	return other != nil && other.seed
}

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
		*u = h.retry.Pop().url
		if h.retry.Len() == 0 {
			h.retry = nil
		}
		return true
	}
	*u = pop(&h.queue)
	return false
}

// again are the URLs of h to be tried again, the first of them in front.
func (h *host) again() []*waiting {
	if h.retry == nil {
		return nil
	}
	return h.retry.Items()
}

// retries reports whether a URL is due that is to be tried again.
func (h *host) retries(now moment) bool { return h.retry != nil && h.retry.First().at <= now }

// leastDepth is that of the URLs of h that are in memory; known is false if none are.
func (h *host) leastDepth() (depth int, known bool) {
	depth = math.MaxInt
	for c := range h.queue.Classes() {
		depth = min(depth, int(c.depth))
	}
	for i := range h.again() {
		depth = min(depth, h.again()[i].url.Depth)
	}
	return depth, depth < math.MaxInt
}

// queued is how many URLs are in the queue of h.
func (h *host) queued() int {
	n := int(h.pending) - len(h.again())
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
