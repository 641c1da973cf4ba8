package frontier

import (
	"cmp"
	"time"

	"github.com/weftcrawl/weft/internal/heap"
	"github.com/weftcrawl/weft/weburl"
)

const (
	// slowDelay is how much more than Config.Delay a Crawl-delay may be before others leave its
	// host behind.
	slowDelay = time.Second

	// hangTime is how long a level waits when all that is left of it is in flight and silent.
	hangTime = 10 * time.Second
)

// levels makes the depth of a URL the least number of links that lead to it. A URL of a depth is
// leased when nothing of less depth is pending or leased: then everything that links to it from
// nearer has ended. What was added too deep, because a redirect or a sitemap, whose targets have
// its own depth, came late, is moved while it is pending: see nearer.
//
// Who waits for whom: an origin for itself, always. Sites, which are registrable domains, keep step
// from the moment when a URL of one leads to another; a site that leads nowhere else and that
// nobody leads to has levels of its own, so unrelated seeds do not wait for each other. A URL with
// a role leads to no page, so nobody waits for a site that has no other URLs. Nobody waits for an
// origin that is parked, in back-off, without an obtainable robots.txt, or that asks for a longer
// delay than the others, nor for responses that hang. What such an origin leads to may have been
// leased before, with a greater depth, which stays.
type levels struct {
	common  level             // of sites that lead to each other
	own     map[string]*level // of the others, by site, and of those that have joined
	vacant  []*level          // that nothing may hold any more
	dormant []int             // dormant origins in step with others, by their least depth
	deepest int               // of all levels, ever
	found   int               // depth of the deepest URL found
	until   moment            // no level opens before: see HoldLevels
	stirred moment            // when what holds common was last leased or ended
	nearer  nearer
}

// level is how deep the origins of some sites may be leased from. It opens to the next depth when
// nothing holds it.
type level struct {
	depth   int    // nothing deeper is leased
	holding int    // origins that hold it: see step
	ahead   aheads // origins whose next URL is deeper
	origins int    // resident
	listed  bool   // in levels.vacant
	joined  bool   // its origins are in levels.common
}

// aheads is a heap of origins by the depth of their next URL.
type aheads = heap.Heap[*origin, byDepth]

type byDepth struct{}

func (byDepth) Before(a, b *origin) bool {
	return cmp.Or(cmp.Compare(a.step.next, b.step.next), cmp.Compare(a.name, b.name)) < 0
}
func (byDepth) Moved(o *origin, i int) { o.step.index = int32(i) }

// step is where an origin stands.
//
// Invariant: it is in level.ahead if and only if its next URL is deeper than the level.
type step struct {
	level   *level
	index   int32      // in level.ahead; -1: not there
	next    int        // its key there
	reached int        // depth of the last URL that was leased for the first time
	floor   int        // depth that no URL in its backlog is below
	holds   bool       // level: something is leased, to be tried again, or pending and no deeper
	noted   LevelState // the last that was recorded
}

// LevelState is where an origin stands among the levels; zero: without Config.Levels.
type LevelState struct {
	Least int  // depth that none of its pending URLs is below
	Joint bool // it keeps step with other sites
}

// stepIn gives a new origin its place: in the level of its site.
func (f *Frontier) stepIn(o *origin) {
	if !f.cfg.Levels {
		return
	}
	all := &f.levels
	site := siteOf(o.name)
	l := all.own[site]
	if l == nil {
		if all.own == nil {
			all.own = make(map[string]*level)
		}
		l = new(level)
		all.own[site] = l
	}
	l.origins++
	o.step = &step{level: l, index: -1}
}

// stepOut takes in that an origin leaves memory, and returns where it stood when it was last recorded.
func (f *Frontier) stepOut(o *origin) LevelState {
	s := o.step
	if s == nil {
		return LevelState{}
	}
	l := f.levelOf(o)
	if s.index >= 0 {
		l.ahead.Remove(int(s.index))
	}
	f.holds(o, false)
	site := siteOf(o.name)
	own := f.levels.own[site]
	if own.origins--; own.origins == 0 {
		own.joined = true // nothing is left to open
		delete(f.levels.own, site)
	}
	return s.noted
}

// siteOf returns the registrable domain of an origin, or its host.
func siteOf(origin string) string {
	name := Hostname(origin)
	return cmp.Or(weburl.RegistrableDomain(name), name)
}

// levelOf returns the level of an origin.
func (f *Frontier) levelOf(o *origin) *level {
	if o.step.level.joined {
		o.step.level = &f.levels.common
	}
	return o.step.level
}

