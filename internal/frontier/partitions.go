package frontier

import (
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"strings"
	"time"
)

// partitions is which part of a crawl is this frontier's: see Config.Partition. A partition is a set
// of registrable domains; a frontier has all hosts of one, or none, but for hosts to which a robots.txt redirects:
// they are foreign, and have no pending URL.
//
// Invariant: tally has what the globals count of evicted origins, by partition, and what was given to
// Adopt of partitions that are not ours yet.
type partitions struct {
	of      func(host string) int // nil: everything is ours
	ours    map[int]struct{}
	held    map[int]struct{}
	leaving map[int]struct{} // disowned, and not forgotten
	tally   map[int]*tally
	send    func(URL) // takes what is not ours

	late       map[int]struct{}   // made ours while a page was being read, which may be older: see unread
	foreigners map[*host]struct{} // resident foreign hosts
	loud       []*host            // held hosts that were not quiet when Quiet looked last

	memo [256]hostMemo // of the last hosts
	sent []uint64      // URLs sent lately: see leaves
	seed maphash.Seed  // of memo
}

// hostMemo is the partition of a host.
type hostMemo struct {
	name string
	p    int
}

// maxSent is how many URLs of other partitions a frontier remembers, so as not to send them again. A
// URL takes the place of another: forgetting one costs a message.
const maxSent = 1 << 16

// tally counts the origins of a partition that are not resident.
type tally struct {
	evicted  int // all of them
	dormant  dormantCount
	answered int   // their URLs that were tried
	joint    []int // as levels.dormant
}

func (t *tally) count(s OriginState, n int) {
	t.evicted += n
	t.dormant.count(s, n)
	t.answered += n * s.Answered
	if s.Pending > 0 && s.Levels.Joint {
		t.joint = countDepth(t.joint, s.Levels.Least, n)
	}
}

func newPartitions(cfg *Config) partitions {
	p := partitions{of: cfg.Partition}
	if p.of == nil {
		return p
	}
	p.seed = maphash.MakeSeed()
	p.ours, p.held, p.leaving = make(map[int]struct{}), make(map[int]struct{}), make(map[int]struct{})
	p.foreigners, p.late = make(map[*host]struct{}), make(map[int]struct{})
	p.tally, p.sent = make(map[int]*tally), make([]uint64, maxSent)
	p.send = func(URL) {}
	for _, n := range cfg.Ours {
		p.ours[n] = struct{}{}
	}
	return p
}

// partition returns that of a host.
func (p *partitions) partition(hostname string) int {
	m := &p.memo[maphash.String(p.seed, hostname)%uint64(len(p.memo))]
	if m.name != hostname || hostname == "" {
		*m = hostMemo{hostname, p.of(hostname)}
	}
	return m.p
}

// foreign reports whether a host is of a partition that is not ours.
func (p *partitions) foreign(hostname string) bool {
	if p.of == nil {
		return false
	}
	_, ours := p.ours[p.partition(hostname)]
	return !ours
}

// unread reports whether a page says nothing about a host: its partition is not ours, or became so while the
// page was being read, which may show half an import.
func (p *partitions) unread(hostname string) bool {
	if p.of == nil {
		return false
	}
	_, late := p.late[p.partition(hostname)]
	return late || p.foreign(hostname)
}

// allRead takes in that a page was provided; if others are being read, nothing changes.
func (f *Frontier) allRead() {
	if f.dormant.request == nil && f.levels.nearer.asked == nil {
		clear(f.partitions.late)
	}
}

// holds reports whether nothing of a host is to be leased.
func (p *partitions) holds(hostname string) bool {
	if len(p.held) == 0 {
		return false
	}
	_, held := p.held[p.partition(hostname)]
	return held
}

// countEvicted counts an origin that is evicted from now on, or with -1 is not any more.
func (p *partitions) countEvicted(origin string, s OriginState, n int) {
	if p.of == nil {
		return
	}
	p.tallyOf(p.partition(Hostname(origin))).count(s, n)
}

func (p *partitions) tallyOf(n int) *tally {
	t := p.tally[n]
	if t == nil {
		t = new(tally)
		p.tally[n] = t
	}
	return t
}

// SendBy makes the frontier give fn each URL of another partition that is added, unless it was given
// the same one lately. A seed is given each time.
func (f *Frontier) SendBy(fn func(URL)) { f.partitions.send = fn }

