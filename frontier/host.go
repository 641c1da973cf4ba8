package frontier

import (
	"math"
	"net/netip"
	"strings"
	"time"
)

const never moment = math.MinInt64

// How far the address of a server is known.
const (
	addressKnown   uint8 = iota // or not needed: see Config.Resolve
	addressUnknown              // to be looked up before anything else
	addressAsked                // leased
)

// server is what is known of a host name: what its hosts, which differ by scheme and port, share. A
// page over http and the next over https ask the same machine twice. A crawl may have a million
// servers with one host each, so the first host is part of the server.
type server struct {
	own      host     // the first that was known
	origins  *origins // all of them; nil: there is one
	pace     pace
	last     moment    // from which the delay counts: last request, response or restart
	asked    moment    // its last request or response
	address  *group    // nil: unknown
	siblings *siblings // nil: it is alone in its registrable domain
	turn
	busy     int32   // leases of all hosts
	leases   int32   // URLs leased for the first time
	waitsFor blocker // whose line the turn is in
	resolve  uint8   // how far its address is known
	fails    uint8   // leases in a row without a response
	dead     bool    // too many: its URLs are refused until pace.hold
	located  uint16  // the minute in which it came to its address: see pinned
	residence
}

// host is what is known of an origin, and its pending URLs.
type host struct {
	*server
	name     string    // its origin; empty: see isRobotsRedirects
	queue    hostQueue // pending, never leased
	retry    *retryHeap
	backlog  *backlog // pending, and only in the store; nil: none
	robots   robotsTxt
	index    int32 // among the hosts of its server that are due; -1: not there
	leased   int32 // with robots.txt
	pending  int32 // in queue, retry and backlog
	answered int32 // URLs that were tried
	tried    int32 // of these, neither done nor refused
	capped   bool  // it has had LimitPerHost
	seed     bool  // a seed is on it, and it has not answered from a public address
	dirty    bool  // changed since NoteHosts
	starved  bool  // it waits for room in the robots.txt cache
}

// name returns the host name.
func (s *server) name() string { return Hostname(s.own.name) }

// each yields the hosts of s, in no order.
func (s *server) each(yield func(*host) bool) {
	if s.origins == nil {
		yield(&s.own)
		return
	}
	for _, h := range s.origins.known {
		if !yield(h) {
			return
		}
	}
}

// crawlDelay returns what the robots.txt of the server's hosts ask for.
func (s *server) crawlDelay() time.Duration {
	if s.origins == nil {
		return s.own.robots.delay()
	}
	return s.origins.delay
}

// deadAt reports whether the URLs of s are refused at a time, because it does not respond.
func (s *server) deadAt(at moment) bool { return s.dead && at < s.pace.hold }

// Hostname returns the name in an origin; empty if it has none, as "null".
func Hostname(origin string) string {
	_, name, _ := strings.Cut(origin, "://")
	if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, ']') {
		name = name[:i]
	}
	return name
}

// isLoopback reports whether a canonical host name can only mean this machine: RFC 6761, section
// 6.3, and the loopback addresses.
func isLoopback(name string) bool {
	name = strings.TrimSuffix(name, ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil && addr.Unmap().IsLoopback()
}
