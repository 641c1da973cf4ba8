package engine

import (
	"hash/fnv"
	"io"
	"regexp"
	"strings"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// loops are the fetch loops of a crawl, and the workers there that have no lease.
// Owner: the coordinator's loop. After start, all may be read from any goroutine.
type loops struct {
	all     []*fetch.Loop
	workers int   // of all loops
	free    []int // by loop: workers without a lease
	http1   http1

	assigned [][]fetch.Lease // by loop: to be sent
}

// start makes a fetch loop for each event loop.
func (l *loops) start(cfg *Config, shared *fetch.Shared, own *aio.Loop, on []*aio.Loop, report fetch.Report) {
	l.workers = cfg.Workers
	n := len(on)
	l.assigned = make([][]fetch.Lease, n)
	for i, loop := range on {
		workers := (cfg.Workers + n - 1 - i) / n // the first ones take the remainder
		l.all = append(l.all, fetch.NewLoop(i, &cfg.Fetch, shared, loop, own, workers, report))
		l.free = append(l.free, workers)
	}
}

// idle returns how many workers have no lease.
func (l *loops) idle() (n int) {
	for _, free := range l.free {
		n += free
	}
	return n
}

// assign has send hand a lease to one of the loops.
func (l *loops) assign(lease *fetch.Lease) {
	i := l.loopFor(&lease.URL)
	l.free[i]--
	l.assigned[i] = append(l.assigned[i], *lease)
}

// send posts the leases that were assigned.
func (l *loops) send() {
	for i, leases := range l.assigned {
		if len(leases) > 0 {
			l.all[i].Lease(leases)
			l.assigned[i] = nil // it is the loop's
		}
	}
}

// loopFor returns the loop for a lease: that of its host, which has its address and perhaps a
// connection, or, if that is much busier than others, the one with the most idle workers. A host
// that may speak HTTP/2 keeps its loop, whose one connection serves all requests.
func (l *loops) loopFor(u *frontier.URL) int {
	most, busy := 0, l.workers
	for i, n := range l.free {
		busy -= n
		if n > l.free[most] {
			most = i
		}
	}
	where := u.Where()
	host := where.Hostname()
	hash := fnv.New32a()
	_, _ = io.WriteString(hash, host) // never fails
	home := int(uint64(hash.Sum32()) * uint64(len(l.all)) >> 32)
	keeps := where.Scheme() == "https" && !l.http1.has(host)
	if slack := busy / len(l.all); l.free[home] > 0 && (keeps || l.free[most]-l.free[home] <= max(slack, 1)) {
		return home
	}
	return most
}

// ended takes in that leases of a loop have ended.
func (l *loops) ended(loop, leases int) { l.free[loop] += leases }

// breakOff breaks off what is in flight.
func (l *loops) breakOff() {
	for _, f := range l.all {
		f.Break()
	}
}

// disconnect closes the connections that are kept for later requests.
func (l *loops) disconnect() {
	for _, f := range l.all {
		f.Disconnect()
	}
}

// trust passes on seeds that were given one by one, before any lease that they lead to.
func (l *loops) trust(seeds []weburl.URL) {
	for _, f := range l.all {
		f.Trust(seeds)
	}
}

// know lets the user's secrets go to the origin of a seed.
func (l *loops) know(u weburl.URL) {
	for _, f := range l.all {
		f.Know([]weburl.URL{u})
	}
}

// permit lets links lead to private networks.
func (l *loops) permit(networks []guard.Network) {
	for _, f := range l.all {
		f.Permit(networks)
	}
}

// exclude adds an exclusion.
func (l *loops) exclude(re *regexp.Regexp) {
	for _, f := range l.all {
		f.Exclude(re)
	}
}

// close ends the loops when their leases have ended.
func (l *loops) close() {
	for _, f := range l.all {
		f.Close()
	}
}

// abandon closes what loops that never ran still hold.
func (l *loops) abandon() {
	for _, f := range l.all {
		f.Abandon()
	}
}

// http1 are hosts that have chosen HTTP/1.1 over TLS.
type http1 struct{ hosts map[string]struct{} }

// mostHTTP1 bounds them. Beyond it all are forgotten, and keep to one loop until they respond
// again.
const mostHTTP1 = 4096

func (h *http1) has(host string) bool {
	_, has := h.hosts[host]
	return has
}

// learn takes in how a host has responded.
func (h *http1) learn(r *record.Record, at weburl.URL) {
	switch host := at.Hostname(); {
	case at.Scheme() != "https" || r.Protocol == "":
	case r.Protocol == "h2":
		delete(h.hosts, host)
	case !h.has(host):
		if h.hosts == nil || len(h.hosts) >= mostHTTP1 {
			h.hosts = make(map[string]struct{})
		}
		h.hosts[strings.Clone(host)] = struct{}{}
	}
}
