package frontier

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
	"unsafe"

	"github.com/weftcrawl/weft/frontier/names"
	"github.com/weftcrawl/weft/frontier/seen"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

const (
	// What hosts take in memory, in bytes, besides their names: with the tables that find them.
	costOfServer = int(unsafe.Sizeof(server{})) + 80
	costOfOrigin = int(unsafe.Sizeof(host{})) + 80
	costOfGroup  = int(unsafe.Sizeof(group{})) + 120

	// maxVain is how many servers are looked at in a row that may not be evicted yet.
	maxVain = 64

	// usualBatch is how many URLs a batch has for which the memory of the look-up is kept.
	usualBatch = 4096
)

// residency is which servers are in memory, or resident, and which were evicted. A server is idle
// when nothing of it is pending, leased or wanted. It leaves with all its hosts, and comes back
// with all of them: they share a pace and LimitPerHost. Servers with something pending: see
// dormant.
type residency struct {
	names   *names.Index[server] // resident servers
	hosts   int                  // resident
	bytes   int                  // that these take, without groups
	evicted int                  // hosts that are not resident, dormant ones included
	idle    evictionLine         // servers that had nothing left to do

	gone  *seen.Set           // names of evicted servers, by nameKey; beyond its limit, some
	seeds [2]maphash.Seed     // of nameKey
	asked map[string]struct{} // names of the last batch that were looked up if need be

	waits   moment // a delay counts from here at least if another process has evicted the server
	steered bool   // PerHost was changed
}

// residence is what residency knows of a server.
type residence struct {
	noted   uint32 // the last NoteHosts that recorded it
	idling  bool   // in the line residency.idle
	waiting bool   // in the line dormant.waiting
	owed    bool   // it came back for its turn, which it has not had
	evicted bool
}

func newResidency(hostBytes int) residency {
	return residency{
		names: names.New((*server).name), gone: seen.New(max(1, hostBytes/8)),
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, waits: never,
	}
}

// host returns the resident host with an origin; nil if there is none.
func (r *residency) host(origin string) *host {
	s := r.names.Find(Hostname(origin))
	switch {
	case s == nil:
		return nil
	case s.own.name == origin:
		return &s.own
	case s.origins == nil:
		return nil
	}
	return s.origins.known[origin]
}

// each yields every resident host, in no order.
func (r *residency) each(yield func(*host) bool) {
	for s := range r.names.All {
		for h := range s.each {
			if !yield(h) {
				return
			}
		}
	}
}

// all returns every resident host by name, so that a crawl on a virtual clock is the same every
// time.
func (r *residency) all() []*host {
	return slices.SortedFunc(r.each, func(a, b *host) int {
		return strings.Compare(a.name, b.name)
	})
}

// added takes in a host that is resident from now on.
func (r *residency) added(h *host) {
	r.hosts++
	r.bytes += costOfHost(h)
}

// removed updates the state after a server has left memory.
func (r *residency) removed(s *server) {
	name := s.name()
	delete(r.asked, name) // a later Add has not looked it up
	r.names.Remove(name, s)
	if domain := weburl.RegistrableDomain(name); domain != "" {
		r.names.Remove(domain, s)
	}
	for h := range s.each {
		r.bytes -= costOfHost(h)
		r.hosts--
		r.evicted++
	}
	r.gone.Add(r.nameKey(name))
}

// costOfHost returns what a host takes in memory, without its robots.txt.
func costOfHost(h *host) int {
	if h == &h.server.own {
		return costOfServer + len(h.name)
	}
	return costOfOrigin + len(h.name)
}

// nameKey returns a fingerprint of a name. The Web chooses the name, and cannot know the seeds.
func (r *residency) nameKey(name string) (key fingerprint) {
	for half, seed := range r.seeds {
		binary.BigEndian.PutUint64(key[8*half:], maphash.String(seed, name))
	}
	return key
}

// lookedUp reports whether the hosts of a name that were evicted, if any, are back.
func (r *residency) lookedUp(name string) bool {
	if r.evicted == 0 || r.names.Find(name) != nil {
		return true
	}
	_, asked := r.asked[name]
	return asked
}

