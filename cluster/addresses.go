package cluster

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weftcrawl/weft/internal/shard/ownership"
	"github.com/weftcrawl/weft/internal/shard/share"
)

// addresses is this node's part in deciding which node requests from which address: see package share. NATS
// neither stores nor repeats what is said of them: whoever gets no reply asks again.
//
// Owner: the node's goroutine.
type addresses struct {
	home  *share.Home
	delay time.Duration // of an address
	out   map[ownership.Owner]*share.Message
	armed bool          // out is sent in a moment
	asked time.Duration // when others were last asked what they hold
	seen  uint64        // the revision of the bucket that the home is as of
	homes []uint64      // by partition: the epoch that the engine knows

	tooLong sync.Once // warns once of a message that is too long
}

// declareAgain is how long it takes until a node is asked again what it holds.
const declareAgain = 100 * time.Millisecond

// hearAddresses has the node hear what others say of addresses, until stop is called.
func (n *node) hearAddresses() (stop func(), err error) {
	var warned sync.Once // who writes one may write many
	s, err := n.conn.Subscribe(n.aboutAddresses(n.dir.Node), func(m *nats.Msg) {
		msg, err := share.Decode(m.Data)
		if err != nil {
			warned.Do(func() { n.warn(fmt.Errorf("crawl %s: a message about addresses: %w", n.layout, err)) })
			return
		}
		n.mail.post(func() { n.hear(msg) })
	})
	if err != nil {
		return nil, n.refused(err)
	}
	return func() { _ = s.Unsubscribe() }, nil // the connection may be gone
}

// askHomes tells the homes of addresses what the engine has to say.
func (n *node) askHomes(asks []share.Ask, delay time.Duration) {
	n.mail.post(func() { n.pass(asks, delay) })
}

// pass passes asks on to the homes. Where there is none yet, it is asked again.
func (n *node) pass(asks []share.Ask, delay time.Duration) {
	n.addresses.delay = delay
	for _, a := range asks {
		home, epoch := n.own.Owner(share.Partition(a.Addr, len(n.parts)))
		if a.Epoch = epoch; epoch > 0 {
			m := n.tell(home)
			m.Asks = append(m.Asks, a)
		}
	}
}

// tell returns the message that is sent next to a process, which may be this one.
func (n *node) tell(to ownership.Owner) *share.Message {
	n.tellSoon()
	m := n.addresses.out[to]
	if m == nil {
		m = &share.Message{From: n.own.Self(), To: to, Delay: n.addresses.delay}
		n.addresses.out[to] = m
	}
	return m
}

// tellSoon has what is to be said sent after a moment, in which more may come.
func (n *node) tellSoon() {
	if !n.addresses.armed {
		n.addresses.armed = true
		time.AfterFunc(share.Gather, func() { n.mail.post(n.tellAll) })
	}
}

// tellAll sends what is to be said.
func (n *node) tellAll() {
	a := &n.addresses
	for more := true; more; {
		for to, replies := range a.home.Replies() {
			m := n.tell(to)
			m.Replies = append(m.Replies, replies...)
		}
		m := a.out[n.own.Self()]
		delete(a.out, n.own.Self())
		if more = m != nil; more {
			n.hear(m)
		}
	}
	for to, m := range a.out {
		n.send(m)
		delete(a.out, to)
	}
	a.armed = false
}

// send sends a message, in pieces if it is long. One that cannot be sent is lost.
func (n *node) send(m *share.Message) {
	data := share.Encode(m)
	if len(data) <= n.mostData() {
		_ = n.conn.Publish(n.aboutAddresses(m.To.ID), data)
		return
	}
	if first, rest, ok := m.Halves(); ok {
		n.send(first)
		n.send(rest)
		return
	}
	n.addresses.tooLong.Do(func() {
		n.warn(fmt.Errorf("the addresses of a partition that this node holds take %d bytes, the servers take %d: requests to them wait; expected a higher max_payload, or a crawl with more partitions", len(data), n.mostData()))
	})
}

// hear takes in a message. A reply or a need of another epoch than this node has seen is dropped: it is out of
// date, or is repeated.
func (n *node) hear(m *share.Message) {
	if m.To != n.own.Self() {
		return
	}
	n.addresses.home.Hear(now(), m)
	n.tellSoon()
	late := func(part int, epoch uint64) bool {
		if part >= len(n.parts) {
			return true
		}
		owner, at := n.own.Owner(part)
		return owner != m.From || at != epoch
	}
	replies := slices.DeleteFunc(m.Replies, func(r share.Reply) bool { return late(share.Partition(r.Addr, len(n.parts)), r.Epoch) })
	if len(replies) > 0 {
		_ = n.crawl.Replied(replies) // a crawl that is over wants nothing
	}
	needs := slices.DeleteFunc(m.Needs, func(t share.Table) bool { return late(t.Part, t.Epoch) })
	if len(needs) > 0 {
		_ = n.crawl.Declare(needs, len(n.parts), func(all []share.Declaration) {
			n.mail.post(func() {
				to := n.tell(m.From)
				to.Declared = append(to.Declared, all...)
			})
		})
	}
}

// followAddresses takes in which nodes run and which homes are new. It asks the nodes what they hold while that
// has to be known.
func (n *node) followAddresses() {
	a := &n.addresses
	moved := make(map[int]bool)
	for p := range a.homes {
		if _, epoch := n.own.Owner(p); epoch != a.homes[p] {
			a.homes[p] = epoch
			moved[p] = true
		}
	}
	if len(moved) > 0 {
		_ = n.crawl.HomesMoved(moved, len(n.parts)) // a crawl that is over wants nothing
	}
	if seen := n.seen.now(); seen != a.seen {
		a.seen = seen
		a.home.See(now(), seen, n.own.Running())
		n.tellSoon()
	}
	if !a.home.Open() || now()-a.asked < declareAgain {
		return
	}
	a.asked = now()
	for to, needs := range a.home.Needs() {
		m := n.tell(to)
		m.Needs = append(m.Needs, needs...)
	}
	time.AfterFunc(declareAgain, func() { n.mail.post(func() {}) })
}
