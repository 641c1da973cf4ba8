package frontier

import (
	"fmt"
	"math"
)

const (
	// parkFrom is from which failure in a row on a server is parked; before, the fault may be the
	// pages'. A parked server is tried with one lease at once, after a pause that doubles.
	parkFrom = 3

	// maxFails is how many leases in a row a server may leave without a response before its URLs
	// are refused for shutFor; then it has another chance: one. If the last failure was of a server
	// that accepted the request and fell silent, the number is maxSilent: that may be the pages'
	// fault, and a dozen pages that hang, linked first by a site, must not cost all the others.
	maxFails  = 8
	maxSilent = 32

	// silentPause is the number of the longest pause while a server is only silent: 16 s.
	silentPause = 5
)

// failure is why nothing of a host is leased.
type failure struct{ kind, reason string }

// failures are why servers are dead.
type failures map[*server]failure

// learn takes in whether a server has responded, and reports whether it is dead from now on. What
// was in flight at a failure is the same failure.
func (f failures) learn(now moment, s *server, a Result) (died bool) {
	switch {
	case a.Addr.IsValid() || a.Took > 0 || a.Overload:
		f.revive(s)
	case a.Failure == "" || now < s.pace.hold:
	default:
		s.fails = min(s.fails+1, maxSilent)
		most, longest := uint8(maxFails), uint8(math.MaxUint8)
		if a.Silent {
			most, longest = maxSilent, silentPause
		}
		if s.fails >= parkFrom {
			s.pace.hold = now + pause(min(s.fails-parkFrom+1, longest))
		}
		if s.fails >= most {
			s.dead = true
			s.pace.hold = now + shutFor
			reason := fmt.Sprintf("its host did not answer %d times in a row: %s", s.fails, a.Reason)
			f[s] = failure{a.Failure, reason}
			return true
		}
	}
	return false
}

// revive takes in that s has responded.
func (f failures) revive(s *server) {
	s.fails = 0
	if s.dead {
		s.dead = false
		delete(f, s)
	}
}
