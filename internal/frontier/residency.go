package frontier

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/weftcrawl/weft/internal/frontier/names"
	"github.com/weftcrawl/weft/internal/frontier/seen"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

const (
	// What hosts, origins and groups take in memory, in bytes, besides their names: with the
	// tables that find them.
	costOfHost   = int(unsafe.Sizeof(host{})) + 80
	costOfOrigin = int(unsafe.Sizeof(origin{})) + 80
	costOfGroup  = int(unsafe.Sizeof(group{})) + 120

	// With the reason why it was given up.
	costOfTrouble = int(unsafe.Sizeof(trouble{})) + 100

	// spareBytes is how much memory hosts that time will free may take in any case.
	spareBytes = 1 << 20

	// maxVain is how many origins are looked at in a row whose hosts may not be evicted yet.
	maxVain = 64

	// lookAgain is when a host is looked at again that may not be evicted yet.
	lookAgain = time.Second

	// usualBatch is how many URLs a batch has for which the memory of the look-up is kept.
	usualBatch = 4096
)

// residency is which hosts are in memory, or resident, and which were evicted. A host is idle
// when nothing of it is pending, leased or wanted. It leaves with all its origins, and comes back
// with all of them: they share a pace and LimitPerHost. Hosts with something pending: see
// dormant.
type residency struct {
	names   *names.Index[host] // resident hosts
	origins int                // resident
	bytes   int                // that these take, without groups
	evicted int                // origins that are not resident, dormant ones included
	idle    evictionLine       // hosts that had nothing left to do

	gone  *seen.Set           // names of evicted hosts, by nameKey; beyond its limit, some
	seeds [2]maphash.Seed     // of nameKey
	asked map[string]struct{} // names of the last batch that were looked up if need be

	spare   int    // bytes beyond twice HostBytes: see crowded
	waits   moment // a delay counts from here at least if another process has evicted the host
	steered bool   // PerHost was changed
}

// residence is what residency knows of a host.
type residence struct {
	noted   uint32 // the last NoteOrigins that recorded it
	idling  bool   // in the line residency.idle
	waiting bool   // in the line dormant.waiting
	owed    bool   // it came back for its turn, which it has not had
	evicted bool
}

func newResidency(hostBytes int) residency {
	return residency{
		names: names.New((*host).name), gone: seen.New(max(1, hostBytes/8)),
		seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, waits: never,
		spare: spareBytes,
	}
}

// origin returns the resident origin with a name; nil if there is none.
func (r *residency) origin(name string) *origin {
	h := r.names.Find(Hostname(name))
	switch {
	case h == nil:
		return nil
	case h.own.name == name:
		return &h.own
	case h.origins == nil:
		return nil
	}
	return h.origins.known[name]
}

// each yields every resident origin, in no order.
func (r *residency) each(yield func(*origin) bool) {
	for h := range r.names.All {
		for o := range h.each {
			if !yield(o) {
				return
			}
		}
	}
}

// all returns every resident origin by name, so that a crawl on a virtual clock is the same every
// time.
func (r *residency) all() []*origin {
	return slices.SortedFunc(r.each, func(a, b *origin) int {
		return strings.Compare(a.name, b.name)
	})
}

// added takes in an origin that is resident from now on.
func (r *residency) added(o *origin) {
	r.origins++
	r.bytes += bytesOf(o)
}

// removed updates the state after a host has left memory.
func (r *residency) removed(h *host) {
	name := h.name()
	delete(r.asked, name) // a later Add has not looked it up
	r.names.Remove(name, h)
	if domain := weburl.RegistrableDomain(name); domain != "" {
		r.names.Remove(domain, h)
	}
	for o := range h.each {
		r.bytes -= bytesOf(o)
		r.origins--
	}
	r.gone.Add(r.nameKey(name))
}

// bytesOf returns what an origin takes in memory, without its robots.txt.
func bytesOf(o *origin) int {
	n := costOfOrigin + len(o.name)
	if o == &o.host.own {
		n = costOfHost + len(o.name)
	}
	if o.trouble != nil {
		n += costOfTrouble
	}
	if o.retry != nil {
		n += o.retry.bytes
	}
	return n
}

// nameKey returns a fingerprint of a name. The Web chooses the name, and cannot know the seeds.
func (r *residency) nameKey(name string) (key fingerprint) {
	for half, seed := range r.seeds {
		binary.BigEndian.PutUint64(key[8*half:], maphash.String(seed, name))
	}
	return key
}

// lookedUp reports whether the origins of a name that were evicted, if any, are back.
func (r *residency) lookedUp(name string) bool {
	if r.evicted == 0 || r.names.Find(name) != nil {
		return true
	}
	_, asked := r.asked[name]
	return asked
}

// missing returns the names of a batch that may be of evicted hosts.
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

// storable reports whether the store finds an origin by the name of its host.
func storable(origin string) bool {
	return strings.HasPrefix(origin, "http://") || strings.HasPrefix(origin, "https://")
}

