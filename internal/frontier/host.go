package frontier

import (
	"math"
	"net/netip"
	"strings"
	"time"
)

const never moment = math.MinInt64

// How far the address of a host is known.
const (
	addressKnown   uint8 = iota // or not needed: see Config.Resolve
	addressUnknown              // to be looked up before anything else
	addressAsked                // leased
)

// host is what is known of a host name: what its origins, which differ by scheme and port, share. A
// page over http and the next over https ask the same machine twice. A crawl may have a million
// hosts with one origin each, so the first origin is part of the host.
type host struct {
	own       origin   // the first that was known
	origins   *origins // all of them; nil: there is one
	pace      pace
	last      moment    // from which the delay counts: last request, response or restart
	asked     moment    // its last request or response
	moved     moment    // the end of its last lease, or the first one since it had none
	address   *group    // nil: unknown
	siblings  *siblings // nil: it is alone in its registrable domain
	turn      turn
	busy      int32   // leases of all origins
	leases    int32   // URLs leased for the first time
	waitsFor  blocker // whose line the turn is in
	resolve   uint8   // how far its address is known
	quick     uint8   // pages in a row that came within PromptTime, up to promptPages
	prompt    bool    // whose turns it has: see stalls
	located   uint16  // the minute in which it came to its address: see pinned
	held      bool    // nothing is leased: see Hold
	foreign   bool    // it was of another frontier when it came: see partitions
	part      int32   // its partition
	residence residence
}

// newHost makes the host of a name, with its first origin.
func (f *Frontier) newHost(hostname, first string) *host {
	h := &host{last: f.politeness.restored, asked: never, turn: turn{index: -1, rank: -1}}
	h.own.name = first
	if f.partitions.of != nil {
		h.part = int32(f.partitions.partition(hostname))
	}
	if h.held, h.foreign = f.partitions.holds(hostname), f.partitions.foreign(hostname); h.foreign {
		f.partitions.foreigners[h] = struct{}{}
	}
	if f.cfg.PerHost == 0 && !isLoopback(hostname) {
		h.pace.most = startPace
	}
	f.joinDomain(h, hostname)
	if f.cfg.Resolve {
		if addr, err := netip.ParseAddr(strings.Trim(hostname, "[]")); err == nil {
			f.moveTo(h, addr)
		} else if hostname != "" {
			h.resolve = addressUnknown
		}
	}
	return h
}

// name returns the host name.
func (h *host) name() string { return Hostname(h.own.name) }

// each yields the origins of h, in no order.
func (h *host) each(yield func(*origin) bool) {
	if h.origins == nil {
		yield(&h.own)
		return
	}
	for _, o := range h.origins.known {
		if !yield(o) {
			return
		}
	}
}

// count returns how many origins h has.
func (h *host) count() int {
	if h.origins == nil {
		return 1
	}
	return len(h.origins.known)
}

// crawlDelay returns what the robots.txt of the host's origins ask for.
func (h *host) crawlDelay() time.Duration {
	if h.origins == nil {
		return h.own.robots.delay()
	}
	return h.origins.delay
}

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
