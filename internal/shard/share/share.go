package share

import (
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/internal/shard/ownership"
	"github.com/weftcrawl/weft/internal/shard/partition"
)

const (
	// Quantum is the time for which a node may start requests to an address while others wait for
	// it.
	Quantum = 2 * time.Second

	// Gather is the time for which a message waits for more to the same process.
	Gather = 5 * time.Millisecond

	// again is the time until an ask is repeated: it may be lost, and so may its reply.
	again = time.Second
)

// Partition returns the partition, of n, whose owner is the home of an address.
func Partition(a netip.Addr, n int) int { return partition.Of(a.String(), n) }

// Kind is the purpose of an ask.
type Kind byte

const (
	Want    Kind = iota // the address is to be the process's
	Release             // it is not any more, or not wanted any more
	kinds
)

// Ask is a word of a process to the home of an address.
type Ask struct {
	Kind   Kind
	Addr   netip.Addr
	Number uint64 // grows with each ask of a process; of a release: that of the last
	Epoch  uint64 // of the home
}

// Verdict is the answer of a home about an address.
type Verdict byte

const (
	Denied  Verdict = iota // it is another's: wait
	Granted                // it is the process's
	Waits                  // the same, and a delay begins now
	Yield                  // others wait for it
	verdicts
)

// Reply is a word of the home of an address to a process.
type Reply struct {
	Verdict Verdict
	Addr    netip.Addr
	Number  uint64 // of the ask
	Epoch   uint64 // of the home
}

// Table names the addresses of a partition, and the epoch of their home.
type Table struct {
	Part  int
	Epoch uint64
}

// Held is an address that a process holds, and the number of its last ask for it.
type Held struct {
	Addr   netip.Addr
	Number uint64
}

// Declaration is the addresses of a table that a process holds.
type Declaration struct {
	Table
	Held []Held
}

// Message is all that a process tells another one at once.
type Message struct {
	From, To ownership.Owner
	Delay    time.Duration // of an address, as From keeps it
	Asks     []Ask
	Replies  []Reply
	Needs    []Table // From is their home: what does To hold of them?
	Declared []Declaration
}

// Halves returns a message in two parts; not ok: it cannot be divided.
func (m *Message) Halves() (first, rest *Message, ok bool) {
	first, rest = &Message{From: m.From, To: m.To, Delay: m.Delay}, &Message{From: m.From, To: m.To, Delay: m.Delay}
	first.Asks, rest.Asks = halves(m.Asks)
	first.Replies, rest.Replies = halves(m.Replies)
	first.Needs, rest.Needs = halves(m.Needs)
	first.Declared, rest.Declared = halves(m.Declared)
	return first, rest, max(len(m.Asks), len(m.Replies), len(m.Needs), len(m.Declared)) > 1
}

func halves[T any](all []T) (first, rest []T) { return all[:len(all)/2], all[len(all)/2:] }
