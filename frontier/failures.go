package frontier

import (
	"fmt"
	"math"
)

const (
	// parkFrom is from which failure in a row on a host is parked; before, the fault may be the
	// pages'. A parked host is tried with one lease at once, after a pause that doubles.
	parkFrom = 3

	// maxFails is how many leases in a row a host may leave without a response before its URLs
	// are refused for shutFor; then it has another chance: one. If the last failure was of a host
	// that accepted the request and fell silent, the number is maxSilent: that may be the pages'
	// fault, and a dozen pages that hang, linked first by a site, must not cost all the others.
	maxFails  = 8
	maxSilent = 32

	// silentPause is the number of the longest pause while a host is only silent: 16 s.
	silentPause = 5
)

// failure is why nothing of an origin or a host is leased.
type failure struct{ kind, reason string }

// failures are why hosts are dead.
type failures map[*host]failure

// learn takes in whether a host has responded, and reports whether it is dead from now on. What
// was in flight at a failure is the same failure.
func (f failures) learn(now moment, h *host, a Result) (died bool) {
	switch {
	case a.Addr.IsValid() || a.Took > 0 || a.Overload:
		f.revive(h)
	case a.Failure == "" || now < h.pace.hold:
	default:
		h.fails = min(h.fails+1, maxSilent)
		most, longest := uint8(maxFails), uint8(math.MaxUint8)
		if a.Silent {
			most, longest = maxSilent, silentPause
		}
		if h.fails >= parkFrom {
			h.pace.hold = now + pause(min(h.fails-parkFrom+1, longest))
		}
		if h.fails >= most {
			h.dead = true
			h.pace.hold = now + shutFor
			reason := fmt.Sprintf("its host did not answer %d times in a row: %s", h.fails, a.Reason)
			f[h] = failure{a.Failure, reason}
			return true
		}
	}
	return false
}

// revive takes in that h has responded.
func (f failures) revive(h *host) {
	h.fails = 0
	if h.dead {
		h.dead = false
		delete(f, h)
	}
}
