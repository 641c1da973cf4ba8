package frontier

import (
	"cmp"
	"net/netip"
	"strings"
	"time"

	"github.com/weftcrawl/weft/weburl"
)

// URL is a canonical URL and what it takes to fetch it.
type URL struct {
	URL      weburl.URL // canonical
	Written  string     // path and query as written there, which are requested; empty: URL's
	From     string     // the page it was found on; empty for a seed
	Data     string     // given to it by a program on that page; a redirect keeps it
	Depth    int        // links from a seed; a redirect keeps it
	Hops     int        // redirects that led here from a link or seed
	Tries    int        // made so far
	Priority int8       // an origin's URLs of higher priority come first, then those of less depth
	Rank     int8       // then those of higher rank; otherwise of use to the caller
	Role     Role       // the reason to request it
	Kept     bool       // comes before all URLs of its origin that are not kept
	ByDepth  bool       // its depth comes before its priority; set by Add: see Config.Levels

	// Set by a lease.
	Seed    bool        // a seed is on its origin, which has not answered from a public address
	Prompt  bool        // its host is: see LeasePrompt
	Resolve bool        // only the address of its host is wanted, by Resolved
	Pinned  bool        // request it from Addr, even if its name leads elsewhere by now: see pinFor
	Robots  bool        // this is the origin's robots.txt, for URLs of Depth or more
	Errand  *Errand     // nil: it is a URL of the crawl
	At      *weburl.URL // of a robots.txt: where Hops redirects say that it is; nil: at URL
	Addr    netip.Addr  // assumed address of its host; invalid: unknown

	Responded bool      // set by the caller before it ends a lease: see Errands.Responded
	Seq       uint64    // set by Add, unique within a crawl and ascending
	NotBefore time.Time // earliest time of a retry, set by Retry; zero: any time
	Past      []Try     // ends of its tries; the caller appends to it before it ends a lease
	Known     *Snapshot // of its last fetch; nil: none. The caller sets it before it ends a lease
}

// Role is the reason for which a crawl requests a URL.
type Role uint8

// Roles. There is room for no other: see queued and package store.
const (
	RolePage     Role = iota // it is within the bounds of the crawl, and its links are followed
	RoleNeeded               // the same, and a page needs it: what it redirects to may be an asset
	RoleAsset                // it is beyond the bounds, and a page needs it
	RoleExternal             // it is beyond the bounds, and links to it are checked
)

// Beyond reports whether a URL is requested although it is beyond the bounds of the crawl. The same
// URL counts as another one when the bounds are widened and it is crawled.
func (r Role) Beyond() bool { return r >= RoleAsset }

// Fingerprint returns what the seen set knows u by.
func (u *URL) Fingerprint() [16]byte {
	fp := u.URL.Fingerprint()
	if u.Role.Beyond() {
		for i := range fp { // tables compare parts of it
			fp[i] ^= 0xff
		}
	}
	return fp
}

// Source returns From, Written and Data in one text, as queues and stores keep them: few URLs have
// more than the first, and no URL has a control character.
func (u *URL) Source() string {
	s := u.From
	if u.Written != "" {
		s += "\x01" + u.Written
	}
	if u.Data != "" {
		s += "\x00" + u.Data
	}
	return s
}

// SetSource is the reverse of Source.
func (u *URL) SetSource(s string) {
	s, u.Data, _ = strings.Cut(s, "\x00")
	u.From, u.Written, _ = strings.Cut(s, "\x01")
}

// Where returns the URL to request, which differs from URL if redirects of a robots.txt led there.
func (u *URL) Where() weburl.URL {
	if u.At != nil {
		return *u.At
	}
	return u.URL
}

// Try is the end of one try at a URL.
type Try struct {
	At     time.Time
	Status int    // of the response; 0: there was none
	Kind   string // of error; empty: none

	// Reason is the error; without one, where a redirect leads, which page this one duplicates, or
	// why its links are not followed. It comes from the Web.
	Reason string
}

