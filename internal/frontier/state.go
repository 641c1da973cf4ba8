package frontier

import (
	"strings"
	"time"

	"github.com/weftcrawl/weft/robots"
)

// GivenUp is an origin whose pending URLs are refused, because of its failures or overloads.
type GivenUp struct {
	Origin       string
	Kind, Reason string // of its refusals; the reason comes from the Web
	Pending      int
}

// Refusal is a URL that is not fetched.
type Refusal struct {
	URL  URL
	Kind string // "robots", or the kind given to RobotsFailed

	// Reason is the rule, "line 12: Disallow: /x", a Crawl-delay that is too long, or the reason given
	// to Robots.Failed. It comes from the Web.
	Reason string
}

// LevelState is the place of an origin among the levels; zero: without Config.Levels.
type LevelState struct {
	Least int  // depth that none of its pending URLs is below
	Joint bool // it keeps step with other sites
}

// FailedWords says how the last try failed.
func (s *RobotsState) FailedWords() string {
	return "robots.txt: " + strings.TrimPrefix(s.Reason, "robots.txt: ")
}

// Journal records what must outlive the process. Whoever applies the changes in order holds what a
// [Restorer] needs to rebuild the frontier. The methods are called while the frontier changes: they
// take notes, and never call the frontier.
//
// A lease is not recorded: a leased URL is still pending.
type Journal interface {
	// Pending records a new URL, or one that is done and asked again: it has Tries then. It also
	// repeats one that OverLimit has just dropped with the others of its origin, because it is leased.
	Pending(u URL)

	// Retried records that a URL, pending at was, needs a retry. It is pending at u.QueueKey() now,
	// which may be the same; Tries, NotBefore and Past have changed.
	Retried(u URL, was QueueKey)

	// Moved records that a URL that was never leased, pending at was, is pending at u.QueueKey():
	// with Levels, a shorter way to it was found. Depth, From and Seq have changed.
	Moved(u URL, was QueueKey)

	// Nearer records, with Levels, another way to a URL that was seen: URL, Depth and From. It may
	// be shorter. If open is false, it was looked into, and is not needed any more.
	Nearer(u URL, open bool)

	// Done records that a URL, pending at u.QueueKey(), is done. Past ends with the result.
	Done(u URL)

	// Refused records that a URL, pending at its QueueKey, is not fetched.
	Refused(r Refusal, at time.Time)

	// Dropped records that a new URL is seen and never becomes pending, and why.
	Dropped(u URL, why Drop)

	// Variants records how many URLs of an origin with a VariantKey were taken, n ≥ 1: at 64, 72, 80
	// and so on, an eighth more each time, and at MaxVariants.
	Variants(origin string, key [16]byte, n int)

	// OverLimit drops every pending URL of an origin that was never tried (QueueKey.Tried is
	// false). Those that are leased are repeated at once, by Pending.
	OverLimit(origin string)

	// Rules records a new robots.txt.
	Rules(origin string, r robots.Rules)

	// Redirected records what the frontier keeps about a URL that redirects led to, by its
	// fingerprint, whenever that changes: the fewest redirects of all ways to it, and the target
	// of its own redirect, nil if it has none. fewest is 0 once nothing is kept any more.
	Redirected(fingerprint [16]byte, fewest int, target *URL)

	// Origin and Counts are called by NoteOrigins only. A restart needs Done, Refused, OverLimit,
	// OverVariants and Duplicates. Leased counts URLs only.
	Origin(o OriginState)
	Counts(s Stats)
}

// OriginState is the part of an origin's state that outlives the process.
type OriginState struct {
	Name     string // scheme, host and port, as weburl.URL.Origin returns them
	Pending  int    // URLs, leased ones included
	Tried    int    // of these, retries: QueueKey.Tried
	Answered int    // URLs that were tried: what Limit and LimitPerHost count after a restart
	Errors   int    // URLs that are done with an error: see URL.Erred
	Capped   bool   // it has had LimitPerHost
	Seed     bool   // a seed is on it, and it has not answered from a public address

	Asked      time.Time     // its last request or response; zero: none
	Took       time.Duration // smoothed response time; 0: unknown
	Best       time.Duration // smallest Took; 0: unknown
	Most       int           // leases at once, 0 to 255; 0: any number
	BackOffEnd time.Time     // end of its back-off; zero: there is none
	Strikes    int           // overloads in a row, 0 to 255
	Overload   bool          // has ever been overloaded

	Levels    LevelState
	Responded bool // ever
	Trouble   TroubleState
	Robots    RobotsState
}

// TroubleState is the trouble that keeps an origin from being crawled; zero: it has responded well.
type TroubleState struct {
	Since    time.Time // when it began, had the crawl run without a break
	Failures int       // leases in a row without a response, 0 to 255
	Until    time.Time // it is parked, or its URLs are refused; zero: it is not
	GivenUp  bool      // its URLs are refused

	// Of the last failure, and why it was given up: the kind and reason of the refusals.
	Kind, Reason string
}

// RobotsState is the state of an origin's robots.txt. Journal.Rules records the rules themselves.
type RobotsState struct {
	Have   bool      // there are rules, possibly old ones
	Shut   bool      // it cannot be had: URLs are refused up to Until
	Until  time.Time // when it is next requested; zero: at once
	Tries  int       // in a row that failed, 0 to 255
	Kind   string    // without rules, after a failure: the kind last given to RobotsFailed
	Reason string    // the reason given with it. From the Web
}

// StoredOrigin is an origin as the store has it.
type StoredOrigin struct {
	OriginState
	Rules robots.Rules
}

// Stats are counts of URLs by state, and of what Add has turned down. A URL that was added and was
// no duplicate counts in exactly one of Pending, Leased, Done, Refused, OverLimit and OverVariants.
// A leased robots.txt counts in Leased only.
type Stats struct {
	Pending, Leased, Done int
	Refused               int // by robots.txt, or for lack of one
	OverLimit             int // dropped because their host had LimitPerHost
	OverVariants          int // dropped because their path had MaxVariants
	Origins               int
	Duplicates            int  // URLs given to Add that had been seen
	LimitReached          bool // Limit URLs were leased, and others are pending
}

// Drop is the reason for which a new URL is seen and never becomes pending.
type Drop uint8

// The reasons for which URLs are dropped.
const (
	DropHost     Drop = iota // its host has had LimitPerHost
	DropVariants             // its path has had MaxVariants
)
