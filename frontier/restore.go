package frontier

import (
	"time"

	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// Tell makes the frontier tell l of each change from now on; nil: nobody.
func (f *Frontier) Tell(l Ledger) {}

// NoteHosts tells the ledger the state of each host that has changed since the last
// call, and the counts. With what was told before, that is a state to begin from again.
func (f *Frontier) NoteHosts() {}

// RefuseBy makes the frontier ask fn about each URL whose turn comes, before its host's
// robots.txt: the URL is refused if kind is not empty.
func (f *Frontier) RefuseBy(fn func(weburl.URL) (kind, reason string)) {}

// Grow makes room for a number of URLs to be seen.
func (f *Frontier) Grow(urls int) {}

// RestoreStats sets Done, Refused, OverLimit and Duplicates. It and its like bring a
// new frontier to the state that a ledger was told of, before anything else is done.
func (f *Frontier) RestoreStats(s Stats) {}

// RestoreSeen says that a URL with this fingerprint was seen.
func (f *Frontier) RestoreSeen(fingerprint [16]byte) {}

// RestoreHost says what is known of a host. Its pending URLs are in the ledger: see
// Wants. Whatever was under way when the process ended, it waits its full delay from now.
func (f *Frontier) RestoreHost(now time.Time, s HostState, r robots.Rules) {}

// RestoreRedirected says what Ledger.Redirected was last told of a URL.
func (f *Frontier) RestoreRedirected(fingerprint [16]byte, fewest int, target *URL) {}

// RestoreSeq sets the Seq of the next new URL: larger than any that was told.
func (f *Frontier) RestoreSeq(next uint64) {}

// Wants returns the hosts whose turn has come, or will soon, and which have too few
// URLs in memory. Each is to be answered by one Refill, with what is read from the ledger
// after all that it was told before this call.
func (f *Frontier) Wants() []Want { return nil }

// Refill answers a Want: urls are the first of the host's pending URLs after its place
// in order, at most N; more says whether there are others behind.
func (f *Frontier) Refill(now time.Time, host string, urls []URL, more bool) {}
