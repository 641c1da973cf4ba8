package fetch

import (
	"cmp"
	"strings"
	"time"

	"github.com/weftcrawl/weft/budget"
	"github.com/weftcrawl/weft/duplicates"
	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/scope"
	"github.com/weftcrawl/weft/text"
	"github.com/weftcrawl/weft/weburl"
)

// Lease is a URL handed to a loop.
type Lease struct {
	frontier.URL
	Ticket any // the coordinator's; the outcome brings it back
}

// Outcome is what a worker reports of a lease. It is one of: an address (URL.Resolve), a
// robots.txt, a postponement, a retry, or a record.
type Outcome struct {
	URL      frontier.URL
	Ticket   any
	Result   frontier.Result // what it teaches about the host's pace
	Retry    bool            // an error that may pass, with tries left
	Postpone bool            // this machine lacks something: no try, and no error of the URL unless it lasts
	Crowded  bool            // with Postpone: memory for bodies, which others hold, so it will not last
	Robots   *Robots         // of a lease of robots.txt
	Record   *record.Record  // if none of the above, and with Postpone

	Links   []frontier.URL // to follow, not sent lately
	Target  *frontier.URL  // of a redirect that is followed
	Dropped []Dropped      // links that are not followed

	Lines     []byte             // for links.jsonl
	Folder    string             // of the body that is kept
	Saved     int64              // bytes that a 304 spared
	Moved     bool               // it redirects, and did not when it was first fetched
	Duplicate duplicates.Verdict // zero: not judged

	Holds []*budget.Hold // memory of a big outcome, until it is saved: see weigh

	content [32]byte         // SHA-256 of the body; zero: none
	text    text.Fingerprint // of the page's text; zero: not read
	retried frontier.Try     // with Retry: how this try ended
	reading budget.Hold      // from mayRead to weigh
}

// Robots is what became of a host's robots.txt.
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

// Leads yields the URLs that the outcome may add to the frontier.
func (out *Outcome) Leads(yield func(weburl.URL) bool) bool {
	lists := [][]frontier.URL{out.Links, nil}
	if out.Robots != nil {
		lists[1] = out.Robots.Sitemaps
	}
	for _, list := range lists {
		for i := range list {
			if !yield(list[i].URL) {
				return false
			}
		}
	}
	return out.Target == nil || yield(out.Target.URL)
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

// Try returns how the try ended.
func (out *Outcome) Try(now time.Time) frontier.Try {
	try := out.retried
	if r := out.Record; r != nil {
		try = frontier.Try{Status: r.Status, Kind: r.ErrorKind, Reason: cmp.Or(r.Error, r.Redirect, out.unfollowed())}
	}
	try.At, try.Reason = now, frontier.Brief(try.Reason)
	return try
}

// unfollowed says which page this one duplicates, and why its links are not followed although
// they would be elsewhere.
func (out *Outcome) unfollowed() string {
	var words []string
	if d := out.Record.DuplicateWords(); d != "" {
		words = append(words, d)
	}
	for _, d := range out.Dropped {
		switch d.Reason {
		case scope.ReasonNoFollow:
			words = append(words, "its links are not followed, as it says nofollow")
		case scope.ReasonTooMany:
			words = append(words, "its last links are not followed, as they are too many")
		case scope.ReasonBroken:
			words = append(words, "it is broken, so that not all URLs in it could be read")
		}
	}
	return strings.Join(words, "; ")
}
