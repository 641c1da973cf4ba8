package fetch

import (
	"time"

	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/duplicates"
	"github.com/weftcrawl/weft/internal/fingerprint"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// Lease is a URL handed to a loop.
type Lease struct {
	frontier.URL
	Ticket any  // the coordinator's; the outcome brings it back
	Sketch bool // its page is to be sketched: see Outcome.Sketch
	Guess  bool // the scheme is a guess: http is tried soon
}

// Outcome is a worker's report of a lease. It is one of: an address (URL.Resolve), a
// robots.txt, a postponement, a retry, or a record.
type Outcome struct {
	NetworkSign
	contents
	Kept

	URL      frontier.URL
	Ticket   any
	Result   frontier.Result // what it teaches about the host's pace
	Retry    bool            // an error that may pass, with tries left
	Try      frontier.Try    // with Retry: how this try ended
	AtOnce   bool            // with Retry: it met the end of a kept connection, or was a HEAD that the server dislikes, so it may be tried again at once
	Postpone bool            // this machine lacks something: no try, and no error of the URL unless it lasts
	Crowded  bool            // with Postpone of a robots.txt: memory for bodies, which others hold, so it will not last
	Broken   bool            // with Postpone: it was broken off, as the crawl ends
	Await    bool            // its origin cannot be reached at the moment, or wants to be left alone: no try either
	Robots   *Robots         // of a lease of robots.txt
	Record   *record.Record  // if none of the above, and with Postpone

	Links   []frontier.URL // to follow, not sent lately
	Target  *frontier.URL  // of a redirect that is followed
	Instead *frontier.URL  // to fetch in place of this one
	Dropped []Dropped      // links that are not followed

	Lines     []byte             // for links.jsonl
	Saved     int64              // bytes that a 304 spared
	Moved     bool               // it redirects, and did not when it was first fetched
	Duplicate duplicates.Verdict // zero: not judged

	Holds []*budget.Hold // memory of a big outcome, or of many rules, until it is saved: see weigh

	reading budget.Hold // from mayRead to weigh
}

// NetworkSign is the sign of this machine's network in an outcome.
type NetworkSign struct {
	Network Network
	Lost    string    // with NetworkLost and NetworkDown: what seems to be down, and the error
	NoProxy bool      // with NetworkDown: there is no host of the proxy's name
	Err     error     // with NoProxy
	Began   time.Time // when the lease was tried, on the clock of the loops
}

// Kept is the part of a response that a job keeps besides its record.
type Kept struct {
	Folder    string           // of the body
	Capture   *capture.Capture // for the archive; nil: none
	Items     []record.Item    // that rules have found on the page
	ItemLines []byte           // for items.jsonl
	References
}

// References are the URLs that a page leads to, for package refs.
type References struct {
	Targets refs.Targets
	Read    bool // they were read; else those of an earlier visit hold
	Again   bool // an earlier visit has had a response
}

// contents is the part of an outcome with which other pages, later requests and later visits are
// compared.
type contents struct {
	Cookies Cookies            // of the exchange
	Before  *frontier.Snapshot // Known of the URL, before this try

	content [32]byte                // SHA-256 of the body; zero: none
	text    fingerprint.Fingerprint // of the page's text; zero: not read
	watched bool                    // the page is to be sketched
	Sketch  uint64                  // what the page says that its URL does not explain: see fingerprint.Reader.Sketch; 0: not read
}

// Robots is the fate of a host's robots.txt.
type Robots struct {
	Rules    robots.Rules
	At       *weburl.URL    // target of a redirect, where it is to be requested next; nil: it is here
	Sitemaps []frontier.URL // of the host
	Bytes    int64
	Kind     string // error kind, if there are no rules; "": there are
	Reason   string
	Final    bool // asking again is no use: of a Postpone that lasts
}

// Dropped counts mentions of links by the reason why they are not followed.
type Dropped struct {
	Reason string
	N      int
}

// Cut counts links that are not known, and puts into the record why.
func (out *Outcome) Cut(reason string) {
	out.Drop(reason)
	if out.Record.Cut == "" {
		out.Record.Cut = reason
	}
}

// Added counts links that were new, and those that there are too many of.
func (out *Outcome) Added(added, tooMany int) {
	if added > 0 {
		out.Record.NewLinks += added
	}
	for range tooMany {
		out.Cut(scope.ReasonTooMany)
	}
}

// Drop counts a link that is not followed.
func (out *Outcome) Drop(reason string) {
	for i := range out.Dropped {
		if out.Dropped[i].Reason == reason {
			out.Dropped[i].N++
			return
		}
	}
	out.Dropped = append(out.Dropped, Dropped{reason, 1})
}
