package frontier

import (
	"fmt"
	"math"
	"strings"

	"github.com/weftcrawl/weft/weburl"
)

// origin is what is known of an origin, and its pending URLs.
type origin struct {
	host     *host
	name     string   // its origin; empty: see isRobotsRedirects
	queue    urlQueue // pending, never leased
	retry    *retries
	backlog  *backlog // pending, and only in the store; nil: none
	robots   robotsTxt
	trouble  *trouble
	step     *step // nil: without Config.Levels
	index    int32 // among the origins of its host that are due; -1: not there
	leased   int32 // with robots.txt
	pending  int32 // in queue, retry and backlog
	answered int32 // URLs that were tried
	tried    int32 // of these, neither done nor refused
	capped   bool  // it has had LimitPerHost
	seed     bool  // a seed is on it, and it has not answered from a public address
	dirty    bool  // changed since NoteOrigins
	starved  bool  // it waits for room in the robots.txt cache

	responded bool // ever
	doubtful  bool // it has never responded, or not to its last lease
	inDoubts  bool // index is that in origins.doubts
}

// origin returns the origin of a URL, which it makes if it is new.
func (f *Frontier) origin(u weburl.URL) *origin {
	name := u.Origin()
	if o := f.residency.origin(name); o != nil {
		return o
	}
	if !f.residency.lookedUp(Hostname(name)) {
		panic(fmt.Sprintf("frontier: origin %s may be evicted, and was not given to Prepare", name))
	}
	o := f.newOrigin(name, u.IsHTTP())
	f.journal.originChanged(o) // it is recorded even if its first URL is dropped
	return o
}

// newOrigin makes an origin that is not known.
func (f *Frontier) newOrigin(name string, http bool) *origin {
	hostname := Hostname(name)
	h := f.residency.names.Find(hostname)
	var o *origin
	if h == nil {
		h = f.newHost(hostname, name)
		o = &h.own
	} else {
		o = new(origin)
	}
	*o = origin{host: h, name: name, index: -1, doubtful: true}
	if f.cfg.Robots && http {
		o.robots.phase = unknown
	}
	f.stepIn(o)
	f.residency.added(o)
	if o != &h.own {
		f.originsOf(h).known[name] = o
	}
	return o
}

// addSeed takes in that a seed is on the origin of u.
func (f *Frontier) addSeed(u weburl.URL) {
	if o := f.origin(u); !o.seed {
		o.seed = true
		f.journal.originChanged(o)
	}
}

// isResolving reports whether the address of the host is leased, as that of o.
func (o *origin) isResolving() bool { return o.host.resolve == addressAsked && o == &o.host.own }

// seeded reports whether a seed is on o, or on its counterpart: the origin that differs only by
// being http or https, each on its default port, as where one redirects to the other.
func (o *origin) seeded() bool {
	if o.seed || o.host.origins == nil {
		return o.seed
	}
	scheme, authority, _ := strings.Cut(o.name, "://")
	counterpart := map[string]string{"http": "https://", "https": "http://"}[scheme]
	other := o.host.origins.known[counterpart+authority]
	return other != nil && other.seed
}

// take removes the URL of o that is due: a retry whose time has come before URLs that were never
// leased.
func (f *Frontier) take(o *origin, u *URL) (again bool) {
	if o.retries(f.clock.now) {
		f.takeRetry(o, u)
		return true
	}
	pop(&o.queue, u)
	return false
}

// takeRetry removes the first retry of o, which has one.
func (f *Frontier) takeRetry(o *origin, u *URL) {
	w := o.retry.Pop()
	*u = w.url
	o.retry.bytes -= w.cost()
	f.residency.bytes -= w.cost()
	if o.retry.Len() == 0 {
		o.retry = nil
	}
}

// again returns the retries of o, the first of them in front.
func (o *origin) again() []*waiting {
	if o.retry == nil {
		return nil
	}
	return o.retry.Items()
}

// retries reports whether a retry is due: any is if they are refused.
func (o *origin) retries(now moment) bool {
	return o.retry != nil && (o.retry.First().at <= now || o.deadAt(now))
}

// leastDepth returns that of the URLs of o that are in memory; known is false if none are.
func (o *origin) leastDepth() (depth int, known bool) {
	depth = math.MaxInt
	for c := range o.queue.Classes() {
		depth = min(depth, int(c.depth))
	}
	for _, w := range o.again() {
		depth = min(depth, w.url.Depth)
	}
	return depth, depth < math.MaxInt
}

// queued returns how many URLs are in the queue of o.
func (o *origin) queued() int {
	n := int(o.pending) - len(o.again())
	if o.backlog != nil {
		n -= o.backlog.n
	}
	return n
}

// triedOnce counts a try that has ended, of a URL with so many tries before. More is 1 if there is
// to be another, else -1.
func (o *origin) triedOnce(tries int, more int32) {
	if tries == 0 {
		o.answered++
	}
	if (tries > 0) != (more > 0) {
		o.tried += more
	}
}

// refusing reports whether everything leased of o at a time would be refused.
func (o *origin) refusing(at moment) bool { return o.robots.refuses(at) || o.deadAt(at) }
