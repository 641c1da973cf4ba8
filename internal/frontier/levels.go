package frontier

import (
	"time"

	"github.com/weftcrawl/weft/weburl"
)

const (
	// slowDelay is the excess of a Crawl-delay over Config.Delay from which on others leave its host
	// behind.
	slowDelay = time.Second

	// hangTime is the time for which a level waits when all that is left of it is in flight and
	// silent.
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
	cfg     *Config
	journal *journal
	changed func(moment, *origin) // takes in that what an origin has to lease has changed

	common  level             // of sites that lead to each other
	own     map[string]*level // of the others, by site, and of those that have joined
	vacant  []*level          // that nothing may block any more
	dormant []int             // dormant origins in step with others, by their least depth
	deepest int               // of all levels, ever
	found   int               // depth of the deepest URL found
	until   moment            // no level opens before: see DelayLevels
	stirred moment            // when what blocks common was last leased or ended
	nearer  nearer
}

// stepIn gives a new origin its place: in the level of its site.
func (ls *levels) stepIn(o *origin) {
	if !ls.cfg.Levels {
		return
	}
	site := siteOf(o.name)
	l := ls.own[site]
	if l == nil {
		if ls.own == nil {
			ls.own = make(map[string]*level)
		}
		l = new(level)
		ls.own[site] = l
	}
	l.origins++
	o.step = &step{level: l, index: -1}
}

// stepOut takes in that an origin leaves memory, and returns where it stood when it was last
// recorded.
func (ls *levels) stepOut(o *origin) LevelState {
	s := o.step
	if s == nil {
		return LevelState{}
	}
	l := ls.levelOf(o)
	if s.index >= 0 {
		l.ahead.Remove(int(s.index))
	}
	ls.setBlocks(o, false)
	site := siteOf(o.name)
	own := ls.own[site]
	if own.origins--; own.origins == 0 {
		own.joined = true // nothing is left to open
		delete(ls.own, site)
	}
	return s.noted
}

// levelOf returns the level of an origin.
func (ls *levels) levelOf(o *origin) *level {
	if o.step.level.joined {
		o.step.level = &ls.common
	}
	return o.step.level
}

// countDormant counts an origin with something pending that is dormant from now on, or with -1 is
// not any more.
func (ls *levels) countDormant(s LevelState, n int) {
	if !s.Joint {
		return
	}
	ls.dormant = countDepth(ls.dormant, s.Least, n)
}

// adopt counts the dormant origins of a partition, or with -1 not any more.
func (ls *levels) adopt(t *tally, n int) {
	for depth, origins := range t.joint {
		ls.dormant = countDepth(ls.dormant, depth, n*origins)
	}
	if n > 0 && t.dormant.urls > 0 {
		ls.found = maxDepth
	}
}

// leastDormant returns the least depth of the dormant origins.
func (ls *levels) leastDormant() (depth int, any bool) {
	for depth, n := range ls.dormant {
		if n > 0 {
			return depth, true
		}
	}
	return 0, false
}

// join has the site of o keep step with the others.
func (ls *levels) join(now moment, o *origin) {
	l, common := ls.levelOf(o), &ls.common
	if l == common {
		return
	}
	l.joined = true
	ls.journal.originChanged(o)
	common.blockers += l.blockers
	ls.vacate(common)
	for l.ahead.Len() > 0 {
		ls.changed(now, l.ahead.Pop())
	}
}

// reach takes in that a URL of a depth was found.
func (ls *levels) reach(depth int) { ls.found = max(ls.found, depth) }

// link takes in that a URL found on one origin leads to another.
func (ls *levels) link(now moment, from, to *origin) {
	if ls.levelOf(from) != ls.levelOf(to) {
		ls.join(now, from)
		ls.join(now, to)
	}
}

// mayDescend reports whether the next URL of o that was never leased is within its level, and
// nothing of less depth is unfinished.
func (ls *levels) mayDescend(o *origin) bool {
	if o.step == nil {
		return true
	}
	depth, any := o.nextDepth()
	if !any {
		return true
	}
	if depth > ls.levelOf(o).depth {
		return false
	}
	retriesOnDisk := o.queue.Empty() && o.backlog.tried > 0
	return depth <= o.step.reached || retriesOnDisk ||
		!o.unfinished() && !ls.nearer.on(o)
}

// leftBehind reports whether nobody waits for o.
func (ls *levels) leftBehind(now moment, o *origin) bool {
	until := o.leftAloneUntil()
	if o.host.origins != nil && o.doubtful {
		until = max(until, o.host.origins.park)
	}
	return until > now || o.host.crawlDelay() > ls.cfg.Delay+slowDelay
}

