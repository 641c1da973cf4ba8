package share

import (
	"net/netip"
	"time"

	"github.com/weftcrawl/weft/internal/heap"
)

// Gate leases requests to addresses: it is a *frontier.Frontier. Each address is shut at first.
type Gate interface {
	// Admit lets requests to an address start; if it waits, after the delay.
	Admit(now time.Time, addr netip.Addr, waits bool)
	// Shut ends that.
	Shut(now time.Time, addr netip.Addr)
	// Use says whether an address could be requested now, or is waited for, whether it rests, and
	// when a host there will have waited for its own delay; zero: none waits for that alone.
	Use(now time.Time, addr netip.Addr) (wanted, rests bool, soon time.Time)
}

const (
	// look is the time between two looks of a holder whether an address is still in use.
	look = 5 * time.Second

	// restless is the same while others wait for it.
	restless = 20 * time.Millisecond

	// prompt is the time within which an ask has its reply, if its home replies at all.
	prompt = 250 * time.Millisecond

	// mostUnanswered bounds the asks that have no reply yet, and are younger than that.
	mostUnanswered = 256
)

// Holder is a process's part: it asks for the addresses that its gate wants, and gives them up.
//
// Invariant: an address is admitted if and only if it is held, and not to be given up.
type Holder struct {
	gate       Gate
	number     uint64 // of the last ask
	unanswered int    // see mostUnanswered
	all        map[netip.Addr]*held
	due        heap.Heap[*held, byTime]
}

// held is an address that is asked for or held.
type held struct {
	addr       netip.Addr
	index      int32
	phase      phase
	unanswered bool      // it counts in Holder.unanswered
	yields     bool      // others wait for it
	first      uint64    // number of the first ask since it is wanted; 0: none
	last       uint64    // number of the last ask
	since      time.Time // when it was asked for, or granted
	at         time.Time // when something is to be done
}

// phase is the phase of an address at a holder.
type phase uint8

const (
	asking  phase = iota
	holding       // requests may start
	resting       // no more: it is given up once it rests
)

type byTime struct{}

func (byTime) Before(a, b *held) bool { return a.at.Before(b.at) }
func (byTime) Moved(s *held, i int)   { s.index = int32(i) }

// NewHolder returns a holder of nothing.
func NewHolder(g Gate) *Holder { return &Holder{gate: g, all: make(map[netip.Addr]*held)} }

// Len returns the number of addresses that are asked for or held.
func (h *Holder) Len() int { return len(h.all) }

// Want has an address asked for at the next Tick. It reports false if there are too many already:
// then those that wait for replies come first.
func (h *Holder) Want(now time.Time, addr netip.Addr) bool {
	if h.all[addr] != nil {
		return true
	}
	if h.unanswered >= mostUnanswered {
		return false
	}
	s := &held{addr: addr}
	h.all[addr] = s
	h.due.Push(s)
	h.begin(now, s)
	return true
}

// begin has an address asked for.
func (h *Holder) begin(now time.Time, s *held) {
	s.phase, s.yields, s.first = asking, false, 0
	h.ask(now, s)
}

// ask has the home of an address asked at the next Tick.
func (h *Holder) ask(now time.Time, s *held) {
	if !s.unanswered {
		s.unanswered = true
		h.unanswered++
	}
	s.since = now
	h.wake(s, now)
}

// Moved has the addresses asked for again whose homes are new: those of some partitions, of n.
func (h *Holder) Moved(now time.Time, parts map[int]bool, n int) {
	for _, s := range h.all {
		if s.phase == asking && parts[Partition(s.addr, n)] {
			h.ask(now, s)
		}
	}
}

func (h *Holder) wake(s *held, at time.Time) {
	s.at = at
	h.due.Set(int(s.index), s)
}

// replied takes in that an ask has its reply, or will soon have none.
func (h *Holder) replied(s *held) {
	if s.unanswered {
		s.unanswered = false
		h.unanswered--
	}
}