// missing returns the names of a batch that may be of evicted servers.
func (r *residency) missing(hostnames func(yield func(string) bool)) []string {
	if r.asked == nil || len(r.asked) > usualBatch {
		r.asked = make(map[string]struct{})
	}
	clear(r.asked)
	var missing []string
	for name := range hostnames {
		if _, again := r.asked[name]; again {
			continue
		}
		r.asked[name] = struct{}{}
		if r.names.Find(name) == nil && r.mayBeEvicted(name) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing
}

func (r *residency) mayBeEvicted(name string) bool {
	found, final := r.gone.Has(r.nameKey(name))
	return found || !final
}

// storable reports whether the store finds an origin by the name of its server.
func storable(origin string) bool {
	return strings.HasPrefix(origin, "http://") || strings.HasPrefix(origin, "https://")
}

// isIdle reports whether nothing of s is left to do.
func (s *server) isIdle() bool {
	if s.busy > 0 || s.resolve == addressAsked || s.hasTurn() {
		return false
	}
	if o := s.origins; o != nil && (o.due.Len() > 0 || o.redirects != nil) {
		return false
	}
	for h := range s.each {
		queued := h.pending > 0 || h.retry != nil || h.backlog != nil
		if queued || h.leased > 0 || h.starved || h.robots.waits() || !storable(h.name) {
			return false
		}
	}
	return true
}

// hostBytes returns about how much memory the hosts take, with their names and groups, without what
// their robots.txt say.
func (f *Frontier) hostBytes() int {
	return f.residency.bytes + f.politeness.bytes() + f.residency.gone.Bytes()
}

// consider lines s up for eviction if nothing of it is left to do, or all of that can wait in the
// store.
func (f *Frontier) consider(s *server) {
	switch {
	case f.cfg.HostBytes <= 0:
	case s.isIdle():
		if !s.idling {
			s.idling = true
			f.residency.idle.push(s)
		}
	case !s.waiting && s.canWait():
		s.waiting = true
		f.dormant.waiting.push(s)
	}
}

// settled reports whether s, which is idle or can wait, may be evicted now: a commit has kept all
// that is known of it, and time changes nothing of that except the age of its robots.txt and, if it
// is idle, the rest of its back-off. Why a server is dead is not in the store.
func (f *Frontier) settled(s *server) bool {
	delayed := s.last != never && s.last+f.politeness.delay(s) > f.now
	if s.noted > f.journal.saved || delayed || s.deadAt(f.now) {
		return false
	}
	if s.pace.hold > f.now && !s.isIdle() { // its turn would come in vain, and late once it is free
		return false
	}
	answered := int32(0)
	for h := range s.each {
		if h.dirty {
			return false
		}
		answered += h.answered
	}
	// Otherwise a lease counts that the store does not know: its URL was refused or postponed.
	return answered == s.leases
}

// makeRoom evicts servers as long as hosts exceed their budget: first the servers that have been
// idle for longest, then waiting ones that have been resident for longest. While a batch of URLs is
// looked up, servers stay, so that each is resident, or not, until all of the batch are added.
func (f *Frontier) makeRoom() {
	if f.cfg.HostBytes <= 0 || f.lookup.open {
		return
	}
	most := f.cfg.HostBytes - f.dormant.turnover(f.cfg.HostBytes)
	f.evictFrom(&f.residency.idle, most, func(s *server) evictability {
		switch {
		case !s.isIdle():
			s.idling = false
			f.consider(s) // it may be able to wait
			return notAnyMore
		case f.settled(s):
			return evictable
		}
		return notYet
	})
	f.evictFrom(&f.dormant.waiting, most, func(s *server) evictability {
		switch {
		case !s.canWait():
			s.waiting = false
			return notAnyMore
		case (!s.owed || s.heldUp() || s.isIdle()) && f.settled(s):
			return evictable
		}
		return notYet
	})
	f.politeness.sweep(f.now)
}

// evictability is whether a server in a line may be evicted.
type evictability int

const (
	notAnyMore evictability = iota // it leaves the line
	notYet
	evictable
)

// evictFrom evicts servers from a line until hosts take no more memory than most.
func (f *Frontier) evictFrom(l *evictionLine, most int, judge func(*server) evictability) {
	for vain := 0; f.hostBytes() > most && !l.empty() && vain < maxVain; {
		s, changed := l.pop()
		if s.evicted {
			continue
		}
		switch as := judge(s); {
		case as == notAnyMore:
		case as == evictable && !changed:
			f.evict(s)
		default:
			if !changed {
				vain++
			}
			l.push(s)
		}
	}
}

// evict drops s. The store must have all of its state.
func (f *Frontier) evict(s *server) {
	f.politeness.withdraw(s)
	s.evicted = true
	f.dormant.evicted(s.name())
	f.residency.removed(s)
	f.politeness.remove(s)
	delete(f.failures, s)
	for h := range s.each {
		if h.pending > 0 {
			f.refills.dropped(h)
			f.dormant.count(HostState{Pending: int(h.pending), Tried: int(h.tried)}, 1)
		}
	}
}

// comeBack makes an evicted host resident again.
func (f *Frontier) comeBack(s HostState, r robots.Rules) *host {
	h, latest := f.recall(s, r)
	h.last = max(h.last, f.residency.waits, min(h.asked, f.now))
	if latest {
		h.pace.most = uint8(s.Most) // unbounded or not: this is the same process
	}
	if f.residency.steered {
		f.steerPace(h)
	}
	f.wake(h, s)
	return h
}

// wake has a host that was evicted take its turn.
func (f *Frontier) wake(h *host, s HostState) {
	f.residency.evicted--
	f.dormant.count(s, -1)
	f.refills.restore(h, s)
	f.place(h)
	f.consider(h.server)
}

// recall makes a host, and brings it to what is known of it, apart from its pending URLs and from
// when its delay counts. It reports whether that is the latest that is known of its server.
func (f *Frontier) recall(s HostState, r robots.Rules) (h *host, latest bool) {
	h = f.newHost(s.Name, strings.HasPrefix(s.Name, "http"))
	h.pending, h.tried, h.answered = int32(s.Pending), int32(s.Tried), int32(s.Answered)
	h.capped, h.seed = s.Capped, s.Seed
	h.leases += h.answered
	since := never
	if !s.Asked.IsZero() {
		since = f.moment(s.Asked)
	}
	if latest = since >= h.asked; latest { // the host requested last knows the server's pace
		h.asked = since
		h.pace.restore(s)
		h.fails = uint8(s.Failures)
	}
	if !s.Hold.IsZero() && !s.Dead { // why it was dead is not kept: it has another chance
		h.pace.hold = max(h.pace.hold, f.moment(s.Hold))
	}
	if h.robots.phase != off {
		rules, ok := f.robots.add(r, f.now)
		if !ok {
			s.Robots = RobotsState{} // it is leased again
		}
		h.robots.restore(s.Robots, rules)
		if !s.Robots.Until.IsZero() {
			h.robots.until = f.moment(s.Robots.Until)
		}
		h.rulesChanged(h, 0)
	}
	return h, latest
}

// evictionLine is servers that may be evicted, those first that have waited for it for longest.
type evictionLine struct {
	servers []lined
	head    int
}

// lined is a server and its last record when it was put into a line.
type lined struct {
	server *server
	noted  uint32
}

func (l *evictionLine) push(s *server) { l.servers = append(l.servers, lined{s, s.noted}) }

func (l *evictionLine) empty() bool { return l.head == len(l.servers) }

// pop removes the first of a line that is not empty. It reports whether it was recorded since.
func (l *evictionLine) pop() (s *server, changed bool) {
	r := l.servers[l.head]
	l.servers[l.head] = lined{}
	if l.head++; l.head > len(l.servers)/2 {
		l.servers = append(l.servers[:0:0], l.servers[l.head:]...)
		l.head = 0
	}
	return r.server, r.server.noted != r.noted
}
