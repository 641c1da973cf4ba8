package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/shard/ownership"
	"github.com/weftcrawl/weft/internal/shard/share"
)

// addresses is this node's part in deciding which node requests from which address: see package
// share. NATS neither stores nor repeats what is said of them: whoever gets no reply asks again.
//
// Owner: the node's loop.
type addresses struct {
	loop     *loop
	remote   *remote
	own      *ownership.Node
	crawl    *engine.Node
	warnings *warnings

	home  *share.Home
	delay time.Duration // of an address
	out   map[ownership.Owner]*share.Message
	armed bool          // out is sent in a moment
	asked time.Duration // when others were last asked what they hold
	seen  uint64        // the revision of the bucket that the home is as of
	homes []uint64      // by partition: the epoch that the engine knows
}

func newAddresses(l *loop, r *remote, own *ownership.Node, crawl *engine.Node, w *warnings) *addresses {
	return &addresses{
		loop: l, remote: r, own: own, crawl: crawl, warnings: w,
		home: share.NewHome(own.Partitions()), out: make(map[ownership.Owner]*share.Message), homes: make([]uint64, own.Partitions()),
	}
}

// declareAgain is the time until a node is asked again for the addresses that it holds.
const declareAgain = 100 * time.Millisecond

// listen has the loop hear what others say of addresses, until stop is called.
func (a *addresses) listen() (stop func(), err error) {
	s, err := a.remote.servers.conn.Subscribe(a.remote.name.aboutAddresses(a.own.Self().ID), func(m *nats.Msg) {
		msg, err := share.Decode(m.Data)
		if err != nil { // who writes one may write many
			a.warnings.once("addresses", func() error {
				return fmt.Errorf("crawl %s: a message about addresses: %w", a.remote.name, err)
			})
			return
		}
		a.loop.post(func() { a.hear(msg) })
	})
	if err != nil {
		return nil, a.remote.servers.refused(err)
	}
	return func() { _ = s.Unsubscribe() }, nil // the connection may be gone
}

// mayTell refuses a login that may not publish or receive the messages between nodes. Nobody
// answers these, so that otherwise nobody would notice.
func (a *addresses) mayTell(ctx context.Context) error {
	servers := a.remote.servers
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := servers.conn.Publish(a.remote.name.aboutAddresses("nobody"), nil)
	if err == nil {
		err = servers.conn.FlushWithContext(ctx)
	}
	if last := servers.conn.LastError(); err == nil && errors.Is(last, nats.ErrPermissionViolation) {
		servers.login.lacks(last)
		err = servers.login.lacked()
	}
	if err != nil {
		return servers.refused(err)
	}
	return nil
}

// pass tells the homes of addresses what the engine has to say. Where there is no home yet, the
// engine asks again.
func (a *addresses) pass(asks []share.Ask, delay time.Duration) {
	a.delay = delay
	for _, ask := range asks {
		home, epoch := a.own.Owner(share.Partition(ask.Addr, a.own.Partitions()))
		if ask.Epoch = epoch; epoch > 0 {
			m := a.next(home)
			m.Asks = append(m.Asks, ask)
		}
	}
}

// next returns the message that is sent next to a process, which may be this one.
func (a *addresses) next(to ownership.Owner) *share.Message {
	a.sendSoon()
	m := a.out[to]
	if m == nil {
		m = &share.Message{From: a.own.Self(), To: to, Delay: a.delay}
		a.out[to] = m
	}
	return m
}

// sendSoon has what is to be said sent after a moment, in which more may come.
func (a *addresses) sendSoon() {
	if !a.armed {
		a.armed = true
		a.loop.after(share.Gather, a.sendAll)
	}
}

// sendAll sends what is to be said.
func (a *addresses) sendAll() {
	for more := true; more; {
		for to, replies := range a.home.Replies() {
			m := a.next(to)
			m.Replies = append(m.Replies, replies...)
		}
		m := a.out[a.own.Self()]
		delete(a.out, a.own.Self())
		if more = m != nil; more {
			a.hear(m)
		}
	}
	for to, m := range a.out {
		a.send(m)
		delete(a.out, to)
	}
	a.armed = false
}

// send sends a message, in pieces if it is long. One that cannot be sent is lost.
func (a *addresses) send(m *share.Message) {
	data, most := share.Encode(m), a.remote.servers.mostData()
	if len(data) <= most {
		_ = a.remote.servers.conn.Publish(a.remote.name.aboutAddresses(m.To.ID), data)
		return
	}
	if first, rest, ok := m.Halves(); ok {
		a.send(first)
		a.send(rest)
		return
	}
	a.warnings.once("long addresses", func() error {
		return fmt.Errorf("the addresses of a partition that this node holds take %d bytes, the servers take %d: requests to them wait; expected a higher max_payload, or a crawl with more partitions", len(data), most)
	})
}

// hear takes in a message. A reply or a need of another epoch than this node has seen is dropped:
// it is out of date, or is repeated.
func (a *addresses) hear(m *share.Message) {
	if m.To != a.own.Self() {
		return
	}
	a.home.Hear(now(), m)
	a.sendSoon()
	partitions := a.own.Partitions()
	late := func(part int, epoch uint64) bool {
		if part >= partitions {
			return true
		}
		owner, at := a.own.Owner(part)
		return owner != m.From || at != epoch
	}
	replies := slices.DeleteFunc(m.Replies, func(r share.Reply) bool { return late(share.Partition(r.Addr, partitions), r.Epoch) })
	if len(replies) > 0 {
		_ = a.crawl.Replied(replies) // a crawl that is over wants nothing
	}
	needs := slices.DeleteFunc(m.Needs, func(t share.Table) bool { return late(t.Part, t.Epoch) })
	if len(needs) > 0 {
		_ = a.crawl.Declare(needs, partitions, func(all []share.Declaration) {
			a.loop.post(func() {
				to := a.next(m.From)
				to.Declared = append(to.Declared, all...)
			})
		})
	}
}

// take makes this node the home of the addresses of a partition, as it owns that from now on.
func (a *addresses) take(o ownership.Order) { a.home.Own(now(), o.Partition, o.Epoch, o.Before == 0) }

// drop takes in that another node is that home.
func (a *addresses) drop(p int) { a.home.Disown(p) }

// follow takes in which nodes run and which homes are new, as the bucket shows it at a revision. It
// asks the nodes what they hold while that has to be known.
func (a *addresses) follow(seen uint64) {
	moved := make(map[int]bool)
	for p := range a.homes {
		if _, epoch := a.own.Owner(p); epoch != a.homes[p] {
			a.homes[p] = epoch
			moved[p] = true
		}
	}
	if len(moved) > 0 {
		_ = a.crawl.HomesMoved(moved, len(a.homes)) // a crawl that is over wants nothing
	}
	if seen != a.seen {
		a.seen = seen
		a.home.See(now(), seen, a.own.Running())
		a.sendSoon()
	}
	if a.home.Whole() || now()-a.asked < declareAgain {
		return
	}
	a.asked = now()
	for to, needs := range a.home.Needs() {
		m := a.next(to)
		m.Needs = append(m.Needs, needs...)
	}
	a.loop.after(declareAgain, func() {})
}