// countDormant counts an origin with something pending that is dormant from now on, or with -1 is
// not any more.
func (all *levels) countDormant(s LevelState, n int) {
	if !s.Joint {
		return
	}
	all.dormant = countDepth(all.dormant, s.Least, n)
}

// countDepth adds n to the count of a depth.
func countDepth(counts []int, depth, n int) []int {
	for len(counts) <= depth {
		counts = append(counts, 0)
	}
	counts[depth] += n
	return counts
}

// leastDormant returns the least depth of the dormant origins.
func (all *levels) leastDormant() (depth int, any bool) {
	for depth, n := range all.dormant {
		if n > 0 {
			return depth, true
		}
	}
	return 0, false
}

// found takes in that a URL leads to o, perhaps from another site.
func (f *Frontier) found(o *origin, u *URL) {
	if !f.cfg.Levels {
		return
	}
	f.levels.found = max(f.levels.found, u.Depth)
	from := originOf(u.From)
	if from == "" || from == o.name || u.Role.Beyond() {
		return
	}
	if source := f.residency.origin(from); source != nil && f.levelOf(source) != f.levelOf(o) {
		f.join(source)
		f.join(o)
	}
}

// originOf returns the origin in the text of a canonical URL.
func originOf(u string) string {
	for i, slashes := 0, 0; i < len(u); i++ {
		if u[i] == '/' {
			if slashes++; slashes == 3 {
				return u[:i]
			}
		}
	}
	return ""
}

// join has the site of o keep step with the others.
func (f *Frontier) join(o *origin) {
	l, common := f.levelOf(o), &f.levels.common
	if l == common {
		return
	}
	l.joined = true
	f.journal.originChanged(o)
	common.holding += l.holding
	f.vacate(common)
	for l.ahead.Len() > 0 {
		f.place(l.ahead.Pop())
	}
}

// nextDepth returns the depth of the next URL of o that was never leased, or less if that is only in the
// store.
func (o *origin) nextDepth() (depth int, any bool) {
	if !o.queue.Empty() {
		c, _ := o.queue.First()
		return int(c.depth), true
	}
	b := o.backlog
	if b == nil || !b.more {
		return 0, false
	}
	if b.cursor.ByDepth {
		return max(o.step.floor, b.cursor.Depth), true
	}
	return o.step.floor, true
}

// unfinished reports whether something of o is leased, or is to be tried again.
func (o *origin) unfinished() bool { return o.leased > 0 || o.retry != nil || o.tried > 0 }

// descended takes in that a URL of a depth is leased for the first time.
func (o *origin) descended(depth int) {
	if o.step != nil {
		o.step.reached = depth
	}
}

// mayDescend reports whether the next URL of o that was never leased is within its level, and
// nothing of less depth is unfinished.
func (f *Frontier) mayDescend(o *origin) bool {
	if o.step == nil {
		return true
	}
	depth, any := o.nextDepth()
	if !any {
		return true
	}
	if depth > f.levelOf(o).depth {
		return false
	}
	retriesOnDisk := o.queue.Empty() && o.backlog.tried > 0
	return depth <= o.step.reached || retriesOnDisk ||
		!o.unfinished() && !f.levels.nearer.on(o)
}

// leftBehind reports whether nobody waits for o.
func (f *Frontier) leftBehind(o *origin) bool {
	held := max(o.parked(), o.host.pace.hold)
	if at, fails := o.robots.retryAt(); fails {
		held = max(held, at)
	}
	if o.host.origins != nil && o.doubtful {
		held = max(held, o.host.origins.park)
	}
	return held > f.clock.now || o.host.crawlDelay() > f.cfg.Delay+slowDelay
}

// stand takes in that what o has to lease has changed.
func (f *Frontier) stand(o *origin) {
	s := o.step
	if s == nil {
		return
	}
	l := f.levelOf(o)
	depth, any := o.nextDepth()
	switch ahead := any && depth > l.depth; {
	case !ahead && s.index >= 0:
		l.ahead.Remove(int(s.index))
	case ahead && s.index < 0:
		s.next = depth
		l.ahead.Push(o)
		f.vacate(l)
	case ahead && s.next != depth:
		s.next = depth
		l.ahead.Set(int(s.index), o)
	}
	if any && !o.unfinished() && f.levels.nearer.on(o) {
		f.levels.nearer.hurry = true
	}
	holds := o.leased > 0 || o.retry != nil || s.index < 0 && (any || o.tried > 0)
	f.holds(o, holds && !f.leftBehind(o))
}