// stand takes in that what o has to lease has changed.
func (ls *levels) stand(now moment, o *origin) {
	s := o.step
	if s == nil {
		return
	}
	l := ls.levelOf(o)
	depth, any := o.nextDepth()
	switch ahead := any && depth > l.depth; {
	case !ahead && s.index >= 0:
		l.ahead.Remove(int(s.index))
	case ahead && s.index < 0:
		s.next = depth
		l.ahead.Push(o)
		ls.vacate(l)
	case ahead && s.next != depth:
		s.next = depth
		l.ahead.Set(int(s.index), o)
	}
	if any && !o.unfinished() && ls.nearer.on(o) {
		ls.nearer.hurry = true
	}
	blocks := o.leased > 0 || o.errands != nil || o.retry != nil || s.index < 0 && (any || o.tried > 0)
	ls.setBlocks(o, blocks && !ls.leftBehind(now, o))
}

// setBlocks says whether o blocks its level.
func (ls *levels) setBlocks(o *origin, is bool) {
	s := o.step
	if s.blocks == is {
		return
	}
	s.blocks = is
	if l := ls.levelOf(o); is {
		l.blockers++
	} else {
		l.blockers--
		ls.vacate(l)
	}
}

// vacate lists a level that may open if nothing blocks it.
func (ls *levels) vacate(l *level) {
	if l.blockers == 0 && !l.listed {
		l.listed = true
		ls.vacant = append(ls.vacant, l)
	}
}

// open opens a level to the next depth of its origins, and reports whether there is any.
func (ls *levels) open(now moment, l *level) bool {
	depth, any := 0, false
	if l == &ls.common {
		depth, any = ls.leastDormant()
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
	ls.deepest = max(ls.deepest, depth)
	for l.ahead.Len() > 0 && l.ahead.First().step.next <= depth {
		ls.changed(now, l.ahead.First())
	}
	return true
}

// stir takes in that something of o was leased, or has ended.
func (ls *levels) stir(now moment, o *origin) {
	if o.step != nil && o.step.blocks {
		ls.stirred = now
	}
}

// state returns the part of where o stands that outlives the process.
func (ls *levels) state(o *origin) (s LevelState) {
	if o.step == nil {
		return s
	}
	s.Joint = ls.levelOf(o) == &ls.common
	depth, any := o.nextDepth()
	if !any || o.unfinished() && o.step.reached < depth {
		depth = o.step.reached
	}
	s.Least = depth
	return s
}

// restore brings o to its recorded place.
func (ls *levels) restore(now moment, o *origin, s LevelState, pending int) {
	if o.step == nil {
		return
	}
	o.step.floor, o.step.noted = s.Least, s
	if pending > 0 {
		ls.found = maxDepth
	}
	if s.Joint {
		ls.join(now, o)
	}
}

// noted takes in where o stood when it was recorded.
func (ls *levels) noted(o *origin, s LevelState) {
	if o.step != nil {
		o.step.noted = s
	}
}

// maxDepth is deeper than any URL.
const maxDepth = 1<<31 - 1

const (
	// fewNearer is the number of nearer ways that are looked into at once, or a quarter of nearerText,
	// and maxNearer the most that wait, with nearerText bytes of URLs. The price of forgetting one is
	// that its URL may keep a depth that is too great.
	fewNearer  = 4096
	maxNearer  = 1 << 16
	nearerText = 4 << 20
)

// nearer is the URLs seen that were found again, by a way that may be shorter. Those that are still
// pending are moved to the smaller depth before a level opens. What is leased or done keeps its
// depth.
type nearer struct {
	ways  map[weburl.URL]way
	text  int                 // bytes of these URLs, and of where they were found
	asked map[weburl.URL]way  // looked up in the store; nil: no request is open
	left  map[string]struct{} // names evicted since that request
	names map[string]struct{} // of the origins of all these URLs
	hurry bool                // an origin waits for it
}

// way is a way to a URL.
type way struct {
	depth int
	from  string
}

// empty reports whether nothing may have to be moved.
func (n *nearer) empty() bool { return len(n.ways) == 0 && n.asked == nil }

// keep keeps a way to a URL, and reports whether it is the shortest.
func (n *nearer) keep(u weburl.URL, w way) bool {
	known, ok := n.ways[u]
	switch {
	case ok && known.depth <= w.depth, !ok && (len(n.ways) >= maxNearer || n.text >= nearerText):
		return false
	case n.ways == nil:
		n.ways, n.text = make(map[weburl.URL]way), 0
	}
	n.ways[u] = w
	n.text += len(u.String()) + len(w.from)
	n.name(u)
	return true
}

func (n *nearer) name(u weburl.URL) {
	if n.names == nil {
		n.names = make(map[string]struct{})
	}
	n.names[u.Origin()] = struct{}{}
}

// on reports whether URLs of o may have to be moved.
func (n *nearer) on(o *origin) bool {
	_, is := n.names[o.name]
	return is
}

// evicted takes in that the host of a name was evicted.
func (n *nearer) evicted(name string) {
	if n.asked != nil {
		n.left[name] = struct{}{}
	}
}

// nextDepth returns the depth of the next URL of o that was never leased, or less if that is only
// in the store.
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
func (o *origin) unfinished() bool {
	return o.leased > 0 || o.errands != nil || o.retry != nil || o.tried > 0
}

// descended takes in that a URL of a depth is leased for the first time.
func (o *origin) descended(depth int) {
	if o.step != nil {
		o.step.reached = depth
	}
}
