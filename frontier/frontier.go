package frontier

import (
	"fmt"
	"hash/maphash"
	"math"
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/frontier/names"
	"github.com/weftcrawl/weft/frontier/seen"
	"github.com/weftcrawl/weft/frontier/variants"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// Config is the politeness of a frontier, and its limits. The zero value asks for no
// robots.txt, has no delay and no limit, and follows the servers' pace.
type Config struct {
	// Delay is the time between the end of a response and the host's next request;
	// 0: none. A Crawl-delay raises it for its host.
	Delay time.Duration

	// DomainDelay and AddressDelay are the same between the end of a response and the next
	// request to any host of its registrable domain, or of its address. 0: Delay; negative:
	// none.
	DomainDelay, AddressDelay time.Duration

	// PerHost is how many leases a host may have at once. 0: one where there is a
	// delay, any number on loopback addresses, else as many as the server bears
	// without getting slower.
	PerHost int

	// PerDomain and PerAddress are the same of all hosts of a registrable domain, or of an
	// address. One of a single host bears what that bears.
	PerDomain, PerAddress int

	Resolve bool // the address of a name is asked for before anything else of it

	RateLimit float64 // leases a second of all hosts together, evenly spaced; 0: any number

	MaxRedirects int // followed one after the other; 0: none

	Robots      bool // the robots.txt of a host comes before its first URL
	RobotsTries int  // to get it, before the URLs of the host are refused; 0: one

	Limit        int // URLs leased; 0: any number. Neither robots.txt nor tries again count
	LimitPerHost int // the same, of each host

	// MaxVariants is how many URLs of a path that differ only behind its first ';' or '?' are
	// taken, those of seeds not counted; 0: any number. What is beyond is dropped. It may be
	// less, where paths share a count by chance: see variants.
	MaxVariants int
	// SeenBytes is how much memory the fingerprints of the URLs seen may take. When that is full at
	// 6 bytes a URL, some are in the ledger only: see Doubts. 0: any amount, 10 bytes a URL. More than 0 asks for a ledger.
	SeenBytes int

	// HostBytes is about how much memory hosts may take. Beyond, those leave it of which nothing
	// is left to do, and then those of which all that is pending is in the ledger. It is asked for them when
	// a URL of theirs comes, or their turn: see Doubts and Rouse. 0: any amount, 300 bytes each and what its
	// robots.txt says. More than 0 asks for a ledger.
	HostBytes int

	// Heads is how many URLs of a host that were never leased are kept in memory; up to
	// twice as many for a while. The others are in the ledger until they are wanted: see
	// Wants. 0: all. More than 0 asks for a ledger.
	Heads int

	// InMemory is how many bytes these may take of all hosts together, with their share of
	// what is around them. Beyond, a host keeps few of those that come, or none, and when its
	// turn comes the ledger is read for what can be leased then. 0: any number. More than 0
	// asks for Heads.
	InMemory int

	// RulesBytes is how many bytes the rules of robots.txt may take in memory. Beyond, those that were
	// used least lately are dropped, and asked for again when they are needed. 0: any number.
	RulesBytes int
}

// URL is a canonical URL and what it takes to fetch it.
type URL struct {
	URL       weburl.URL  // canonical
	From      string      // the page it was found on; empty for a seed
	Depth     int         // links from a seed; a redirect keeps it
	Hops      int         // redirects that led here from a link or seed
	Tries     int         // made so far
	Priority  int8        // a host's URLs of higher priority come first, then those of less depth
	Rank      int8        // of the same priority and depth those of higher rank come first; the frontier keeps it for who added the URL
	Kept      bool        // it comes before all of its host that are not kept, so no limit drops it for one of these
	Seed      bool        // of a lease: a seed is on its host, by http or https, which has not answered from a public address
	Robots    bool        // of a lease: this is the host's robots.txt, asked for its rules; Depth is then the least of the URLs that wait for it
	At        *weburl.URL // of a lease of robots.txt: where Hops redirects say that it is; nil: at URL
	Resolve   bool        // of a lease: the address of the URL's host is asked for, by Resolved; no request is sent
	Pinned    bool        // of a lease: Addr is to be asked, be it that names lead elsewhere by now: see pinFor
	Addr      netip.Addr  // of a lease: where its server is taken to be; invalid: unknown
	Seq       uint64      // set by Add: no two URLs of a crawl have the same, and a later one has a larger
	NotBefore time.Time   // of a URL that is to be tried again: set by Retry; zero: at any time
	Past      []Try       // how its tries ended. Who answers a lease appends to it
	Known     *Visit      // of its last visit; nil: none. Who answers a lease sets what the next is to know
}

// Answer is what a lease has taught about its host. The zero Answer is nothing.
type Answer struct {
	Took       time.Duration // from the request sent to the first byte of the answer; 0: unknown
	Addr       netip.Addr    // the server's; invalid: unknown
	Public     bool          // the host has a public address, and counts as a seed's no more: see URL.Seed
	Overload   bool          // the server has said that it is asked too much: 429 or 503
	RetryAfter time.Duration // until it wants to be asked again; 0: it has not said

	// Failure is the kind of error if the server has not answered at all, and Reason the
	// error; both empty: it has, or this is not known. Silent: it has taken the request. See
	// maxFails.
	Failure, Reason string
	Silent          bool
}

func (a *Answer) loopback() bool { return a.Addr.Unmap().IsLoopback() }

// Stats are counts of URLs by state, and what Add has refused. A URL that was added
// and was no duplicate is in one of Pending, Leased, Done, Refused, OverLimit and OverVariants. A
// robots.txt that is asked for is in Leased, and in no other.
type Stats struct {
	Pending, Leased, Done int
	Refused               int // by robots.txt, or for want of it
	OverLimit             int // dropped because their host had LimitPerHost
	OverVariants          int // dropped because their path had MaxVariants
	Hosts                 int
	Duplicates            int  // URLs given to Add that had been seen
	LimitReached          bool // Limit URLs were leased, and others are pending
}

// Frontier holds the URLs of a crawl.
//
// Invariants: every URL in seen is in exactly one state. A server has a turn (see seat) if
// and only if time alone will let it have another lease, refusal or Want, as far as that
// depends on it; but a turn for what Limit ends stays until it comes: see nextTurn. No turn is set to
// a time before now: a server whose delay is long over, or that is new, comes after those that are
// due already.
type Frontier struct {
	cfg       Config
	epoch     time.Time // told first
	told      bool
	now       moment // told last
	last      moment // any host may have answered; never: each is known
	seen      *seen.Set
	doubts    doubts
	leased    map[weburl.URL]*host // without robots.txt
	names     *names.Index[server] // the servers
	hosts     int                  // that are in memory
	hops      map[[16]byte]*hops   // by fingerprint, of URLs that redirects led to and no link: not fetched yet, or redirected themselves
	middles   [][16]byte           // of those that redirected themselves, in turn: see maxMiddles
	middle    int                  // the oldest of them, if there are so many
	ready     seats                // by the time at which the server may next be asked: see seat
	groups    groupHeap            // by the time at which the first that waits for the group may be
	addresses map[netip.Addr]*group
	domains   map[string]*group // of several servers
	idle      idle
	dormant   dormant
	rulebook  rulebook            // of all hosts
	starved   []*host             // that wait for room in it, as they came
	shut      map[*server]failure // of servers that are dead
	order     uint64              // of getting into a heap: what is due at once takes turns
	refused   []Refusal           // not collected
	free      moment              // RateLimit allows nothing before
	first     int                 // URLs leased for the first time
	fresh     int                 // of those pending, never leased
	held      int                 // what those in queues cost, in bytes
	backlogs  int                 // hosts that have one
	seq       uint64              // of the last URL added
	refuse    func(weburl.URL) (kind, reason string)
	stats     Stats

	variants variants.Counter

	ledger  Ledger
	dirty   []*host         // changed since NoteHosts
	away    map[*host][]URL // leased: of hosts that may get to LimitPerHost, with a ledger
	wanted  []*host         // for Wants
	wanting int             // hosts whose refill is wanted or under way
}

// moment is a time: what has passed since the frontier was first told one. It takes
// a third of a time.Time, of which every host has several.
type moment = time.Duration

// hops is kept for a URL that was first reached over redirects, until a link leads to it,
// or it ends without a redirect of its own.
type hops struct {
	fewest int  // of all ways to it that were found
	target *URL // of its own redirect, once it has answered with one
}

// maxMiddles is how many hops with a target are kept: the middles of chains of redirects, of which a web
// may have a million. What is forgotten of one is that a shorter way to it may turn up.
const maxMiddles = 16_384

// redirected sets the target of h.
func (f *Frontier) redirected(fp [16]byte, h *hops, target *URL) {
	if h.target == nil {
		if len(f.middles) < maxMiddles {
			f.middles = append(f.middles, fp)
		} else {
			oldest := &f.middles[f.middle]
			if m := f.hops[*oldest]; m != nil && m.target != nil {
				f.dropHops(*oldest)
			}
			*oldest = fp
			f.middle = (f.middle + 1) % maxMiddles
		}
	}
	h.target = target
}

// New returns an empty frontier.
func New(cfg Config) *Frontier {
	return &Frontier{
		cfg:       cfg,
		last:      never,
		seen:      seen.New(cfg.SeenBytes),
		leased:    make(map[weburl.URL]*host),
		names:     names.New((*server).name),
		addresses: make(map[netip.Addr]*group),
		domains:   make(map[string]*group),
		idle:      idle{gone: seen.New(max(1, cfg.HostBytes/8)), seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, sweep: maxVain, waits: never},
		rulebook:  rulebook{share: cfg.RulesBytes},
		shut:      make(map[*server]failure),
		hops:      make(map[[16]byte]*hops),
		away:      make(map[*host][]URL),
	}
}

// Stats returns the counts.
func (f *Frontier) Stats() Stats {
	s := f.stats
	s.Hosts = f.hosts + f.idle.left
	s.LimitReached = f.Limited() && f.fresh > 0
	return s
}

// Over reports whether nothing is pending, nothing leased, every refusal collected and
// every Want and Rouse answered.
func (f *Frontier) Over() bool { return f.stats.Pending == 0 && f.stopped() }

// Stopped reports whether nothing is leased nor ever will be: the crawl is over, or
// all that is pending are URLs beyond Limit.
func (f *Frontier) Stopped() bool {
	return f.Over() || f.Limited() && f.stats.Pending == f.fresh && f.stopped()
}

func (f *Frontier) stopped() bool {
	return f.stats.Leased == 0 && len(f.refused) == 0 && f.wanting == 0 && !f.dormant.asked
}

// Limited reports whether Limit URLs were leased: no other will be.
func (f *Frontier) Limited() bool { return f.cfg.Limit > 0 && f.first >= f.cfg.Limit }

// Add makes a URL pending unless it was seen before, its host has had LimitPerHost or, of
// one that is no seed, its path MaxVariants; and reports whether it did. With SeenBytes it is
// one that Doubts was last asked about, and with HostBytes too.
func (f *Frontier) Add(u URL) bool {
	if u.From == "" {
		f.seedHost(u.URL)
	}
	fp := u.URL.Fingerprint()
	if !f.meet(fp) {
		f.stats.Duplicates++
		if h := f.hops[fp]; h != nil && u.Hops < h.fewest {
			h.fewest = u.Hops
			if h.fewest == 0 { // as of what a link led to first
				f.dropHops(fp)
			} else {
				f.noteRedirected(fp, h)
			}
			f.follow(h)
		}
		return false
	}
	f.seq++
	u.Seq = f.seq
	u.Tries, u.NotBefore, u.Past = 0, time.Time{}, nil
	if u.Hops > 0 {
		h := &hops{fewest: u.Hops}
		f.hops[fp] = h
		f.noteRedirected(fp, h)
	}
	h := f.host(u.URL)
	if f.full(h) {
		f.stats.OverLimit++
		f.drop(fp, u, DropHost)
		return false
	}
	if u.From != "" && f.tooMany(u.URL) {
		f.stats.OverVariants++
		f.drop(fp, u, DropVariants)
		return false
	}
	if f.ledger != nil {
		f.ledger.Pending(u)
	}
	f.push(h, &u)
	f.place(h)
	return true
}

// drop tells the ledger that a new URL, by its fingerprint, is seen, and no more.
func (f *Frontier) drop(fp [16]byte, u URL, why Drop) {
	if f.ledger != nil {
		f.ledger.Dropped(u, why)
	}
	if u.Hops > 0 {
		f.dropHops(fp)
	}
}

// Redirect says that u, which is leased, was answered by a redirect. The target is
// added like any link, so two ways to one target meet; unless MaxRedirects led to u
// one after the other. Then Redirect returns false, and the target waits for a
// shorter way to u to turn up: what a crawl finds does not depend on the order in
// which answers come.
func (f *Frontier) Redirect(u, target URL) bool {
	fp := u.URL.Fingerprint()
	h := f.hops[fp]
	if h == nil { // a link or seed: there is no shorter way
		return f.follow(&hops{target: &target})
	}
	f.redirected(fp, h, &target)
	f.noteRedirected(fp, h)
	return f.follow(h)
}

// follow adds the target of a URL that has redirected, if that is near enough.
func (f *Frontier) follow(h *hops) bool {
	if h.target == nil || h.fewest >= f.cfg.MaxRedirects {
		return false
	}
	target := *h.target
	target.Hops = h.fewest + 1
	f.Add(target)
	return true
}

// forgetHops drops what is kept of a URL that is not fetched again, unless its own
// redirect may get nearer.
func (f *Frontier) forgetHops(u *URL) {
	if u.Hops == 0 {
		return
	}
	fp := u.URL.Fingerprint()
	if h := f.hops[fp]; h != nil && h.target == nil {
		f.dropHops(fp)
	}
}

// dropHops drops what is kept of a URL that redirects led to.
func (f *Frontier) dropHops(fp [16]byte) {
	delete(f.hops, fp)
	if f.ledger != nil {
		f.ledger.Redirected(fp, 0, nil)
	}
}

// Next returns the earliest time at which Lease will have something, a lease or a
// refusal, or Wants or Rouse will, if no URL is added, answered or refilled before, and no host
// roused; ok is false if there is no such time. Beyond Limit it may be told too early.
func (f *Frontier) Next() (at time.Time, ok bool) {
	s, due := f.nextTurn()
	if ok = s != nil && !f.stuck(s); ok {
		due = max(due, f.free)
	}
	if d := &f.dormant; (d.need > f.wanting || s == nil && f.wanting == 0) && f.mayRouse() && (!ok || max(d.again, f.free) < due) {
		due, ok = max(d.again, f.free), true
	}
	if !ok {
		return time.Time{}, false
	}
	return f.time(due), true
}

// Done answers a lease: the URL is finished.
func (f *Frontier) Done(now time.Time, u URL, a Answer) {
	h := f.answer(now, &u, a)
	f.stats.Done++
	f.forgetHops(&u)
	h.try(u.Tries, -1)
	if f.ledger != nil {
		f.ledger.Done(u)
	}
}

// Retry answers a lease: the URL is pending again, not before at. It counts as a try.
func (f *Frontier) Retry(now time.Time, u URL, a Answer, at time.Time) {
	h := f.answer(now, &u, a)
	was := u.Place()
	h.try(u.Tries, 1)
	u.Tries++
	u.NotBefore = at
	if f.ledger != nil {
		f.ledger.Retried(u, was)
	}
	f.wait(h, u, at)
}

// Postpone is Retry that counts as no try: what stood in the way was not the host's.
// It answers a lease of robots.txt too.
func (f *Frontier) Postpone(now time.Time, u URL, at time.Time) {
	if u.Robots {
		h, asked := f.answerRobots(now, u, Answer{})
		if u.At != nil {
			f.send(asked, u, at)
			return
		}
		h.robots.postpone(f.moment(at))
		f.place(h)
		return
	}
	f.wait(f.answer(now, &u, Answer{}), u, at)
}

// wait makes a URL pending that was leased before.
func (f *Frontier) wait(h *host, u URL, at time.Time) {
	f.queueAgain(h, u, at)
	h.pending++
	f.stats.Pending++
	f.place(h)
}

// queueAgain puts a URL among those that are not to be tried before a time.
func (f *Frontier) queueAgain(h *host, u URL, at time.Time) {
	f.order++
	if h.retry == nil {
		h.retry = new(retryHeap)
	}
	h.retry.Push(&waiting{u, f.moment(at), f.order})
}

// SetRobots answers a lease of robots.txt: these are the host's rules, for
// [robots.CacheFor].
func (f *Frontier) SetRobots(now time.Time, u URL, r robots.Rules, a Answer) {
	h, asked := f.answerRobots(now, u, a)
	f.revive(asked) // through a proxy nothing else tells
	before := h.robots.delay()
	if rules, ok := f.rulebook.add(r, f.now); ok {
		h.robots.set(rules, f.now)
	} else { // it has been asked, and is asked again when others have used theirs
		h.robots.postpone(f.now + noRoom)
	}
	h.newRules(h, before)
	if f.ledger != nil {
		f.ledger.Rules(h.name, r)
	}
	f.place(h)
}

// Resolved answers a lease of an address: the host has this one; an invalid one if none was
// found. Then the host is under no address until it answers from one. Postpone does not answer such a lease.
func (f *Frontier) Resolved(now time.Time, u URL, addr netip.Addr) {
	h := f.find(u.URL.Origin())
	if h == nil || !u.Resolve || h.resolve != addressAsked {
		panic(fmt.Sprintf("frontier: address of %s, which is not leased", u.URL))
	}
	f.tell(now)
	h.leased--
	f.stats.Leased--
	h.resolve = addressKnown
	if addr.IsValid() {
		f.moveTo(h.server, addr)
	}
	f.placeServer(h.server)
	f.rests(h.server)
}

// RobotsFailed answers a lease of robots.txt: the server has answered 5xx or none at
// all, and kind and reason say so. It is asked again after a pause that grows. Old
// rules hold meanwhile; without any, the host's URLs wait, and after RobotsTries, or
// if this is final, they are refused for this kind and reason: RFC 9309, section
// 2.3.1.4. New ones too, for an hour; then the host has another chance.
func (f *Frontier) RobotsFailed(now time.Time, u URL, a Answer, kind, reason string, final bool) {
	h, _ := f.answerRobots(now, u, a)
	h.robots.fail(failure{kind, reason}, f.now, final, f.cfg.RobotsTries)
	f.place(h)
}

func (f *Frontier) answer(now time.Time, u *URL, a Answer) *host {
	h := f.leased[u.URL]
	if h == nil || u.Robots {
		panic(fmt.Sprintf("frontier: answer for %s, which is not leased", u.URL))
	}
	delete(f.leased, u.URL)
	f.back(h, u.Seq)
	h.disk.gone(u.Seq)
	f.learn(h, now, a)
	return h
}

// answerRobots takes in the end of a lease of robots.txt. It returns whose that is, and the
// server that was asked.
func (f *Frontier) answerRobots(now time.Time, u URL, a Answer) (*host, *server) {
	h := f.find(u.URL.Origin())
	leased, phase := h, asked
	if u.At != nil {
		leased, phase = f.errands(&u), elsewhere
	}
	if h == nil || leased == nil || !u.Robots || h.robots.phase != phase || leased.leased == 0 {
		panic(fmt.Sprintf("frontier: rules from %s, which is not leased as robots.txt", u.URL))
	}
	f.rulebook.asked--
	f.rulebook.freed++
	a.Took = 0 // a small file says nothing about how long pages take
	f.learn(leased, now, a)
	if leased != h {
		leased.forgetErrands()
		f.note(h)
	}
	return h, leased.server
}

// learn takes in the end of a lease of h.
func (f *Frontier) learn(h *host, now time.Time, a Answer) {
	f.tell(now)
	h.leased--
	h.busy--
	f.stats.Leased--
	s := h.server
	as, overloaded := s.pace.learn(f.now, a)
	bound := uint8(max(maxPace, min(f.cfg.PerHost, math.MaxUint8)))
	for _, g := range []*group{s.domain(), s.address} {
		g.learn(f.now, s, a, as, overloaded, bound)
		f.placeGroup(g)
	}
	f.fail(s, a)
	s.asked, s.last = f.now, f.now
	if a.Addr.IsValid() && f.cfg.Resolve {
		f.moveTo(s, a.Addr)
	}
	h.seed = h.seed && !a.Public
	f.note(h)
	f.placeServer(s)
}

func (f *Frontier) tell(now time.Time) {
	if !f.told {
		f.epoch, f.told = now, true
	}
	f.now = max(f.now, f.moment(now))
}

func (f *Frontier) moment(t time.Time) moment { return t.Sub(f.epoch) }

func (f *Frontier) time(m moment) time.Time { return f.epoch.Add(m) }
