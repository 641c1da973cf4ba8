package frontier

import (
	"fmt"
	"math"
)

const (
	// parkFrom is from which failure in a row on a server is parked: before, it may be the
	// fault of pages. Then it is tried with one lease at once, after a pause that doubles.
	parkFrom = 3

	// maxFails is how many leases in a row a server may leave without an answer before
	// its URLs are refused, for shutFor; then it has another chance: one. If the last was of one
	// that took the request and fell silent, it is maxSilent: that may be the pages' fault, and a
	// dozen that hang, the first that a site links to, must not cost all the others.
	maxFails  = 8
	maxSilent = 32

	// silentPause is the pause of which number is the longest while a server is only silent: 16 s.
	silentPause = 5
)

// fail takes in whether a server has answered. What was under way when a failure was
// told is the same failure.
func (f *Frontier) fail(s *server, a Answer) {
	switch {
	case a.Addr.IsValid() || a.Took > 0 || a.Overload:
		f.revive(s)
	case a.Failure == "" || f.now < s.pace.hold:
	default:
		s.fails = min(s.fails+1, maxSilent)
		most, longest := uint8(maxFails), uint8(math.MaxUint8)
		if a.Silent {
			most, longest = maxSilent, silentPause
		}
		if s.fails >= parkFrom {
			s.pace.hold = f.now + pause(min(s.fails-parkFrom+1, longest))
		}
		if s.fails >= most {
			s.dead = true
			s.pace.hold = f.now + shutFor
			f.shut[s] = failure{a.Failure, fmt.Sprintf("its host did not answer %d times in a row: %s", s.fails, a.Reason)}
			f.placeOrigins(s)
		}
	}
}

// deadAt reports whether the URLs of s are refused at a time, as it has not answered.
func (s *server) deadAt(at moment) bool { return s.dead && at < s.pace.hold }

// revive takes in that s has answered.
func (f *Frontier) revive(s *server) {
	s.fails = 0
	if s.dead {
		s.dead = false
		delete(f.shut, s)
	}
}
