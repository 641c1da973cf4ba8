package robots

import "time"

const (
	// CacheFor is the time for which the rules of a host are valid: RFC 9309, section 2.4.
	CacheFor = 24 * time.Hour

	// MaxRedirects bounds the consecutive redirects to follow to a robots.txt: RFC 9309,
	// section 2.3.1.2. They may lead to another host; the rules apply to the first.
	MaxRedirects = 5
)

// Access is the meaning of the response to a request for robots.txt.
type Access int

// The meanings.
const (
	Closed Access = iota // fetch nothing, and ask again later
	Open                 // there are no rules: the zero [Rules]
	Read                 // the body has the rules: [Parse]
	Follow               // Location has the rules; without one, or after MaxRedirects: Open
)

// For returns the meaning of a response by its status, 0 if there was none: RFC 9309, section
// 2.3.1. A server that says 429 may well have rules, so it counts as one that is down.
func For(status int) Access {
	switch {
	case status/100 == 2:
		return Read
	case status == 304, status/100 == 4 && status != 429: // 304 answers a condition, and none was sent
		return Open
	case status/100 == 3:
		return Follow
	default:
		return Closed
	}
}