// holds says whether o holds its level.
func (f *Frontier) holds(o *origin, is bool) {
	s := o.step
	if s.holds == is {
		return
	}
	s.holds = is
	if l := f.levelOf(o); is {
		l.holding++
	} else {
		l.holding--
		f.vacate(l)
	}
}

// vacate lists a level that may open if nothing holds it.
func (f *Frontier) vacate(l *level) {
	if l.holding == 0 && !l.listed {
		l.listed = true
		f.levels.vacant = append(f.levels.vacant, l)
	}
}

// HoldLevels has no level open for a while: seeds are to come. The last call counts.
func (f *Frontier) HoldLevels(now time.Time, wait time.Duration) {
	f.clock.tell(now)
	f.levels.until = f.clock.now + wait
}

// openLevels opens the levels that nothing holds.
func (f *Frontier) openLevels() {
	all := &f.levels
	if !f.cfg.Levels {
		return
	}
	if all.nearer.hurry && f.journal.to == nil {
		f.moveInMemory()
	}
	if f.hangs() {
		f.open(&all.common)
	}
	for len(all.vacant) > 0 {
		l := all.vacant[len(all.vacant)-1]
		if l.holding == 0 && !l.joined && (l.ahead.Len() > 0 || l == &all.common) && !f.mayOpen() {
			return
		}
		all.vacant = all.vacant[:len(all.vacant)-1]
		l.listed = false
		for l.holding == 0 && !l.joined && f.open(l) {
		}
	}
}

// mayOpen reports whether levels may open now: no seeds are to come, and nothing is to be moved to
// an open one.
func (f *Frontier) mayOpen() bool {
	if f.clock.now < f.levels.until {
		return false
	}
	if f.journal.to == nil {
		f.moveInMemory()
	}
	return f.levels.nearer.empty()
}

// open opens a level to the next depth of its origins, and reports whether there is any.
func (f *Frontier) open(l *level) bool {
	all := &f.levels
	depth, any := 0, false
	if l == &all.common {
		depth, any = all.leastDormant()
		if any && depth <= l.depth {
			return false // wait until it is revived
		}
	}
	if l.ahead.Len() > 0 && (!any || l.ahead.First().step.next < depth) {
		depth, any = l.ahead.First().step.next, true
	}
	if !any {
		return false
	}
	l.depth = depth
	all.deepest = max(all.deepest, depth)
	for l.ahead.Len() > 0 && l.ahead.First().step.next <= depth {
		f.place(l.ahead.First())
	}
	return true
}

// stir takes in that something of o was leased, or has ended.
func (f *Frontier) stir(o *origin) {
	if o.step != nil && o.step.holds {
		f.levels.stirred = f.clock.now
	}
}

// hangs reports whether all that holds the common level is in flight, and silent.
func (f *Frontier) hangs() bool {
	all := &f.levels
	if !f.mayHang() || f.clock.now < all.stirred+hangTime {
		return false
	}
	all.stirred = f.clock.now
	silent := make(map[*origin]struct{})
	for _, o := range f.leased {
		if o.step.holds && f.levelOf(o) == &all.common {
			silent[o] = struct{}{}
		}
	}
	return len(silent) == all.common.holding && f.mayOpen()
}

// mayHang reports whether the common level waits for something in flight.
func (f *Frontier) mayHang() bool {
	l := &f.levels.common
	return l.holding > 0 && l.ahead.Len() > 0 && f.stats.Leased > 0
}

// nextLevel returns when a level may open by itself, or Reads has a request for that.
func (f *Frontier) nextLevel() (at moment, ok bool) {
	all := &f.levels
	switch {
	case len(all.vacant) > 0 && f.clock.now < all.until:
		return all.until, true
	case f.wantsNearer():
		return f.clock.now, true
	case f.mayHang():
		return all.stirred + hangTime, true
	}
	return 0, false
}

// levelState returns the part of where o stands that outlives the process.
func (f *Frontier) levelState(o *origin) (s LevelState) {
	if o.step == nil {
		return s
	}
	s.Joint = f.levelOf(o) == &f.levels.common
	depth, any := o.nextDepth()
	if !any || o.unfinished() && o.step.reached < depth {
		depth = o.step.reached
	}
	s.Least = depth
	return s
}

// restoreStep brings o to its recorded place.
func (f *Frontier) restoreStep(o *origin, s LevelState, pending int) {
	if o.step == nil {
		return
	}
	o.step.floor, o.step.noted = s.Least, s
	if pending > 0 {
		f.levels.found = maxDepth
	}
	if s.Joint {
		f.join(o)
	}
}

// maxDepth is deeper than any URL.
const maxDepth = 1<<31 - 1
