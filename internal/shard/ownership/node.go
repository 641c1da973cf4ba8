package ownership

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"
)

// Config describes a node. All nodes of a crawl have the same Partitions, Beat and TTL.
type Config struct {
	ID          string
	Incarnation uint64 // differs from those of all earlier processes with this ID; not 0
	// Ended is an incarnation of this ID that has certainly ended, as the lock of the job folder
	// tells: its partitions are taken over without a wait. 0: none.
	Ended      uint64
	Partitions int
	Beat       time.Duration // between two beats; 0: 2 s
	TTL        time.Duration // silence after which a node is dead; 0: 10 s; at least 3 beats
}

func (c Config) withDefaults() (Config, error) {
	if c.Beat == 0 {
		c.Beat = 2 * time.Second
	}
	if c.TTL == 0 {
		c.TTL = 10 * time.Second
	}
	switch {
	case c.ID == "":
		return c, errors.New("ownership: no ID")
	case c.Incarnation == 0 || c.Incarnation == c.Ended:
		return c, fmt.Errorf("ownership: incarnation %d, expected a new one", c.Incarnation)
	case c.Partitions < 1:
		return c, fmt.Errorf("ownership: %d partitions, expected at least 1", c.Partitions)
	case c.Beat < 0 || c.TTL < 3*c.Beat:
		return c, fmt.Errorf("ownership: TTL %v, expected at least three times the beat, %v", c.TTL, c.Beat)
	}
	return c, nil
}

// patience is for how long a node acts without a renewal. The rest of the TTL is for clocks that
// differ in speed.
func (c *Config) patience() time.Duration { return c.TTL * 2 / 3 }

// Node is one process's part in the ownership of partitions.
type Node struct {
	cfg    Config
	self   Owner
	now    time.Duration
	parts  []part
	peers  map[string]*peer // by ID, this node among them
	latest uint64           // the highest revision seen
	lease  lease

	leaving bool
	gone    bool // a beat was sent that says that it has left: it takes nothing more
	ended   bool
	planned bool // nothing has changed since the last plan

	starts  int           // partitions started since the last beat
	counted time.Duration // when a beat last counted some
	idle    bool
	asks    bool // the next beat does
	wakes   uint64
	note    json.RawMessage

	writes []Write // for the next Tick to return
	orders []Order
}

// lease is a node's own beat.
type lease struct {
	joined bool
	paused bool
	due    bool          // a beat is to be written at once
	last   time.Duration // when the last beat was composed
	// renewed is when the last beat that is in the store was composed.
	renewed time.Duration
	// steady is since when beats have been renewed without a pause, and the node was told something
	// at least once a beat: others' silence counts from here on.
	steady time.Duration
}

// peer is a node as its key shows it.
type peer struct {
	beat     Beat
	revision uint64
	changed  time.Duration // when this revision was seen first, on this node's clock
	// doubtful: a partition has an owner of which the key does not know. Unless the key changes, it
	// is written dead after a TTL, which settles it.
	doubtful bool
	flight   flight
}

// flight is a write whose fate is not known yet.
type flight struct {
	open     bool
	expected uint64
}

func (f *flight) begin(expected uint64) { *f = flight{open: true, expected: expected} }

// New returns a node that knows nothing yet. It is told what the store holds before its first Tick.
func New(c Config) (*Node, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Node{
		cfg: c, self: Owner{c.ID, c.Incarnation}, parts: make([]part, c.Partitions),
		peers: make(map[string]*peer), idle: true,
	}, nil
}

// See takes in what the store shows of a key. What is older than what it has shown before is
// ignored. It returns an error if the key or its value is not of this package.
func (n *Node) See(now time.Duration, e Entry) error {
	n.pass(now)
	id, part, err := parse(e.Key, n.cfg.Partitions)
	if err != nil {
		return err
	}
	if id == "" {
		return n.seePart(part, e)
	}
	return n.seeNode(id, e)
}

// Wrote takes in that the store holds a write, at a revision.
func (n *Node) Wrote(now time.Duration, w Write, revision uint64) error {
	return n.See(now, Entry{w.Key, w.Value, revision})
}

// Failed takes in that a write was refused, or that it is not known what became of it.
func (n *Node) Failed(now time.Duration, w Write) {
	n.pass(now)
	id, part, err := parse(w.Key, n.cfg.Partitions)
	if err != nil {
		return
	}
	var f *flight
	if id != "" {
		f = &n.peer(id).flight
	} else {
		f = &n.parts[part].flight
	}
	if f.expected == w.Expected {
		f.open, n.planned = false, false
	}
}

// Started takes in that a partition of Take is restored. If it has work, Busy was called before.
func (n *Node) Started(part int, epoch uint64) {
	if p := &n.parts[part]; p.stage != foreign && p.revision == epoch && !p.started {
		p.started = true
		n.starts++
	}
}

