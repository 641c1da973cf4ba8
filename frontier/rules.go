package frontier

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

const (
	// MaxCrawlDelay is the longest Crawl-delay that is obeyed: 24 pages a day. A host
	// that asks for more is not crawled at all; its URLs are refused like those that it
	// disallows, and the reason says why.
	//
	// What others do: Yandex has read no Crawl-delay since 2018. Heritrix takes what is
	// over 5 minutes for 5 minutes, and so asks more often than it was told it may. Nutch
	// gives a host up beyond 30 s, crawler-commons beyond 5 minutes. Weft never asks more
	// often than it may, so that a bound can only mean to give up; and as a crawl ends when
	// nothing is pending, there has to be one: at a page a day, a site of 1,000 pages would
	// hold the crawl for three years. An hour is beyond what a site writes that wants a
	// slow crawler, such as 10 minutes, and short of what is a way to say no, such as a day.
	MaxCrawlDelay = time.Hour

	// shutFor is how long the URLs of a host whose robots.txt cannot be had are refused
	// without asking for it again.
	shutFor = time.Hour

	// maxReason is how many bytes of a text from the Web a reason has: a line of
	// robots.txt can have half a million.
	maxReason = 200
)

// phase is where a host's robots.txt stands.
type phase uint8

const (
	off       phase = iota // it is not asked for: everything is allowed
	unknown                // to be asked for, at until or later: the host's URLs wait
	asked                  // leased: the host's URLs wait
	elsewhere              // an errand, waiting or leased: the same
	known                  // to be asked for again at until: the rules are old, or are older and that failed
	shut                   // not to be had: URLs are refused up to until, then it is asked for again
)

// rules is the robots.txt of a host: RFC 9309. Most hosts have none, or one that says
// nothing to this crawler: they keep no said.
type rules struct {
	said  *said // nil: no rules, and no why
	until moment
	phase phase
	have  bool  // rules are the host's, be they old
	tries uint8 // in a row that failed
}

// failure is why nothing of a host is leased.
type failure struct{ kind, reason string }

// why is why there is none, of shut.
func (r *rules) why() failure {
	if r.said == nil {
		return failure{}
	}
	return r.said.why
}

// delay is the Crawl-delay; 0 of a host that asks for too long a one, all of whose
// URLs are refused.
func (r *rules) delay() time.Duration {
	if r.said == nil || r.said.delay > MaxCrawlDelay {
		return 0
	}
	return r.said.delay
}

// wanted reports whether robots.txt is to be asked for before a URL is leased.
func (r *rules) wanted(now moment) bool {
	return r.phase != off && !r.waits() && (r.phase == unknown || r.until <= now || r.dropped())
}

// dropped reports whether there are rules that are not in memory any more.
func (r *rules) dropped() bool { return r.said != nil && r.said.dropped }

// ask returns the URL that is leased.
func (r *rules) ask(origin string) weburl.URL {
	u, err := weburl.Parse(origin + "/robots.txt")
	if err != nil {
		panic(fmt.Sprintf("frontier: robots.txt of %s: %v", origin, err)) // an origin is a URL
	}
	r.lacks()
	r.phase = asked
	return u
}

// lacks reports whether there are no rules to go by. From then on those that were dropped are none.
func (r *rules) lacks() bool {
	r.have = r.have && !r.dropped()
	return !r.have
}

// waits reports whether the host's URLs wait for an answer.
func (r *rules) waits() bool { return r.phase == asked || r.phase == elsewhere }

// refuses reports whether all of the host's URLs are refused at a time.
func (r *rules) refuses(at moment) bool { return r.phase == shut && at < r.until }

// notBefore is the time before which no URL is leased, nor robots.txt.
func (r *rules) notBefore() moment {
	if r.phase != unknown {
		return 0
	}
	return r.until
}

// refuse returns why a target is refused; kind is empty if it is not.
func (r *rules) refuse(target string) (kind, reason string) {
	if r.phase == shut {
		why := r.why()
		return why.kind, why.reason
	}
	if r.said == nil {
		return "", ""
	}
	v := r.said.rules.Test(target)
	if v.Allowed {
		if delay := r.said.delay; delay > MaxCrawlDelay {
			return "robots", fmt.Sprintf("Crawl-delay of %v, the longest that is obeyed is %v", delay, MaxCrawlDelay)
		}
		return "", ""
	}
	return "robots", fmt.Sprintf("line %d: %s", v.Line, Brief(v.Rule))
}

// Brief is a text from the Web, cut to what is kept of one as a reason.
func Brief(text string) string {
	if len(text) <= maxReason {
		return text
	}
	return strings.ToValidUTF8(text[:maxReason], "") + "…"
}

// set takes in an answer.
func (r *rules) set(answer *said, now moment) {
	*r = rules{said: answer, have: true, phase: known, until: now + robots.CacheFor}
}

// fail takes in that there was no answer. Old rules hold as long as there are no new ones:
// RFC 9309, section 2.4.
func (r *rules) fail(why failure, now moment, final bool, tries int) {
	r.tries += min(1, math.MaxUint8-r.tries)
	r.until = now + pause(r.tries)
	switch {
	case r.have:
		r.phase = known
	case !final && int(r.tries) < tries:
		r.phase = unknown
	default:
		r.phase, r.said, r.tries, r.until = shut, &said{why: why}, 0, now+shutFor
	}
}

// postpone takes in that it was not asked for.
func (r *rules) postpone(until moment) {
	r.phase, r.until = unknown, until
	if r.have {
		r.phase = known
	}
}
