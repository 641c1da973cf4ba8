package engine

import (
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/shard/share"
)

// addresses is the use of addresses that a node shares with others: see NodeConfig.Ask. nil asks
// nothing. Owner: the coordinator's loop.
type addresses struct {
	clock    *clock
	frontier *frontier.Frontier
	starts   func() bool // fetches: a node that starts none wants no address
	ask      func(asks []share.Ask, delay time.Duration)
	dispatch func()

	holder *share.Holder
	later  *aio.Callback // tell
	at     time.Time     // of later
}

// start has the frontier ask before it requests from an address.
func (a *addresses) start() {
	a.holder = share.NewHolder(gate{a.frontier.Addresses(), a.starts})
	a.frontier.Addresses().Share(func(addr netip.Addr) bool { return a.holder.Want(a.clock.now(), addr) })
}

// gate is the addresses of the frontier, as package share sees them.
type gate struct {
	*frontier.Addresses
	starts func() bool
}

// Use is that of the frontier, except that a node that starts no fetch wants no address: others may
// have it.
func (g gate) Use(now time.Time, addr netip.Addr) (wanted, rests bool, soon time.Time) {
	wanted, rests, soon = g.Addresses.Use(now, addr)
	if !g.starts() {
		return false, rests, time.Time{}
	}
	return wanted, rests, soon
}

// askAgain asks again for the addresses that the node gave up because it started no fetch.
func (a *addresses) askAgain() {
	if a != nil {
		a.frontier.Addresses().AskAgain(a.clock.now())
	}
}

// tell tells the homes of addresses what is wanted and what is given up, now and whenever time
// alone changes that.
func (a *addresses) tell() {
	if a == nil {
		return
	}
	a.send(a.holder.Tick(a.clock.now()))
	at, ok := a.holder.Next()
	if a.later != nil {
		if ok && at.Equal(a.at) {
			return
		}
		a.later.Cancel()
		a.later = nil
	}
	if ok {
		a.at = at
		a.later = a.clock.loop.CallAt(a.clock.onLoop(at), func() {
			a.later = nil
			a.dispatch() // hosts may wait for fewer asks to be open
		})
	}
}

func (a *addresses) send(asks []share.Ask) {
	if len(asks) > 0 {
		a.ask(asks, a.frontier.Addresses().Delay())
	}
}

// hear takes in what the homes of addresses have said.
func (a *addresses) hear(replies []share.Reply) {
	a.send(a.holder.Replied(a.clock.now(), replies))
	a.dispatch()
}

// moved has the new homes of addresses asked again.
func (a *addresses) moved(parts map[int]bool, partitions int) {
	a.holder.Moved(a.clock.now(), parts, partitions)
	a.tell()
}
