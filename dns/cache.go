package dns

import (
	"container/list"
	"net/netip"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// How long an answer is believed, whatever its TTL says.
const (
	minKeep        = 5 * time.Second
	maxKeep        = 24 * time.Hour
	maxKeepMissing = 5 * time.Minute
	maxKeepHalf    = time.Minute // there was no answer for the other family
	keepFailure    = 5 * time.Second
)

// answer is what a look-up has come to.
type answer struct {
	addrs []netip.Addr
	err   error
	keep  time.Duration
}

// cache remembers answers, and has each name looked up once at a time.
type cache struct {
	max   int
	known map[string]*list.Element
	names *list.List // of *name, the one used last in front
	era   int        // ended by forget
}

type name struct {
	text string
	answer
	until   time.Time
	looking bool    // some task is at it
	waiting aio.Lot // for that
}

func newCache(most int) cache {
	return cache{max: most, known: make(map[string]*list.Element), names: list.New()}
}

// get returns the answer for a name, looking it up if it is not known.
func (c *cache) get(t *aio.Task, text string, lookup func(t *aio.Task, text string) (answer, error)) ([]netip.Addr, error) {
	for {
		n := c.name(text)
		switch {
		case n.looking:
			// If the task that is at it gives up, the first of those that wait goes on.
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

// look looks n up and notes the answer. An error is that there is none.
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

// name returns the entry of a name, for which it makes room.
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

// forget has every name looked up again; those that are being looked up, soon.
func (c *cache) forget() {
	c.era++
	for e := c.names.Front(); e != nil; e = e.Next() {
		e.Value.(*name).until = time.Time{}
	}
}
