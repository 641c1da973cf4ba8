package weft

import "time"

// waitsFrom is how long a lease counts against Concurrency: longer than most servers take, and
// short enough that a hundred that stall cost the others little.
const waitsFrom = time.Second

// slots counts the leases under way. One that has no outcome after waitsFrom only waits, for a server or
// its name server, which takes a worker and a descriptor but no work: it counts no more, and
// another may begin. So hosts that stall do not hold up the others, as long as there are workers.
type slots struct {
	most  int // that count, at once
	busy  int // of those under way, that count
	queue []*slot
}

// slot is that of a lease.
type slot struct {
	begun time.Time
	free  bool // it counts no more
}

// take counts a lease that begins.
func (s *slots) take(now time.Time) *slot {
	l := &slot{begun: now}
	s.busy++
	s.queue = append(s.queue, l)
	return l
}

// give takes in the outcome of a lease.
func (s *slots) give(l *slot) {
	if !l.free {
		l.free = true
		s.busy--
	}
}

// left is how many leases may begin. With none, more may from the time that next returns on, if no outcome
// comes before.
func (s *slots) left(now time.Time) int {
	for len(s.queue) > 0 && (s.queue[0].free || now.Sub(s.queue[0].begun) >= waitsFrom) {
		s.give(s.queue[0])
		s.queue[0] = nil
		s.queue = s.queue[1:]
	}
	return s.most - s.busy
}

func (s *slots) next() time.Time { return s.queue[0].begun.Add(waitsFrom) }