// Next returns when Tick has something to do.
func (h *Holder) Next() (at time.Time, ok bool) {
	if h.due.Len() == 0 {
		return at, false
	}
	return h.due.First().at, true
}

// Tick returns what is to be told to homes now.
func (h *Holder) Tick(now time.Time) (asks []Ask) {
	for h.due.Len() > 0 && !h.due.First().at.After(now) {
		s := h.due.First()
		if s.phase == holding && s.yields && !now.Before(s.since.Add(Quantum)) {
			s.phase = resting
			h.gate.Shut(now, s.addr)
		}
		wanted, rests, soon := h.gate.Use(now, s.addr)
		switch {
		case s.phase == asking && !wanted:
			if s.first != 0 {
				asks = append(asks, s.release())
			}
			h.forget(s)
		case s.phase == asking:
			if !now.Before(s.since.Add(prompt)) {
				h.replied(s)
			}
			asks = append(asks, h.want(s))
			h.wake(s, now.Add(h.patience(s)))
		case rests && (s.phase == resting || !wanted && !s.continues(now, soon)):
			asks = append(asks, s.release())
			if s.phase == holding {
				h.gate.Shut(now, s.addr)
			}
			if wanted {
				h.begin(now, s)
			} else {
				h.forget(s)
			}
		case s.yields:
			h.wake(s, now.Add(restless))
		default:
			h.wake(s, now.Add(look))
		}
	}
	return asks
}

// continues reports whether a quantum goes on although nothing is to be requested now: something
// will be before it is over. Else whoever has few hosts there, with long delays, would have a
// quantum for each request.
func (s *held) continues(now, soon time.Time) bool {
	return s.yields && soon.After(now) && soon.Before(s.since.Add(Quantum))
}

// patience is the time for which an ask waits for its reply.
func (h *Holder) patience(s *held) time.Duration {
	if s.unanswered {
		return prompt
	}
	return again
}

// want asks for an address.
func (h *Holder) want(s *held) Ask {
	h.number++
	s.last = h.number
	if s.first == 0 {
		s.first = s.last
	}
	return Ask{Kind: Want, Addr: s.addr, Number: s.last}
}

func (s *held) release() Ask { return Ask{Kind: Release, Addr: s.addr, Number: s.last} }

func (h *Holder) forget(s *held) {
	h.replied(s)
	h.due.Remove(int(s.index))
	delete(h.all, s.addr)
}

// Replied takes in what homes have said, and returns what is to be told to them. The replies are of
// homes that have their partitions as far as the process has seen.
func (h *Holder) Replied(now time.Time, replies []Reply) (asks []Ask) {
	for _, r := range replies {
		s := h.all[r.Addr]
		switch {
		case s == nil:
			if r.Verdict == Yield { // what was said of it is lost
				asks = append(asks, Ask{Kind: Release, Addr: r.Addr, Number: h.number})
			}
		case r.Verdict == Yield:
			if s.phase == holding && !s.yields {
				s.yields = true
				h.wake(s, now)
			}
		case s.phase != asking || s.first == 0 || r.Number < s.first:
		case r.Verdict == Denied:
			h.replied(s)
			h.wake(s, now.Add(again))
		default:
			h.replied(s)
			s.phase, s.since = holding, now
			h.gate.Admit(now, s.addr, r.Verdict == Waits)
			h.wake(s, now.Add(look))
		}
	}
	return asks
}

// Declare returns what is held of tables, of n partitions in all.
func (h *Holder) Declare(tables []Table, n int) []Declaration {
	all := make([]Declaration, len(tables))
	index := make(map[int]int, len(tables))
	for i, t := range tables {
		all[i].Table = t
		index[t.Part] = i
	}
	for _, s := range h.all {
		if i, ok := index[Partition(s.addr, n)]; ok && s.phase != asking {
			all[i].Held = append(all[i].Held, Held{s.addr, s.last})
		}
	}
	return all
}