// Drained takes in that nothing of a partition of Drain is in flight, and that the store and the
// streams have all its changes.
func (n *Node) Drained(part int) {
	if p := &n.parts[part]; p.stage == draining {
		p.stage = drained
		n.planned = false
	}
}

// Busy says that the node has work. It is called before work is taken in, be it a message that
// turns out to bring nothing new.
func (n *Node) Busy() {
	if n.idle {
		n.idle = false
		n.wakes++
	}
}

// Idle says that nothing is pending or leased, that every message it has taken in is acknowledged
// and that the streams have acknowledged all that it sends.
func (n *Node) Idle() {
	if !n.idle {
		n.idle = true
		n.lease.due = true
	}
}

// Ask writes a beat at once, which asks all others that are idle for theirs.
func (n *Node) Ask() { n.asks, n.lease.due = true, true }

// Note sets what the beats carry besides, JSON.
func (n *Node) Note(note json.RawMessage) error {
	if !json.Valid(note) {
		return errors.New("ownership: a note that is not JSON")
	}
	n.note = note
	return nil
}

// Leave hands all partitions over, and ends the node when it owns nothing. If nobody is there to
// take them, they are drained, and stay its own for the next process with its ID.
func (n *Node) Leave() {
	n.leaving, n.planned, n.lease.due = true, false, true
}

// Acts reports whether the node may fetch and commit for a partition now. What is leased of a
// partition that drains may be finished.
func (n *Node) Acts(now time.Duration, part int) bool {
	p := &n.parts[part]
	return p.started && (p.stage == held || p.stage == draining) && now < n.Until()
}

// Until is when the node has to pause unless a beat is renewed before.
func (n *Node) Until() time.Duration {
	if !n.lease.joined || n.gone || n.ended {
		return 0
	}
	return n.lease.renewed + n.cfg.patience()
}

// Epoch returns the epoch at which the node holds a partition, 0 if it does not.
func (n *Node) Epoch(part int) uint64 {
	if n.parts[part].stage == foreign || n.gone || n.ended {
		return 0
	}
	return n.parts[part].revision
}

// Owner returns who owns a partition as the store shows it, and the epoch.
func (n *Node) Owner(part int) (o Owner, epoch uint64) {
	return n.parts[part].owner, n.parts[part].revision
}

// Running returns the processes that run, as the store shows it.
func (n *Node) Running() (all []Owner) {
	for id, p := range n.peers {
		if p.beat.Running() {
			all = append(all, Owner{id, p.beat.Incarnation})
		}
	}
	return all
}

// Starters returns the processes that run and have started all that they own, as the store shows
// it.
func (n *Node) Starters() map[Owner]bool {
	left := make(map[Owner]uint64) // the digest of what is not started
	for id, p := range n.peers {
		if p.beat.Running() {
			left[Owner{id, p.beat.Incarnation}] = p.beat.Holds
		}
	}
	for i := range n.parts {
		if digest, runs := left[n.parts[i].owner]; runs {
			left[n.parts[i].owner] = digest ^ Digest(i, n.parts[i].revision)
		}
	}
	all := make(map[Owner]bool)
	for owner, digest := range left {
		if digest == 0 {
			all[owner] = true
		}
	}
	return all
}

// Partitions is the number of partitions.
func (n *Node) Partitions() int { return len(n.parts) }

// Self is the node's process, as an owner.
func (n *Node) Self() Owner { return n.self }

// Nodes returns the nodes that the store has, with their last beat and its revision, in any order.
func (n *Node) Nodes() iter.Seq2[string, Shown] {
	return func(yield func(string, Shown) bool) {
		for id, p := range n.peers {
			if p.revision > 0 && !yield(id, Shown{p.beat, p.revision}) {
				return
			}
		}
	}
}

// Shown is a beat in the store.
type Shown struct {
	Beat
	Revision uint64
}

// Tick returns what to write and what to do. It is called after the node was told something, and
// at least four times in a beat.
func (n *Node) Tick(now time.Duration) (writes []Write, orders []Order) {
	n.pass(now)
	if !n.ended {
		n.beat()
		if n.lease.joined && !n.lease.paused && !n.gone {
			n.bury()
			n.plan()
		}
	}
	writes, orders = n.writes, n.orders
	n.writes, n.orders = nil, nil
	return writes, orders
}

// pass takes in the time, and pauses the node when its lease is over. It comes first in whatever
// the node is told: a node that has slept for long notices it before it judges others.
func (n *Node) pass(now time.Duration) {
	l := &n.lease
	if now-n.now > n.cfg.Beat {
		l.steady = now
	}
	n.now = max(n.now, now)
	if l.joined && !l.paused && !n.gone && !n.ended && n.now >= n.Until() {
		l.paused = true
		n.order(Order{Kind: Pause})
	}
}

func (n *Node) order(o Order) { n.orders = append(n.orders, o) }

func (n *Node) peer(id string) *peer {
	p := n.peers[id]
	if p == nil {
		p = new(peer)
		n.peers[id] = p
	}
	return p
}