// Receive is Add for a URL that another frontier has sent. If it is of another partition by now, it is
// sent on, even if it was sent lately: it may be what was sent then.
func (f *Frontier) Receive(u URL) bool {
	if f.partitions.foreign(u.URL.Hostname()) {
		f.partitions.send(u)
		return false
	}
	return f.Add(u)
}

// leaves reports whether u is of another partition. Then it is sent, unless it was lately.
func (f *Frontier) leaves(u *URL) bool {
	p := &f.partitions
	if !p.foreign(u.URL.Hostname()) {
		return false
	}
	fp := u.Fingerprint()
	key := binary.LittleEndian.Uint64(fp[:]) ^ uint64(u.Hops) // it may come nearer
	if f.cfg.Levels {
		key ^= uint64(u.Depth) << 32
	}
	if last := &p.sent[key%maxSent]; *last != key || u.From == "" {
		*last = key
		p.send(*u)
	}
	return true
}

// Hold leases nothing more of partitions, ours or not, until Release, Forget or Own.
func (f *Frontier) Hold(now time.Time, numbers ...int) {
	f.clock.tell(now)
	for _, n := range numbers {
		f.partitions.held[n] = struct{}{}
	}
	f.eachOf(numbers, func(h *host) {
		h.held = true
		f.dropWaitingRedirects(h)
		f.placeHost(h)
		if !h.isQuiet() {
			f.partitions.loud = append(f.partitions.loud, h)
		}
	})
}

// Release undoes Hold.
func (f *Frontier) Release(now time.Time, numbers ...int) {
	f.clock.tell(now)
	for _, n := range numbers {
		delete(f.partitions.held, n)
	}
	f.eachOf(numbers, func(h *host) {
		h.held = false
		f.placeHost(h)
	})
}

// eachOf calls fn with the resident hosts of partitions. It looks at all that are resident, if it must.
func (f *Frontier) eachOf(numbers []int, fn func(*host)) {
	p := &f.partitions
	wanted, among := make(map[int]bool, len(numbers)), maps.Keys(p.foreigners)
	for _, n := range numbers {
		wanted[n] = true
		_, ours := p.ours[n]
		if _, leaving := p.leaving[n]; ours || leaving {
			among = f.residency.names.All
		}
	}
	var all []*host // fn may remove them
	for h := range among {
		if wanted[int(h.part)] {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b *host) int { return strings.Compare(a.name(), b.name()) })
	for _, h := range all {
		fn(h)
	}
}

// Quiet returns those of the partitions, which are held, of which nothing is leased, nor being read
// from the store.
func (f *Frontier) Quiet(numbers ...int) []int {
	p := &f.partitions
	p.loud = slices.DeleteFunc(p.loud, func(h *host) bool { return h.residence.evicted || h.isQuiet() })
	loud := make(map[int]bool)
	for _, h := range p.loud {
		loud[int(h.part)] = true
	}
	var quiet []int
	for _, n := range numbers {
		if !loud[n] {
			quiet = append(quiet, n)
		}
	}
	return quiet
}

// isQuiet reports whether nothing of h is leased, nor being read from the store.
func (h *host) isQuiet() bool {
	if h.busy > 0 || h.resolve == addressAsked || h.origins != nil && h.origins.isRedirecting() {
		return false
	}
	for o := range h.each {
		if o.leased > 0 || o.robots.waits() || o.backlog != nil && o.backlog.refill != nil {
			return false
		}
	}
	return true
}

// Adopt takes in origins of a partition that is not ours, and fingerprints of its URLs, as the store
// has them by now. It is called with all of them, in any number of calls, before Own.
func (f *Frontier) Adopt(number int, origins []OriginState, seen [][16]byte) {
	if _, ours := f.partitions.ours[number]; ours {
		panic(fmt.Sprintf("frontier: Adopt: partition %d is ours", number))
	}
	t := f.partitions.tallyOf(number)
	for _, s := range origins {
		f.residency.gone.Add(f.residency.nameKey(Hostname(s.Name)))
		t.count(s, 1)
	}
	for _, fp := range seen {
		f.seen.table.Add(fp)
	}
}

// Unsee takes in that the store no longer has some URLs, of a partition that is not ours. If the partition comes
// back, those that its log does not have can be found anew. It is called between two batches of Prepare.
func (f *Frontier) Unsee(seen [][16]byte) {
	f.betweenBatches("Unsee")
	f.seen.remove(seen)
}

// Reject takes back what Adopt was given of a partition.
func (f *Frontier) Reject(number int) {
	if _, ours := f.partitions.ours[number]; !ours {
		delete(f.partitions.tally, number)
	}
}

