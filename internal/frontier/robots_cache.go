package frontier

import (
	"container/list"
	"crypto/sha256"
	"slices"
	"time"

	"github.com/weftcrawl/weft/robots"
)

const (
	// spared is the time for which unused rules are safe from being dropped. It gives the origin of
	// new rules time for a page; otherwise origins with many rules would only ever fetch rules.
	spared = time.Minute

	// noRoom is the longest that an origin waits for room for its rules, while all others are spared.
	noRoom = 30 * time.Second

	// maxStarved bounds the origins that wait in line for room, as they stay in memory. Others come
	// back after noRoom, and may wait in the store until then.
	maxStarved = 1000

	// costOfRules is the size of a cachedRules besides its rules, with its place in the list.
	costOfRules = 400
)

// robotsCache is the rules in memory, at most limit bytes of them; 0: any number. The least
// recently used are dropped first.
type robotsCache struct {
	limit   int
	bytes   int // bytes
	spared  int // of these, of rules that were never used
	asked   int // robots.txt files in flight
	freed   int // times that room may have become free, since admit
	alike   map[[sha256.Size]byte]*cachedRules
	used    list.List // of *cachedRules, the last one used at the back
	unused  list.List // of *cachedRules, as they came
	starved []*origin // origins that wait for room, as they came; at most maxStarved
}

// add returns the cached form of rules: one copy of equal rules, which whole networks of origins
// share; nil for empty rules. It returns false if there is no room.
func (c *robotsCache) add(now moment, r robots.Rules) (*cachedRules, bool) {
	if r.IsZero() {
		return nil, true
	}
	encoded, _ := r.AppendBinary(nil) // never fails
	key := sha256.Sum256(encoded)
	if s := c.alike[key]; s != nil {
		c.use(s)
		return s, true
	}
	s := &cachedRules{rules: r, key: key, size: r.Size() + costOfRules, until: now + spared}
	s.delay, _ = r.CrawlDelay()
	for c.limit > 0 && c.bytes > 0 && c.bytes+s.size > c.limit {
		if !c.dropOne(now) {
			return nil, false
		}
	}
	if c.alike == nil {
		c.alike = make(map[[sha256.Size]byte]*cachedRules)
	}
	c.alike[key] = s
	c.bytes += s.size
	c.spared += s.size
	s.place = c.unused.PushBack(s)
	return s, true
}

// use marks rules as used now.
func (c *robotsCache) use(s *cachedRules) {
	if s.until != never {
		c.unused.Remove(s.place)
		c.spared -= s.size
		c.freed++
		s.place, s.until = c.used.PushBack(s), never
	} else {
		c.used.MoveToBack(s.place)
	}
}

// full reports whether fetching rules has to wait, because there would be no room for them.
func (c *robotsCache) full(now moment) bool {
	n := len(c.alike)
	if c.limit == 0 || n == 0 {
		return false
	}
	if c.asked == 0 && (c.unused.Len() == 0 || c.unused.Front().Value.(*cachedRules).until <= now) {
		return false
	}
	return c.spared+(c.asked+1)*(c.bytes/n) > c.limit
}

// dropOne makes room, unless all rules are spared.
func (c *robotsCache) dropOne(now moment) bool {
	from := &c.used
	if from.Len() == 0 {
		from = &c.unused
	}
	s := from.Front().Value.(*cachedRules) // there are some, as bytes are held
	if s.until > now {
		return false
	}
	from.Remove(s.place)
	if s.until != never {
		c.spared -= s.size
	}
	delete(c.alike, s.key)
	c.bytes -= s.size
	s.rules, s.dropped = robots.Rules{}, true
	return true
}

// answered takes in that a robots.txt is no longer in flight.
func (c *robotsCache) answered() {
	c.asked--
	c.freed++
}

// starve has o wait for room, in line if that is not too long.
func (c *robotsCache) starve(o *origin) {
	if !o.starved && len(c.starved) < maxStarved {
		o.starved = true
		c.starved = append(c.starved, o)
	}
}

// leave takes o, which waits for room, out of the line.
func (c *robotsCache) leave(o *origin) {
	o.starved = false
	c.starved = slices.DeleteFunc(c.starved, func(other *origin) bool { return other == o })
}

// admit returns the origins that may now fetch their rules: as many as there may be room for. An
// origin for which there is no room after all waits again.
func (c *robotsCache) admit(now moment) (admitted []*origin) {
	n := min(c.freed, len(c.starved))
	c.freed = 0
	for _, o := range c.starved[:n] {
		o.starved = false
		if r := &o.robots; r.phase == unknown && r.until > now && r.tries == 0 {
			r.until = now
			admitted = append(admitted, o)
		}
	}
	clear(c.starved[:n])
	c.starved = c.starved[n:]
	return admitted
}
