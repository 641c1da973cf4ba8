package dns

import (
	"net/netip"
	"strings"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// Bounds on how long an answer is kept, whatever its TTL.
const (
	minKeep        = 5 * time.Second
	maxKeep        = 24 * time.Hour
	maxKeepMissing = 5 * time.Minute
	maxKeepHalf    = time.Minute // the other family has no answer
	keepFailure    = 5 * time.Second
)

// answer is the result of a look-up.
type answer struct {
	addrs []netip.Addr
	err   error
	keep  time.Duration
}

// cache keeps answers, and has each name looked up once at a time.
type cache struct {
	max   int // weight of all names
	total int
	known map[string]*name
	ring  *name     // no name, but the end of the ring of all: the most recently used is older
	epoch time.Time // from which until counts
	era   int       // forget starts a new one
}

// name is one that was looked up, and its answer. A crawl may have a hundred thousand: see
// NameBytes.
type name struct {
	text         string
	addrs        string // packed
	err          error
	until        time.Duration // the answer holds
	newer, older *name
	look         *look // that runs; nil: none
}

// look is a look-up by a task.
type look struct{ waiting aio.Lot } // others that wait for it

func newCache(most int, epoch time.Time) cache {
	c := cache{max: most, known: make(map[string]*name), ring: new(name), epoch: epoch}
	c.ring.newer, c.ring.older = c.ring, c.ring
	return c
}

// get returns the answer for a name, and looks it up if it is unknown.
func (c *cache) get(t *aio.Task, text string, lookup func(t *aio.Task, text string) (answer, error)) ([]netip.Addr, error) {
	for {
		n := c.name(text)
		switch {
		case n.look != nil:
			// If the task that looks it up gives up, the first waiting task takes over.
			if err := n.look.waiting.Park(t, "a look-up by another task"); err != nil {
				return nil, err
			}
		case t.Loop().Now().Sub(c.epoch) < n.until:
			return unpack(n.addrs), n.err
		default:
			if err := c.ask(t, n, lookup); err != nil {
				return nil, err
			}
		}
	}
}

// ask looks n up and keeps the answer. An error means that there is no answer.
func (c *cache) ask(t *aio.Task, n *name, lookup func(t *aio.Task, text string) (answer, error)) error {
	n.look = new(look)
	defer func() {
		n.look.waiting.UnparkAll(nil)
		n.look = nil
	}()
	era := c.era
	a, err := lookup(t, n.text)
	if err != nil {
		return err
	}
	if c.era != era {
		a.keep = min(a.keep, minKeep)
	}
	before := n.weight()
	n.addrs, n.err, n.until = pack(a.addrs), a.err, t.Loop().Now().Add(a.keep).Sub(c.epoch)
	if c.known[n.text] == n { // it may have been forgotten meanwhile
		c.total += n.weight() - before
		c.shrink(c.max)
	}
	return nil
}

// name returns the entry of a name, and makes room for a new one.
func (c *cache) name(text string) *name {
	n := c.known[text]
	if n == nil {
		c.shrink(c.max - 1)
		n = &name{text: strings.Clone(text)} // it may be part of a long URL
		c.known[n.text] = n
		c.total += n.weight()
	} else {
		n.leave()
	}
	n.newer, n.older = c.ring, c.ring.older
	n.newer.older, n.older.newer = n, n
	return n
}

// leave takes n out of the ring.
func (n *name) leave() { n.newer.older, n.older.newer = n.older, n.newer }

// weight is that of a name: 1 for NameBytes.
func (n *name) weight() int { return 1 + (len(n.text)+len(n.addrs))/NameBytes }

// shrink forgets the least recently used names until the others weigh at most most.
func (c *cache) shrink(most int) {
	for c.total > most && len(c.known) > 0 {
		n := c.ring.newer
		n.leave()
		delete(c.known, n.text)
		c.total -= n.weight()
	}
}

// forget makes every name be looked up again; names being looked up now, soon.
func (c *cache) forget() {
	c.era++
	for _, n := range c.known {
		n.until = 0
	}
}

// pack returns addresses in as few bytes as possible.
func pack(addrs []netip.Addr) string {
	var b []byte
	for _, a := range addrs {
		text, _ := a.MarshalBinary() // never fails
		b = append(append(b, byte(len(text))), text...)
	}
	return string(b)
}

// unpack returns what pack was given.
func unpack(packed string) (addrs []netip.Addr) {
	for len(packed) > 0 {
		end := 1 + int(packed[0])
		var a netip.Addr
		_ = a.UnmarshalBinary([]byte(packed[1:end])) // of pack
		addrs, packed = append(addrs, a), packed[end:]
	}
	return addrs
}
