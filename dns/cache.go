package dns

import (
	"container/list"
	"net/netip"
	"slices"
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
	known map[string]*list.Element
	names *list.List // of *name, most recently used first
	era   int        // forget starts a new one
}

type name struct {
	text   string
	weight int // 1 for NameBytes
	answer
	until   time.Time
	looking bool    // a task is looking it up
	waiting aio.Lot // tasks that wait for it
}

func newCache(most int) cache {
	return cache{max: most, known: make(map[string]*list.Element), names: list.New()}
}

// get returns the answer for a name, and looks it up if it is unknown.
func (c *cache) get(t *aio.Task, text string, lookup func(t *aio.Task, text string) (answer, error)) ([]netip.Addr, error) {
	for {
		n := c.name(text)
		switch {
		case n.looking:
			// If the task that looks it up gives up, the first waiting task takes over.
			if err := n.waiting.Park(t, "a look-up by another task"); err != nil {
				return nil, err
			}
		case t.Loop().Now().Before(n.until):
			return slices.Clone(n.addrs), n.err
		default:
			if err := c.look(t, n, lookup); err != nil {
				return nil, err
			}
		}
	}
}

// look looks n up and keeps the answer. An error means that there is no answer.
func (c *cache) look(t *aio.Task, n *name, lookup func(t *aio.Task, text string) (answer, error)) error {
	n.looking = true
	defer func() {
		n.looking = false
		n.waiting.UnparkAll(nil)
	}()
	era := c.era
	a, err := lookup(t, n.text)
	if err != nil {
		return err
	}
	if c.era != era {
		a.keep = min(a.keep, minKeep)
	}
	n.answer, n.until = a, t.Loop().Now().Add(a.keep)
	if c.known[n.text] != nil && c.known[n.text].Value == n { // it may have been forgotten meanwhile
		const addr = 24
		c.total -= n.weight
		n.weight = 1 + addr*len(a.addrs)/NameBytes
		c.total += n.weight
		c.shrink(c.max)
	}
	return nil
}

// name returns the entry of a name, and makes room for a new one.
func (c *cache) name(text string) *name {
	if e := c.known[text]; e != nil {
		c.names.MoveToFront(e)
		return e.Value.(*name)
	}
	c.shrink(c.max - 1)
	n := &name{text: text, weight: 1}
	c.known[text] = c.names.PushFront(n)
	c.total++
	return n
}

// shrink forgets the least recently used names until the others weigh at most most.
func (c *cache) shrink(most int) {
	for c.total > most && c.names.Len() > 0 {
		n := c.names.Remove(c.names.Back()).(*name)
		delete(c.known, n.text)
		c.total -= n.weight
	}
}

// forget makes every name be looked up again; names being looked up now, soon.
func (c *cache) forget() {
	c.era++
	for e := c.names.Front(); e != nil; e = e.Next() {
		e.Value.(*name).until = time.Time{}
	}
}
