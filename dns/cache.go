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
	max   int
	known map[string]*list.Element
	names *list.List // of *name, most recently used first
	era   int        // forget starts a new one
}

type name struct {
	text string
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
	return nil
}

// name returns the entry of a name, and makes room for a new one.
func (c *cache) name(text string) *name {
	if e := c.known[text]; e != nil {
		c.names.MoveToFront(e)
		return e.Value.(*name)
	}
	if c.names.Len() >= c.max {
		delete(c.known, c.names.Remove(c.names.Back()).(*name).text)
	}
	n := &name{text: text}
	c.known[text] = c.names.PushFront(n)
	return n
}

// forget makes every name be looked up again; names being looked up now, soon.
func (c *cache) forget() {
	c.era++
	for e := c.names.Front(); e != nil; e = e.Next() {
		e.Value.(*name).until = time.Time{}
	}
}
