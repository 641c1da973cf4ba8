package robots

import "time"

const (
	// CacheFor is how long the rules of a host hold: RFC 9309, section 2.4.
	CacheFor = 24 * time.Hour

	// MaxRedirects is how many redirects in a row lead to a robots.txt: RFC 9309,
	// section 2.3.1.2. They may lead to another host; the rules are those of the
	// first.
	MaxRedirects = 5
)

// Access says what the answer to a request for robots.txt means.
type Access int

const (
	Closed Access = iota // fetch nothing, and ask again later
	Open                 // there are no rules: the zero [Rules]
	Read                 // the rules are in the body: [Parse]
	Follow               // they are where Location says; without one, or after MaxRedirects: Open
)

// For returns what the status of an answer means, and that of no answer, which is
// 0: RFC 9309, section 2.3.1. A server that says 429 is not one without rules, so
// it is treated like one that is down.
func For(status int) Access {
	switch {
	case status/100 == 2:
		return Read
	case status/100 == 3:
		return Follow
	case status/100 == 4 && status != 429:
		return Open
	default:
		return Closed
	}
}
