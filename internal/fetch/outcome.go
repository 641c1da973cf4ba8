package fetch

import (
	"time"

	"github.com/weftcrawl/weft/internal/appshell/lessons"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/capture"
	"github.com/weftcrawl/weft/internal/duplicates"
	"github.com/weftcrawl/weft/internal/fingerprint"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/refs"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/seed"
	"github.com/weftcrawl/weft/weburl"
)

// Lease is a URL handed to a loop.
type Lease struct {
	URL    frontier.URL
	Ticket any  // the coordinator's; the outcome brings it back
	Sketch bool // its page is to be sketched: see Outcome.Sketch
	Guess  bool // the scheme is a guess: http is tried soon
}

// Outcome is a worker's report of a lease. It is one of: an address (URL.Resolve), a robots.txt, a
// postponement, a retry, or a record.
type Outcome struct {
	URL    frontier.URL
	Ticket any
	Began  time.Time       // when the lease was tried, on the clock of the loops
	Result frontier.Result // its lesson about the host's pace

	Network Network // of this machine
	Lost    string  // with NetworkLost and NetworkDown: what seems to be down, and the error
	NoProxy bool    // with NetworkDown: there is no host of the proxy's name
	Err     error   // with NoProxy

	Retry     bool           // an error that may pass, with tries left
	Try       frontier.Try   // with Retry: how this try ended
	AtOnce    bool           // with Retry: a kept connection ended, or the server dislikes a HEAD
	Postpone  bool           // this machine lacks something: no try, and no error unless it lasts
	Crowded   bool           // with Postpone of a robots.txt: others hold memory for bodies
	Broken    bool           // with Postpone: it was broken off, as the crawl ends
	SignedOut string         // with a session, why the page says that it holds no more; the URL waits
	Await     bool           // its origin cannot be reached, or wants to be left alone: no try
	Robots    *Robots        // of a lease of robots.txt
	Record    *record.Record // if none of the above, and with Postpone

	Links   []frontier.URL // to follow, not sent lately
	Target  *frontier.URL  // of a redirect that is followed
	Instead *frontier.URL  // to fetch in place of this one
	Dropped []Dropped      // links that are not followed
	Targets refs.Targets   // for package refs
	Read    bool           // Targets were read; else those of an earlier visit hold
	Again   bool           // an earlier visit has had a response

	Cookies   Cookies            // of the exchange
	Before    *frontier.Snapshot // Known of the URL, before this try
	Saved     int64              // bytes that a 304 spared
	Bytes     int64              // received, of an errand
	Failed    error              // of an errand that its page waits for; nil: it has an answer
	Moved     bool               // it redirects, and did not when it was first fetched
	Duplicate duplicates.Verdict // zero: not judged
	Sketch    uint64             // see fingerprint.Reader.Sketch; 0: not read

	Lines     []byte           // for links.jsonl
	Items     []record.Item    // that rules have found on the page
	ItemLines []byte           // for items.jsonl
	Folders   []string         // of the body, of the rendered document and its pictures
	Capture   *capture.Capture // for the archive; nil: none
	Exchange  *Exchange        // of the errand, or of one that has requested the URL
	Rendered  *capture.Capture // of the rendered document; nil: none
	Pictures  []*capture.Capture
	Lesson    *lessons.Known // of rendering; nil: none

	Holds []*budget.Hold // memory of a big outcome, or of many rules, until it is saved

	session int                     // Reads of it, when the URL was requested
	content [32]byte                // SHA-256 of the body; zero: none
	text    fingerprint.Fingerprint // of the page's text; zero: not read
	sent    *seed.Post              // by an errand; nil: it was a GET
	watched bool                    // the page is to be sketched
	reading budget.Hold             // from lines.wait to lines.weigh
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
