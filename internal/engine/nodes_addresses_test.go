package engine_test

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/shard/ownership"
	"github.com/weftcrawl/weft/internal/shard/share"
)

func (m *member) process() ownership.Owner { return ownership.Owner{ID: m.name, Incarnation: 1} }

func (c *nodes) now() time.Duration { return time.Duration(c.loop.Now().UnixNano()) }

// own makes a node the home of the addresses of a partition, and asks the others what they hold.
func (c *nodes) own(p int, m *member) {
	first := c.owner[p] == nil
	if !first {
		c.owner[p].home.Disown(p)
	}
	c.revision++
	c.owner[p], c.epoch[p] = m, c.revision
	m.home.Own(c.now(), p, c.revision, first)
	var running []ownership.Owner
	for _, m := range c.all {
		if !m.dead {
			running = append(running, m.process())
		}
	}
	for _, m := range c.all {
		m.home.See(c.now(), c.revision, running)
	}
	if !c.shares {
		return
	}
	for to, needs := range m.home.Needs() {
		c.say(&share.Message{From: m.process(), To: to, Needs: needs})
	}
}

// askHomes tells the homes of addresses what a node has to say.
func (m *member) askHomes(asks []share.Ask, delay time.Duration) {
	for _, a := range asks {
		if a.Kind == share.Want {
			m.wants++
		}
		p := share.Partition(a.Addr, nodePartitions)
		if home := m.owner[p]; home != nil {
			a.Epoch = m.epoch[p]
			m.say(&share.Message{From: m.process(), To: home.process(), Delay: delay, Asks: []share.Ask{a}})
		}
	}
}

// say brings a message to a node, some time later.
func (c *nodes) say(msg *share.Message) {
	i := slices.IndexFunc(c.all, func(m *member) bool { return m.process() == msg.To })
	to := c.all[i]
	c.loop.CallLater(time.Duration(c.rng.IntN(30))*time.Millisecond, func() {
		if !to.dead {
			to.hear(msg)
		}
	})
}

// hear takes in a message.
func (m *member) hear(msg *share.Message) {
	m.home.Hear(m.now(), msg)
	for to, replies := range m.home.Replies() {
		m.say(&share.Message{From: m.process(), To: to, Replies: replies})
	}
	replies := slices.DeleteFunc(msg.Replies, func(r share.Reply) bool { return r.Epoch != m.epoch[share.Partition(r.Addr, nodePartitions)] })
	if err := m.crawl.Replied(replies); err != nil && !errors.Is(err, engine.ErrEnded) {
		m.t.Error(err)
	}
	if len(msg.Needs) > 0 {
		_ = m.crawl.Declare(msg.Needs, nodePartitions, func(all []share.Declaration) {
			// A crawl that is over holds nothing.
			m.say(&share.Message{From: m.process(), To: msg.From, Declared: all})
		})
	}
}

// TestAddressOfNodes: two nodes with sites of one address keep its delay together, to the
// nanosecond, while partitions move.
func TestAddressOfNodes(t *testing.T) {
	t.Parallel()
	web := nodeWeb(3)
	web.Rates.Shared = 1
	o := nodeOptions
	o.Pace.Delay = 100 * time.Millisecond
	_, want, _ := crawltest.CrawlSynthetic(t, web, o)
	c, log := runNodes(t, web, 2, o, nil)
	if twice := c.compareNodes(t, want); len(twice) > 0 {
		t.Errorf("two nodes have fetched %q", twice)
	}
	for addr, m := range log.Politeness().Addresses {
		t.Logf("%v: %+v", addr, m)
		if m.SmallGap < o.Pace.Delay || m.MostAtOnce > 1 {
			t.Errorf("%v was asked again after %v, %d times at once", addr, m.SmallGap, m.MostAtOnce)
		}
	}
	for _, m := range c.all {
		if m.sum.Pages < 20 {
			t.Errorf("%s: %+v", m.name, m.sum)
		}
	}
}

// TestAddressOfPausedNode: a node that is paused asks for no turn at an address, and has its turns
// again when it goes on.
func TestAddressOfPausedNode(t *testing.T) {
	t.Parallel()
	web := nodeWeb(3)
	web.Rates.Shared = 1
	o := nodeOptions
	o.Pace.Delay = 100 * time.Millisecond
	_, want, _ := crawltest.CrawlSynthetic(t, web, o)
	c, _ := runNodes(t, web, 2, o, func(task *aio.Task, c *nodes) error {
		pause := func(m *member, on bool) {
			_ = off(task, func(ctx context.Context) error {
				return m.crawl.Crawl().Ask(ctx, func(d *engine.Coordinator) { d.Pause(engine.PausedByHand, on) })
			})
		}
		a, b := c.all[0], c.all[1]
		if err := cmp.Or(c.until(task, a, 10), c.until(task, b, 10)); err != nil {
			return err
		}
		pause(b, true)
		if err := task.Sleep(share.Quantum); err != nil { // what it has begun ends
			return err
		}
		before := b.wants
		if err := task.Sleep(10 * time.Second); err != nil {
			return err
		}
		if b.wants > before {
			t.Errorf("a paused node has asked for %d turns", b.wants-before)
		}
		pause(b, false)
		return c.until(task, b, 30)
	})
	c.compareNodes(t, want)
}
