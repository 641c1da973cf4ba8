package engine

import (
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// waitsFrom is the time for which a lease counts against Concurrency: longer than most servers
// take, and so short that a hundred that stall cost the others little.
const waitsFrom = time.Second

// slots counts the leases in flight. One without an outcome after waitsFrom only waits, for a
// server or its name server, which takes a worker and a descriptor but no work: it counts no more,
// and another may start. So hosts that stall do not hold up the others, as long as there are
// workers.
type slots struct {
	most  int // that count, at once
	busy  int // in flight, and counting
	queue []*slot

	errands struct{ all, busy int } // those that errands take, in flight and counting

	oldest, newest *slot // in flight, in the order in which they began
}

// slot holds the state of one lease.
type slot struct {
	began time.Time
	free  bool // it counts no more

	errand  bool // it is for one, or takes the turn of one
	url     weburl.URL
	try     int
	address bool // it is for the address of the host

	older, newer *slot
}

// take counts a lease that starts.
func (s *slots) take(now time.Time, u *frontier.URL, errand bool) *slot {
	l := &slot{began: now, errand: errand, url: u.Where(), try: u.Tries + 1, address: u.Resolve, older: s.newest}
	if s.newest != nil {
		s.newest.newer = l
	} else {
		s.oldest = l
	}
	s.newest = l
	s.busy++
	if errand {
		s.errands.all++
		s.errands.busy++
	}
	s.queue = append(s.queue, l)
	return l
}

// end takes back what take returned: the lease has ended.
func (s *slots) end(ticket any) {
	l := ticket.(*slot)
	if l.older != nil {
		l.older.newer = l.newer
	} else {
		s.oldest = l.newer
	}
	if l.newer != nil {
		l.newer.older = l.older
	} else {
		s.newest = l.older
	}
	l.older, l.newer = nil, nil
	if l.errand {
		s.errands.all--
	}
	s.give(l)
}

// give has a lease count no more.
func (s *slots) give(l *slot) {
	if !l.free {
		l.free = true
		s.busy--
		if l.errand {
			s.errands.busy--
		}
	}
}

// InFlight is a request without an outcome.
type InFlight = record.InFlight

// Requests in flight for longFrom are listed, mostLong of them.
const (
	longFrom = 5 * time.Second
	mostLong = 3
)

// longest returns what has been in flight for longest.
func (s *slots) longest(now time.Time) (all []InFlight) {
	for l := s.oldest; l != nil && len(all) < mostLong && now.Sub(l.began) >= longFrom; l = l.newer {
		what := l.url.String()
		if l.address {
			what = "the address of " + l.url.Hostname()
		}
		all = append(all, InFlight{URL: what, For: now.Sub(l.began), Try: l.try})
	}
	return all
}

// left returns how many leases may start.
func (s *slots) left(now time.Time) int {
	for len(s.queue) > 0 && (s.queue[0].free || now.Sub(s.queue[0].began) >= waitsFrom) {
		s.give(s.queue[0])
		s.queue[0] = nil
		s.queue = s.queue[1:]
	}
	return s.most - s.busy
}

// next returns when the next lease counts no more, unless an outcome comes before; false: none
// does.
func (s *slots) next() (at time.Time, ok bool) {
	if len(s.queue) == 0 {
		return at, false
	}
	return s.queue[0].began.Add(waitsFrom), true
}