// Snapshot is the state of a URL after its last fetch, with which a later visit compares its
// response. The frontier carries it and never looks at it.
type Snapshot struct {
	Number  int       // of the visit at which it last responded, from 1 on
	Change  string    // the finding then: see package weft
	At      time.Time // when that was
	First   time.Time // its first fetch
	Changed time.Time // when it was last found new or changed

	Status   int      // of the last response with the fields below
	Redirect string   // its target; empty: none. From the Web
	Content  [32]byte // SHA-256 of the decoded body; zero: there was none
	Text     uint64   // hash of the page's text as readers see it; 0: none was taken
	Bytes    int64    // received

	// Hashes of the header fields that name links and say whether to follow them; 0: there were
	// none.
	Link, RobotsTag uint32

	// The validators that a conditional request sends back, and the Content-Type, verbatim from
	// the Web; the title, at most 512 bytes. Empty: there is none.
	ETag, Modified string
	Type, Title    string
	About          About

	Gone int // number of the visit that found it gone, since which it is; 0: it is there

	Capture Capture // in the archive; zero: none
}

// About is the part of a page's record that holds as long as the page is unchanged: see
// record.Record.
type About struct {
	Description, H1, Canonical string
	Words                      int
	Indexability               string
}

// size is the length of its texts, in bytes.
func (a *About) size() int {
	return len(a.Description) + len(a.H1) + len(a.Canonical) + len(a.Indexability)
}

// Capture is the last response of a URL that is whole in the archive, under the URL's own name.
type Capture struct {
	At      time.Time // its date, to the microsecond
	Payload [16]byte  // first bytes of its payload's digest
}

// QueueKey orders the pending URLs of an origin: tried URLs first, then kept ones, then by higher
// priority, smaller depth, higher rank, and smaller Seq; then those that are ordered by their depth
// before their priority. No two URLs of a crawl have the same key.
type QueueKey struct {
	Tried    bool
	Kept     bool // not with Tried
	ByDepth  bool // not with Tried or Kept
	Priority int8
	Depth    int // ≥ 0
	Rank     int8
	Seq      uint64 // ≥ 1
}

// Compare returns a negative number if p comes before q, a positive one if it comes after, and 0 if
// they are the same.
func (p QueueKey) Compare(q QueueKey) int {
	switch { // one by one, as most keys differ early
	case p.Tried != q.Tried:
		return first(p.Tried)
	case p.Kept != q.Kept:
		return first(p.Kept)
	case p.ByDepth != q.ByDepth:
		return first(q.ByDepth)
	case p.ByDepth && p.Depth != q.Depth:
		return cmp.Compare(p.Depth, q.Depth)
	case p.Priority != q.Priority:
		return cmp.Compare(q.Priority, p.Priority)
	case p.Depth != q.Depth:
		return cmp.Compare(p.Depth, q.Depth)
	case p.Rank != q.Rank:
		return cmp.Compare(q.Rank, p.Rank)
	}
	return cmp.Compare(p.Seq, q.Seq)
}

// first orders true before false.
func first(is bool) int {
	if is {
		return -1
	}
	return 1
}

// QueueKey returns the key of u among its origin's URLs.
func (u *URL) QueueKey() QueueKey {
	untried := u.Tries == 0
	return QueueKey{
		!untried, u.Kept && untried, u.ByDepth && untried && !u.Kept,
		u.Priority, u.Depth, u.Rank, u.Seq,
	}
}

// Result is the lesson of the end of a lease about a host's pace. The zero Result teaches nothing.
type Result struct {
	Took       time.Duration // from the request to the first byte of the response; 0: unknown
	Total      time.Duration // of the exchange, with or without success; 0: unknown
	Addr       netip.Addr    // the server's; invalid: unknown
	Public     bool          // the host has a public address: see URL.Seed
	Overload   bool          // the server was overloaded: it sent 429 or 503
	Status     int           // of an overloaded server, which people are shown
	RetryAfter time.Duration // time that the server wants to be left alone; 0: it did not say

	// Failure is the kind of error if there was no response at all, and Reason the error; both
	// empty: there was one, or this is unknown. Silent: the server accepted the request and sent
	// nothing. Unreached: there was no connection, which may pass. Absent: there is no such name.
	// See maxFails.
	Failure, Reason           string
	Silent, Unreached, Absent bool
}
