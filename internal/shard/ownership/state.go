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

// patience is the time for which a node acts without a renewal. The rest of the TTL is for clocks
// that differ in speed.
func (c *Config) patience() time.Duration { return c.TTL * 2 / 3 }

// Node is one process's part in the ownership of partitions.
type Node struct {
	cfg    Config
	self   Owner
	now    time.Duration
	parts  []part
	peers  map[string]*peer // by ID, this node among them
	latest uint64           // the highest revision seen
	lease  nodeLease

	leaving  bool
	gone     bool // a beat was sent that says that it has left: it takes nothing more
	ended    bool
	balanced bool // nothing has changed since the last balance

	starts  int           // partitions started since the last beat
	counted time.Duration // when a beat last counted some
	idle    bool
	asks    bool // the next beat does
	wakes   uint64
	note    json.RawMessage

	writes []Write // for the next Tick to return
	orders []Order
}

// nodeLease is the right of this node to its partitions, which its beats renew.
type nodeLease struct {
	joined bool
	paused bool
	due    bool          // a beat is to be written at once
	last   time.Duration // when the last beat was composed
	// renewed is the time at which the last beat that is in the store was composed.
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
	pending  bool
	expected uint64
}

func (f *flight) begin(expected uint64) { *f = flight{pending: true, expected: expected} }

// New returns a node that knows nothing yet. It is told what the store has before its first Tick.
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

// stage is the state of a partition at a node.
type stage uint8

const (
	foreign  stage = iota // it is another's, or nobody's
	owned                 // the node's, started or being restored
	draining              // to be handed over
	drained               // nothing of it is in flight
)

// part is a partition as its key shows it, and what this node does with it.
type part struct {
	owner    Owner
	revision uint64 // of its key: the epoch
	stage    stage
	started  bool // restored at this epoch
	// offered: a write was sent at this revision that gives it away. Whatever became of it, only
	// another write makes the partition certainly this node's.
	offered bool
	flight  flight
	to      Owner // of that flight
}

// nextOwner is the owner that balancing counts on: the one that this node is writing, or the one
// that the store shows.
func (p *part) nextOwner() Owner {
	if p.flight.pending {
		return p.to
	}
	return p.owner
}

// Acts reports whether the node may fetch and commit for a partition now. What is leased of a
// partition that drains may be finished.
func (n *Node) Acts(now time.Duration, part int) bool {
	p := &n.parts[part]
	return p.started && (p.stage == owned || p.stage == draining) && now < n.Until()
}

// Until is the time at which the node has to pause unless a beat is renewed before.
func (n *Node) Until() time.Duration {
	if !n.lease.joined || n.gone || n.ended {
		return 0
	}
	return n.lease.renewed + n.cfg.patience()
}

// Epoch returns the epoch at which the node owns a partition, 0 if it does not.
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

func (n *Node) order(o Order) { n.orders = append(n.orders, o) }

func (n *Node) peer(id string) *peer {
	p := n.peers[id]
	if p == nil {
		p = new(peer)
		n.peers[id] = p
	}
	return p
}

func (n *Node) write(f *flight, w Write) {
	f.begin(w.Expected)
	n.writes = append(n.writes, w)
}
