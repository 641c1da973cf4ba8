package ownership

import (
	"encoding/json"
	"errors"
	"time"
)

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

// Wrote takes in that the store has a write, at a revision.
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
		f.pending, n.balanced = false, false
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
		n.balanced = false
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
	n.leaving, n.balanced, n.lease.due = true, false, true
}

// Starters returns the processes that run and have started all that they own, as the store shows
// it.
func (n *Node) Starters() map[Owner]bool {
	left := make(map[Owner]uint64) // the digest of what is not started
	for id, p := range n.peers {
		if p.beat.Running() {
			left[Owner{id, p.beat.Incarnation}] = p.beat.Digest
		}
	}
	for i := range n.parts {
		if digest, runs := left[n.parts[i].owner]; runs {
			left[n.parts[i].owner] = digest ^ DigestOf(i, n.parts[i].revision)
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

// Tick returns what to write and what to do. It is called after the node was told something, and
// at least four times in a beat.
func (n *Node) Tick(now time.Duration) (writes []Write, orders []Order) {
	n.pass(now)
	if !n.ended {
		n.beat()
		if n.lease.joined && !n.lease.paused && !n.gone {
			n.bury()
			n.balance()
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
