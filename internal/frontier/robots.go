package frontier

import (
	"container/list"
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// failure is the reason for which nothing of an origin is leased.
type failure struct{ kind, reason string }

const (
	// MaxCrawlDelay is the longest Crawl-delay that is obeyed: 24 pages a day. A site that asks for
	// more is not crawled at all; its URLs are refused as if disallowed, and the reason says why.
	//
	// What others do: Yandex has ignored Crawl-delay since 2018. Heritrix caps it at 5 minutes, and
	// so requests more often than it may. Nutch gives a host up beyond 30 s, crawler-commons beyond
	// 5 minutes. Weft never requests more often than it may, so a bound can only mean to give up;
	// and since a crawl ends when nothing is pending, there has to be one: at a page a day, a site
	// of 1,000 pages would hold the crawl for three years. An hour is more than what a site writes
	// that wants a slow crawler, such as 10 minutes, and less than a way to say no, such as a day.
	MaxCrawlDelay = time.Hour

	// shutFor is the time for which the URLs of an origin without an obtainable robots.txt are refused
	// without another try.
	shutFor = time.Hour

	// maxReason is the number of bytes of a text from the Web that a reason has: a line of robots.txt
	// can have half a million.
	maxReason = 200
)

// phase is the state of an origin's robots.txt.
type phase uint8

const (
	off       phase = iota // not needed: everything is allowed
	unknown                // to be leased, at until or later: the origin's URLs wait
	asked                  // leased: the origin's URLs wait
	elsewhere              // redirected, and waiting or leased there: the origin's URLs wait
	known                  // to be leased again at until; the rules are old if that failed
	shut                   // cannot be had: URLs are refused up to until, then it is leased again
)

// robotsTxt is the robots.txt of an origin: RFC 9309. Most origins have none, or one that says
// nothing to this crawler: they keep no rules.
type robotsTxt struct {
	rules *cachedRules // nil: no rules, and no reason for that
	until moment
	phase phase
	have  bool  // there are rules, possibly old ones
	tries uint8 // in a row that failed
}

// why returns why there are no rules, when shut.
func (r *robotsTxt) why() failure {
	if r.rules == nil {
		return failure{}
	}
	return r.rules.why
}

// delay returns the Crawl-delay; 0 if that is too long, when all of the origin's URLs are refused.
func (r *robotsTxt) delay() time.Duration {
	if r.rules == nil || r.rules.delay > MaxCrawlDelay {
		return 0
	}
	return r.rules.delay
}

// wanted reports whether robots.txt is to be leased before a URL.
func (r *robotsTxt) wanted(now moment) bool {
	return r.phase != off && !r.waits() && (r.phase == unknown || r.until <= now || r.dropped())
}

// dropped reports whether the rules are not in memory any more.
func (r *robotsTxt) dropped() bool { return r.rules != nil && r.rules.dropped }

// ask returns the URL to lease.
func (r *robotsTxt) ask(origin string) weburl.URL {
	u, err := weburl.Parse(origin + "/robots.txt")
	if err != nil {
		panic(fmt.Sprintf("frontier: robots.txt of %s: %v", origin, err)) // an origin is a URL
	}
	r.lacks()
	r.phase = asked
	return u
}

// lacks reports whether there are no rules to go by. From then on dropped ones count as none.
func (r *robotsTxt) lacks() bool {
	r.have = r.have && !r.dropped()
	return !r.have
}

// waits reports whether the origin's URLs wait for a response.
func (r *robotsTxt) waits() bool { return r.phase == asked || r.phase == elsewhere }

// chance returns when a URL that is due at a time, or robots.txt before it, may be leased; ok is
// false if the origin's URLs wait for a response. Refused: it takes no request.
func (r *robotsTxt) chance(at moment) (when moment, refused, ok bool) {
	switch {
	case r.phase == shut && at < r.until:
		return at, true, true
	case r.waits():
		return 0, false, false
	}
	return max(at, r.notBefore()), false, true
}

// notBefore returns the time before which neither a URL nor robots.txt is leased.
func (r *robotsTxt) notBefore() moment {
	if r.phase != unknown {
		return 0
	}
	return r.until
}

// refuse returns why a request target is refused; kind is empty if it is not.
func (r *robotsTxt) refuse(target string) (kind, reason string) {
	if r.phase == shut {
		why := r.why()
		return why.kind, why.reason
	}
	if r.rules == nil {
		return "", ""
	}
	v := r.rules.rules.Test(target)
	if v.Allowed {
		if delay := r.rules.delay; delay > MaxCrawlDelay {
			const format = "Crawl-delay of %v, the longest that is obeyed is %v"
			return "robots", fmt.Sprintf(format, delay, MaxCrawlDelay)
		}
		return "", ""
	}
	if v.Undecided() {
		return "robots", robots.TooMany
	}
	return "robots", fmt.Sprintf("line %d: %s", v.Line, Brief(v.Rule))
}

// Brief cuts a text from the Web to the length of a reason.
func Brief(text string) string {
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason], "") + "…"
}