// Own makes a partition ours, with the origins that were adopted: they are evicted, and those with
// something pending dormant. Every host of it waits its full delay from now on. Next is larger than the
// Seq of every URL of the partition. Of a partition that was not ours nothing may be leased: see Hold
// and Quiet. It is called between two batches of Prepare.
func (f *Frontier) Own(now time.Time, number int, next uint64) {
	f.clock.tell(now)
	f.betweenBatches("Own")
	p := &f.partitions
	_, ours := p.ours[number]
	if _, leaving := p.leaving[number]; ours || leaving {
		panic(fmt.Sprintf("frontier: Own: partition %d is ours", number))
	}
	f.eachOf([]int{number}, func(h *host) { f.dropQuiet(h, "Own") })
	f.countTally(p.tallyOf(number), 1)
	f.seq = max(f.seq, max(next, 1)-1)
	f.residency.waits = f.clock.now
	p.ours[number] = struct{}{}
	delete(p.held, number)
	if f.dormant.request != nil || f.levels.nearer.asked != nil {
		p.late[number] = struct{}{}
	}
}

// Disown makes a partition another's: its URLs are sent from now on. What is known of it is recorded
// with the next NoteOrigins, and forgotten by Forget. Nothing of it may be leased: see Hold and Quiet.
// It is called between two batches of Prepare.
func (f *Frontier) Disown(number int) {
	f.betweenBatches("Disown")
	delete(f.partitions.ours, number)
	f.partitions.leaving[number] = struct{}{}
}

// Forget drops everything of partitions that were disowned, from memory and from the counts, once that
// is Saved. It is called between two batches of Prepare.
func (f *Frontier) Forget(numbers ...int) {
	f.betweenBatches("Forget")
	p := &f.partitions
	for _, n := range numbers {
		if _, leaving := p.leaving[n]; !leaving {
			panic(fmt.Sprintf("frontier: Forget: partition %d was not disowned", n))
		}
	}
	f.eachOf(numbers, func(h *host) { f.dropQuiet(h, "Forget") })
	for _, n := range numbers {
		f.countTally(p.tallyOf(n), -1)
		delete(p.tally, n)
		delete(p.held, n)
		delete(p.leaving, n)
	}
}

func (f *Frontier) betweenBatches(what string) {
	if f.lookup.open {
		panic("frontier: " + what + ": a batch is being looked up")
	}
}

// countTally counts all of a partition, or with -1 not any more.
func (f *Frontier) countTally(t *tally, n int) {
	f.residency.evicted += n * t.evicted
	d := &f.dormant
	d.origins += n * t.dormant.origins
	d.urls += n * t.dormant.urls
	d.tried += n * t.dormant.tried
	d.same = d.same && t.dormant.origins == 0
	f.stats.Pending += n * t.dormant.urls
	f.fresh += n * (t.dormant.urls - t.dormant.tried)
	f.firsts.all += n * t.answered
	for depth, origins := range t.joint {
		f.levels.dormant = countDepth(f.levels.dormant, depth, n*origins)
	}
	if n > 0 && t.dormant.urls > 0 {
		f.levels.found = maxDepth
	}
}

// dropQuiet evicts a host of which nothing is leased, and whose state the store has.
func (f *Frontier) dropQuiet(h *host, what string) {
	if !h.isQuiet() {
		panic(fmt.Sprintf("frontier: %s: something of %s is leased", what, h.name()))
	}
	for o := range h.each {
		if o.dirty {
			panic(fmt.Sprintf("frontier: %s: what is known of %s is not recorded", what, o.name))
		}
		if o.starved {
			f.robots.leave(o)
		}
	}
	f.evict(h)
}

// dropWaitingRedirects has the origins whose robots.txt redirects to h ask for it anew later: by then
// another frontier may have h.
func (f *Frontier) dropWaitingRedirects(h *host) {
	if h.origins == nil || h.origins.redirects == nil {
		return
	}
	var u URL
	o := h.origins.redirects
	for o.retry != nil {
		f.takeRetry(o, &u)
		f.askLater(&u)
	}
	o.leaveTurns()
	h.dropRedirects()
}

// askLater has the robots.txt of an origin, which redirects, asked for anew.
func (f *Frontier) askLater(u *URL) {
	of := f.residency.origin(u.URL.Origin())
	of.robots.postpone(f.clock.now + noRoom)
	f.place(of)
}
