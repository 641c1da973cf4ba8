package engine

import (
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/shard/share"
)

// sharing is what a node asks others about addresses: see NodeConfig.Ask. The zero sharing asks nothing.
type sharing struct {
	holder *share.Holder
	later  *aio.Callback // tellHomes
	at     time.Time     // of later
}

// shareAddresses has the frontier ask before it requests from an address.
func (d *Coordinator) shareAddresses() {
	if d.node.cfg.Ask == nil {
		return
	}
	h := share.NewHolder(gate{d.frontier, d})
	d.node.sharing.holder = h
	d.frontier.ShareBy(func(a netip.Addr) bool { return h.Want(d.clock.now(), a) })
}

// gate is the frontier, as package share sees it.
type gate struct {
	*frontier.Frontier
	d *Coordinator
}

// Use is the frontier's, except that a node that starts no fetch wants no address: others may have it.
func (g gate) Use(now time.Time, addr netip.Addr) (wanted, rests bool, soon time.Time) {
	wanted, rests, soon = g.Frontier.Use(now, addr)
	if len(g.d.pauses) > 0 || g.d.ending.draining {
		return false, rests, time.Time{}
	}
	return wanted, rests, soon
}

// wantAgain asks again for the addresses that the node gave up because it started no fetch.
func (d *Coordinator) wantAgain() {
	if d.node.sharing.holder != nil && len(d.pauses) == 0 {
		d.frontier.AskAgain(d.clock.now())
	}
}

// tellHomes tells the homes of addresses what is wanted and what is given up, now and whenever time alone
// changes that.
func (d *Coordinator) tellHomes() {
	s := &d.node.sharing
	if s.holder == nil {
		return
	}
	d.ask(s.holder.Tick(d.clock.now()))
	at, ok := s.holder.Next()
	if s.later != nil {
		if ok && at.Equal(s.at) {
			return
		}
		s.later.Cancel()
		s.later = nil
	}
	if ok {
		s.at = at
		s.later = d.loop.CallAt(d.clock.onLoop(at), func() {
			s.later = nil
			d.Dispatch() // hosts may wait for fewer asks to be open
		})
	}
}

func (d *Coordinator) ask(asks []share.Ask) {
	if len(asks) > 0 {
		d.node.cfg.Ask(asks, d.frontier.AddressDelay())
	}
}

// hear takes in what the homes of addresses have said.
func (d *Coordinator) hear(replies []share.Reply) {
	d.ask(d.node.sharing.holder.Replied(d.clock.now(), replies))
	d.Dispatch()
}
