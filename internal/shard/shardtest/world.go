package shardtest

import (
	"container/heap"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// Network is the behaviour of the network: delays and losses of messages.
type Network struct {
	Latency time.Duration // of a message, one way
	// Rough makes latencies vary, so that messages overtake each other.
	Rough   bool
	Late    float64 // share of messages that take up to LateBy longer
	LateBy  time.Duration
	Lost    float64       // share of messages that are lost; events of a watch are late instead
	Twice   float64       // share of events of a watch that come twice
	TimeOut time.Duration // of a request; 0: 1 s
	// Batch is the time for which a process collects the events of its watch before it acts on them.
	Batch time.Duration
}

// World is a cluster on virtual time.
type World struct {
	Rand      *rand.Rand
	Now       time.Duration
	Store     Store
	Network   Network
	Processes []*Process
	// Each is called after each step, if it is set.
	Each func()
	// Calls counts requests to the store and the streams; Events, what watches have shown.
	Calls, Events int

	queue    schedule
	sequence int
}

// New returns a world without processes.
func New(seed uint64, network Network) *World {
	if network.TimeOut == 0 {
		network.TimeOut = time.Second
	}
	return &World{Rand: rand.New(rand.NewPCG(seed, 21)), Network: network, Store: Store{entries: make(map[string]ownership.Entry), Writes: make(map[string]int)}}
}

// step is something that happens.
type step struct {
	at       time.Duration
	sequence int // steps of one instant happen in the order in which they were planned
	do       func()
}

type schedule []step

func (s schedule) Len() int { return len(s) }
func (s schedule) Less(i, j int) bool {
	if s[i].at != s[j].at {
		return s[i].at < s[j].at
	}
	return s[i].sequence < s[j].sequence
}
func (s schedule) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *schedule) Push(x any)   { *s = append(*s, x.(step)) }
func (s *schedule) Pop() any {
	last := (*s)[len(*s)-1]
	(*s)[len(*s)-1] = step{}
	*s = (*s)[:len(*s)-1]
	return last
}

// After calls a function when time has passed.
func (w *World) After(d time.Duration, do func()) {
	w.sequence++
	heap.Push(&w.queue, step{w.Now + d, w.sequence, do})
}

// Run lets time pass.
func (w *World) Run(d time.Duration) { w.Until(d, func() bool { return false }) }

// Until lets time pass until something is true, at most d; it reports whether it is.
func (w *World) Until(d time.Duration, done func() bool) bool {
	for end := w.Now + d; ; {
		if done() {
			return true
		}
		if len(w.queue) == 0 || w.queue[0].at > end {
			w.Now = end
			return done()
		}
		next := heap.Pop(&w.queue).(step)
		w.Now = next.at
		next.do()
		if w.Each != nil {
			w.Each()
		}
	}
}

// Chance is true in a share of cases.
func (w *World) Chance(share float64) bool { return share > 0 && w.Rand.Float64() < share }

// UpTo returns a random time below d.
func (w *World) UpTo(d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	return time.Duration(w.Rand.Int64N(int64(d)))
}

// delay is the time that a message takes.
func (w *World) delay() time.Duration {
	d := w.Network.Latency
	if w.Network.Rough {
		d = w.UpTo(2 * d)
	}
	if w.Chance(w.Network.Late) {
		d += w.UpTo(w.Network.LateBy)
	}
	return d
}

// Store is a key-value store with revisions that grow over all keys.
type Store struct {
	Down     bool // refuses all
	revision uint64
	entries  map[string]ownership.Entry
	// Writes counts the writes that succeeded, by the part of the key before the point.
	Writes map[string]int
}

// Put carries a write out, unless the key has another revision than the write expects.
func (s *Store) Put(w ownership.Write) (e ownership.Entry, ok bool) {
	if s.Down || s.entries[w.Key].Revision != w.Expected {
		return e, false
	}
	s.revision++
	kind, _, _ := strings.Cut(w.Key, ".")
	s.Writes[kind]++
	e = ownership.Entry{Key: w.Key, Value: w.Value, Revision: s.revision}
	s.entries[w.Key] = e
	return e, true
}

// Get returns what the store has for a key.
func (s *Store) Get(key string) ownership.Entry { return s.entries[key] }
