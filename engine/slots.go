package engine

import "time"

// waitsFrom is how long a lease counts against Concurrency: longer than most servers take, and so
// short that a hundred that stall cost the others little.
const waitsFrom = time.Second

// slots counts the leases in flight. One without an outcome after waitsFrom only waits, for a
// server or its name server, which takes a worker and a descriptor but no work: it counts no more,
// and another may start. So hosts that stall do not hold up the others, as long as there are
// workers.
type slots struct {
	most  int // that count, at once
	busy  int // in flight, and counting
	queue []*slot
}

// slot holds the state of one lease.
type slot struct {
	began time.Time
	free  bool // it counts no more
}

// take counts a lease that starts.
func (s *slots) take(now time.Time) *slot {
	l := &slot{began: now}
	s.busy++
	s.queue = append(s.queue, l)
	return l
}

// give takes back what take returned.
func (s *slots) give(ticket any) {
	if l := ticket.(*slot); !l.free {
		l.free = true
		s.busy--
	}
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
