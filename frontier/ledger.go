package frontier

import (
	"cmp"
	"time"

	"github.com/weftcrawl/weft/robots"
)

// Ledger takes note of what must outlive the process: who applies what it was told, in
// order, has what [Frontier.RestoreHost] and its like ask for. Its methods are called
// while the frontier changes: they take notes, and call nothing of the frontier.
//
// A lease is told to nobody: a URL that is leased is still pending.
type Ledger interface {
	// Pending tells of a URL that is new; or that is told again, after OverLimit has
	// dropped it from the ledger with the others of its host.
	Pending(u URL)

	// Retried tells of a URL that was pending at was, and is now to be tried again, at
	// u.Place(), which may be another: Tries, NotBefore and Past have changed.
	Retried(u URL, was Place)

	// Done tells of a URL, pending at u.Place(), that is done. Past ends with how.
	Done(u URL)

	// Refused tells of a URL, pending at its Place, that is not to be fetched.
	Refused(r Refusal, at time.Time)

	// Dropped tells of a URL that is new and is not to be fetched, and why. It is seen,
	// and no more.
	Dropped(u URL, why Drop)

	// Variants tells how many URLs were taken of those with a VariantKey, n ≥ 1: when there
	// are 64, 72, 80 and so on, each time an eighth more or less, and MaxVariants.
	Variants(key [16]byte, n int)

	// OverLimit drops every pending URL of a host that was not tried (Place.Tried is
	// false). Those that are under way are told again at once, by Pending.
	OverLimit(host string)

	// Rules tells of a new robots.txt.
	Rules(host string, r robots.Rules)

	// Redirected tells what is kept of a URL that redirects led to, by its fingerprint,
	// whenever it changes: the fewest redirects of all ways to it, and the target of its
	// own, nil if there is none; fewest is 0 when nothing is kept any more. See RestoreRedirected.
	Redirected(fingerprint [16]byte, fewest int, target *URL)

	// Host and Counts are told by NoteHosts only.
	Host(h HostState)
	Counts(s Stats) // Done, Refused, OverLimit, OverVariants and Duplicates are what RestoreStats wants
}

// Place is where a pending URL stands among those of its host: first what was tried, then
// what is kept, then the higher priority, then the smaller depth, then the higher rank, then as it came. No two URLs of a crawl
// have the same.
type Place struct {
	Tried    bool
	Kept     bool // not with Tried
	Priority int8
	Depth    int // ≥ 0
	Rank     int8
	Seq      uint64 // ≥ 1
}

// Compare returns a negative number if p comes before q, a positive one if it comes
// after, and 0 if they are the same.
func (p Place) Compare(q Place) int {
	if p.Tried != q.Tried {
		if p.Tried {
			return -1
		}
		return 1
	}
	if p.Kept != q.Kept {
		if p.Kept {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(q.Priority, p.Priority), cmp.Compare(p.Depth, q.Depth), cmp.Compare(q.Rank, p.Rank), cmp.Compare(p.Seq, q.Seq))
}

// Place returns where u stands.
func (u *URL) Place() Place {
	return Place{u.Tries > 0, u.Kept && u.Tries == 0, u.Priority, u.Depth, u.Rank, u.Seq}
}

// Try is how one try at a URL ended.
type Try struct {
	At     time.Time
	Status int    // of the answer; 0: there was none
	Kind   string // of error; empty: none
	Reason string // the error; without one, where a redirect leads, of what it is a duplicate, or why its links are not followed. From the Web
}

// HostState is what outlives the process of what is known of a host.
type HostState struct {
	Name     string // its origin
	Pending  int    // URLs, leased ones included
	Tried    int    // of these, to be tried again: Place.Tried
	Answered int    // URLs that were tried: what Limit and LimitPerHost count after a restart
	Capped   bool   // it has had LimitPerHost
	Seed     bool   // a seed is on it, and it has not answered from a public address

	Asked    time.Time     // when it was last asked or has last answered; zero: never
	Took     time.Duration // response time, smoothed; 0: unknown
	Best     time.Duration // smallest Took; 0: unknown
	Most     int           // leases at once, 0 to 255; 0: any number
	Hold     time.Time     // it is let alone until then, having been overloaded; zero: it is not
	Strikes  int           // overloads in a row, 0 to 255
	Overload bool          // has ever been overloaded
	Failures int           // leases in a row that it did not answer, 0 to 255; if any, Hold is for that
	Dead     bool          // too many: until Hold its URLs are refused

	Robots RobotsState
}

// RobotsState is where a host's robots.txt stands. The rules are told by Ledger.Rules.
type RobotsState struct {
	Have   bool      // there are rules, be they old
	Shut   bool      // there are none to be had: URLs are refused up to Until
	Until  time.Time // when it is asked for again, or for the first time; zero: at once
	Tries  int       // in a row that failed, 0 to 255
	Kind   string    // of Shut: what RobotsFailed was told
	Reason string    // the same. From the Web
}

// Want is a host of which some pending URLs are only in the ledger, and are wanted in
// memory: those after a place, N at most. It is answered by one Refill.
type Want struct {
	Host  string // its origin
	After Place
	N     int // ≥ 1
}