// isIdle reports whether nothing of h is left to do.
func (h *host) isIdle() bool {
	if h.busy > 0 || h.resolve == addressAsked || h.hasTurn() {
		return false
	}
	if all := h.origins; all != nil && (all.due.Len()+all.doubts.Len() > 0 || all.isRedirecting()) {
		return false
	}
	for o := range h.each {
		queued := o.pending > 0 || o.retry != nil || o.backlog != nil
		if queued || o.leased > 0 || o.starved || o.robots.waits() || !storable(o.name) {
			return false
		}
	}
	return true
}

// hostBytes returns about how much memory the hosts take, with their origins, names and groups,
// without what their robots.txt say.
func (f *Frontier) hostBytes() int {
	return f.residency.bytes + f.politeness.bytes() + f.residency.gone.Bytes()
}

// consider lines h up for eviction if nothing of it is left to do, or all of that can wait in the
// store.
func (f *Frontier) consider(h *host) {
	switch {
	case f.cfg.HostBytes <= 0:
	case h.isIdle():
		if !h.residence.idling {
			h.residence.idling = true
			f.residency.idle.push(h)
		}
	case !h.residence.waiting && h.canWait():
		h.residence.waiting = true
		f.dormant.waiting.push(h)
	}
}

// settled reports whether h, which is idle or can wait, may be evicted now: a commit has kept all
// that is known of it. A host that time alone will free stays, unless there are too many: its turn
// would come in vain, and late once it is free.
func (f *Frontier) settled(h *host) bool {
	if h.residence.noted > f.journal.saved || f.delaysOthers(h) || f.freedAt(h) > f.clock.now && !f.givesWay(h) {
		return false
	}
	answered := int32(0)
	for o := range h.each {
		if o.dirty {
			return false
		}
		answered += o.answered
	}
	// Otherwise a lease counts that the store does not know: its URL was refused or postponed.
	return answered == h.leases
}

// freedAt returns until when a delay of h runs, or something of it is held or refused. That an idle
// host is held does not matter.
func (f *Frontier) freedAt(h *host) (at moment) {
	if h.last != never {
		at = h.last + f.politeness.delay(h)
	}
	if !h.isIdle() {
		at = max(at, f.untilHeld(h))
	}
	for o := range h.each {
		if o.deadAt(f.clock.now) {
			at = max(at, o.trouble.until)
		}
	}
	return at
}

// givesWay reports whether h gives way to others, although time will free it: not soon, and there are
// too many hosts.
func (f *Frontier) givesWay(h *host) bool {
	return f.crowded() && f.freedAt(h) > f.clock.now+maxRest
}

// delaysOthers reports whether a host that comes to the domain of h, in which h is alone, would have
// to wait. A group stays for as long as its delay runs.
func (f *Frontier) delaysOthers(h *host) bool {
	return h.domain() == nil && h.last != never && h.last+f.politeness.groupDelay(false) > f.clock.now
}

// crowded reports whether hosts take so much memory that some leave although time will free them.
func (f *Frontier) crowded() bool {
	return f.hostBytes() > 2*f.cfg.HostBytes+f.residency.spare
}

// makeRoom evicts hosts as long as they exceed their budget: first the hosts that have been
// idle for longest, then waiting ones that have been resident for longest. While a batch of URLs is
// looked up, hosts stay, so that each is resident, or not, until all of the batch are added.
func (f *Frontier) makeRoom() {
	if f.cfg.HostBytes <= 0 || f.lookup.open {
		return
	}
	most := f.cfg.HostBytes - f.dormant.turnover(f.cfg.HostBytes)
	f.evictFrom(&f.residency.idle, most, func(h *host) evictability {
		switch {
		case !h.isIdle():
			h.residence.idling = false
			f.consider(h) // it may be able to wait
			return notAnyMore
		case f.settled(h):
			return evictable
		}
		return notYet
	})
	f.evictFrom(&f.dormant.waiting, most, func(h *host) evictability {
		switch {
		case !h.canWait():
			h.residence.waiting = false
			return notAnyMore
		case h.residence.owed && !h.heldUp() && !h.isAhead() && !h.isIdle() && !f.givesWay(h):
		case f.settled(h):
			return evictable
		}
		return notYet
	})
	f.politeness.sweep(f.clock.now)
}

// evictability is whether a host in a line may be evicted.
type evictability int

const (
	notAnyMore evictability = iota // it leaves the line
	notYet
	evictable
)

// evictFrom evicts hosts from a line until hosts take no more memory than most. One that may not
// leave is not looked at again before the next commit, or a second: it may have 65,535 origins.
func (f *Frontier) evictFrom(l *evictionLine, most int, judge func(*host) evictability) {
	for vain := 0; f.hostBytes() > most && !l.empty() && vain < maxVain; {
		r := l.pop()
		h := r.host
		switch {
		case h.residence.evicted:
			continue
		case r.noted != h.residence.noted: // recorded since
			r.noted, r.next = h.residence.noted, 0
		case f.clock.now >= r.next || r.saved != f.journal.saved:
			switch judge(h) {
			case notAnyMore:
				continue
			case evictable:
				f.evict(h)
				continue
			}
			r.next, r.saved = f.clock.now+lookAgain, f.journal.saved
			vain += h.count() - 1
		}
		vain++
		l.hosts = append(l.hosts, r)
	}
}