// set takes in new rules.
func (r *robotsTxt) set(now moment, answer *cachedRules) {
	*r = robotsTxt{rules: answer, have: true, phase: known, until: now + robots.CacheFor}
}

// fail takes in a failed try. Old rules apply as long as there are no new ones: RFC 9309, section
// 2.4.
func (r *robotsTxt) fail(now moment, why failure, final bool, tries int) {
	r.tries += min(1, math.MaxUint8-r.tries)
	r.until = now + pause(r.tries)
	switch {
	case r.have:
		r.phase = known
	case !final && int(r.tries) < tries:
		r.phase = unknown
		r.rules = &cachedRules{why: why, delay: r.keptDelay()}
	default:
		r.phase, r.rules, r.tries, r.until = shut, &cachedRules{why: why}, 0, now+shutFor
	}
}

// keptDelay returns the Crawl-delay of rules that were dropped, or that could not be renewed.
func (r *robotsTxt) keptDelay() time.Duration {
	if r.rules == nil {
		return 0
	}
	return r.rules.delay
}

// retryAt returns when robots.txt is requested again after it failed, if the host waits for that.
func (r *robotsTxt) retryAt() (at moment, waits bool) {
	return r.until, r.phase == unknown && r.tries > 0
}

// probe has robots.txt leased before any page, to learn whether it is the server that hangs, or
// some of its pages; even where nobody cares what it says.
func (r *robotsTxt) probe(now moment) {
	switch r.phase {
	case known:
		r.until = now
	case off:
		r.phase, r.until = unknown, now
	}
}

// postpone takes in that it was not requested after all.
func (r *robotsTxt) postpone(until moment) {
	r.phase, r.until = unknown, until
	if r.have {
		r.phase = known
	}
}

// state returns the part of the robots.txt that outlives the process.
func (r *robotsTxt) state(now moment, e *epoch) RobotsState {
	s := RobotsState{Have: r.have, Shut: r.phase == shut, Tries: int(r.tries)}
	if r.until > now {
		s.Until = e.time(r.until)
	}
	if !r.have && !r.dropped() {
		why := r.why()
		s.Kind, s.Reason = why.kind, why.reason
	}
	return s
}

// restore brings the robots.txt of a new origin to what it was, apart from until.
func (r *robotsTxt) restore(s RobotsState, answer *cachedRules) {
	r.rules, r.have, r.tries = answer, s.Have, uint8(s.Tries)
	switch {
	case s.Shut:
		r.phase, r.rules = shut, &cachedRules{why: failure{s.Kind, s.Reason}}
	case s.Have:
		r.phase = known
	case s.Reason != "":
		r.rules = &cachedRules{why: failure{s.Kind, s.Reason}}
	}
}

// cachedRules are the rules of a robots.txt, or why there are none. Origins with the same rules
// share one.
type cachedRules struct {
	rules   robots.Rules
	delay   time.Duration // the Crawl-delay: it is kept when the rules are dropped
	why     failure       // the reason why there are none
	dropped bool          // the rules made room for others; fetch them again

	key   [sha256.Size]byte
	size  int           // in memory
	place *list.Element // in used or unused
	until moment        // not used yet: not dropped before; never: used
}

// rulesChanged takes in that the robots.txt of o has changed, whose Crawl-delay was before.
func (h *host) rulesChanged(o *origin, before time.Duration) {
	all := h.origins
	switch delay := o.robots.delay(); {
	case all == nil:
	case delay >= all.delay:
		all.delay = delay
	case before == all.delay: // once a day, if at all
		all.delay = 0
		for _, other := range all.known {
			all.delay = max(all.delay, other.robots.delay())
		}
	}
}