// evict drops h. The store must have all of its state.
func (f *Frontier) evict(h *host) {
	f.politeness.withdraw(h)
	h.residence.evicted = true
	f.dormant.evicted(h.name())
	f.levels.nearer.evicted(h.name())
	f.residency.removed(h)
	f.politeness.remove(h)
	delete(f.partitions.foreigners, h)
	for o := range h.each {
		s := OriginState{
			Pending: int(o.pending), Tried: int(o.tried), Answered: int(o.answered), Levels: f.stepOut(o),
		}
		if o.pending > 0 {
			f.refills.dropped(o)
		}
		if !h.foreign {
			f.countEvicted(o.name, s, 1)
		}
	}
}

// countEvicted counts an origin that is evicted from now on, or with -1 is not any more.
func (f *Frontier) countEvicted(name string, s OriginState, n int) {
	f.residency.evicted += n
	f.dormant.count(s, n)
	if s.Pending > 0 {
		f.levels.countDormant(s.Levels, n)
	}
	f.partitions.countEvicted(name, s, n)
}

// comeBack makes an evicted origin resident again.
func (f *Frontier) comeBack(s OriginState, r robots.Rules) *origin {
	o, latest := f.recall(s, r, false)
	o.host.last = max(o.host.last, f.residency.waits, min(o.host.asked, f.clock.now))
	if latest {
		o.host.pace.most = uint8(s.Most) // unbounded or not: this is the same process
	}
	if f.residency.steered {
		f.steerPace(o)
	}
	f.wake(o, s)
	return o
}

// wake has an origin that was evicted take its turn.
func (f *Frontier) wake(o *origin, s OriginState) {
	f.countEvicted(s.Name, s, -1)
	f.refills.restore(o, s)
	f.place(o)
	f.consider(o.host)
}

// recall makes an origin, and brings it to what is known of it, apart from its pending URLs and
// from when its delay counts; ofAnother says whether another process has recorded that. It reports
// whether that is the latest that is known of its host.
func (f *Frontier) recall(
	s OriginState, r robots.Rules, ofAnother bool,
) (o *origin, latest bool) {
	o = f.newOrigin(s.Name, strings.HasPrefix(s.Name, "http"))
	o.pending, o.tried, o.answered = int32(s.Pending), int32(s.Tried), int32(s.Answered)
	o.capped, o.seed = s.Capped, s.Seed
	o.host.leases += o.answered
	since := never
	if !s.Asked.IsZero() {
		since = f.restored(s.Asked, 0)
	}
	if latest = since >= o.host.asked; latest { // the origin requested last knows the host's pace
		o.host.asked = since
		o.host.pace.restore(s)
	}
	if !s.Hold.IsZero() {
		o.host.pace.hold = max(o.host.pace.hold, f.restored(s.Hold, MaxRetryAfter))
	}
	f.restoreTrouble(o, s, ofAnother)
	f.restoreStep(o, s.Levels, s.Pending)
	if o.robots.phase != off {
		rules, ok := f.robots.add(r, f.clock.now)
		if !ok {
			s.Robots = RobotsState{} // it is leased again
		}
		o.robots.restore(s.Robots, rules)
		longest := maxPause
		switch {
		case s.Robots.Have:
			longest = robots.CacheFor
		case s.Robots.Shut:
			longest = shutFor
		}
		if !s.Robots.Until.IsZero() {
			o.robots.until = f.restored(s.Robots.Until, longest)
		}
		o.host.rulesChanged(o, 0)
	}
	return o, latest
}

// restored returns a time that another process has recorded, by a clock that may have been ahead of
// this one: it is at most so much later than now.
func (f *Frontier) restored(t time.Time, most time.Duration) moment {
	return min(f.clock.moment(t), f.clock.now+most)
}

// evictionLine is hosts that may be evicted, those first that have waited for it for longest.
type evictionLine struct {
	hosts []lined
	head  int
}

// lined is a host in a line.
type lined struct {
	host  *host
	noted uint32 // its last record when it was put there
	saved uint32 // the commit after which it could not leave
	next  moment // not looked at again before, or before another commit
}

func (l *evictionLine) push(h *host) {
	l.hosts = append(l.hosts, lined{host: h, noted: h.residence.noted})
}

func (l *evictionLine) empty() bool { return l.head == len(l.hosts) }

// pop removes the first of a line that is not empty.
func (l *evictionLine) pop() lined {
	r := l.hosts[l.head]
	l.hosts[l.head] = lined{}
	if l.head++; l.head > len(l.hosts)/2 {
		l.hosts = append(l.hosts[:0:0], l.hosts[l.head:]...)
		l.head = 0
	}
	return r
}
