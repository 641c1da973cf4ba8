// Package ending says whether a crawl of many nodes is over: by a count, never by a time-out.
//
// # Idle nodes
//
// A node is idle when nothing of its partitions is pending or leased, every message that it has
// taken in is acknowledged, and the streams have acknowledged everything that it sends, changes for
// the logs included. Only a message, or a partition, ends idleness, and only a node with work sends
// messages. So the crawl is over if, at one instant, all nodes are idle and no stream has a message
// that is not acknowledged. No such instant can be seen: beats are old when they arrive, and streams
// are read one after another.
//
// # The question
//
// A [Judge] asks in three steps.
//
//  1. All nodes say in their beats that they are idle, and each partition is one that its owner has
//     started at the epoch in the store.
//  2. Then the streams are read: none has a message that is not acknowledged.
//  3. Then the asking node writes a beat, and all nodes answer with a beat that they composed after
//     they had seen it. If all are idle still, and none has had work in between (Wakes), nor has a
//     partition changed hands (Holds), the crawl was over before step 2.
//
// # Why that is right
//
// Each node was idle from the beat of step 1 to the one of step 3, as Wakes counts every end of
// idleness: during step 2 none had work, none sent, and none acknowledged anything it had not finished
// before. A message that was not acknowledged when step 2 began was therefore found in its stream. A
// node that has died or was cut off is no exception: what it had not finished is pending with the
// node that has taken its partitions, or the digests differ.
//
// # Limits
//
// Holds is a digest of 64 bits. Seeds count as work of the node that brings them in, until the
// streams have them; whoever asks has to know that there were any.
package ending

import (
	"maps"
	"time"

	"github.com/weftcrawl/weft/cluster/ownership"
)

// Step is what the asking node has to do next.
type Step uint8

const (
	Wait    Step = iota // look again after the next change
	Streams             // read the streams, then call [Judge.Read]
	Over                // the crawl is over
)

// Judge finds out whether a crawl is over, for one node; the owner of partition 0 will do. The zero
// Judge is ready. It belongs to the goroutine of its node.
type Judge struct {
	round   int
	reading bool
	at      time.Duration     // when the streams had been read, on the node's clock
	mark    uint64            // the revision of the beat of step 3; 0: it is not written yet
	before  map[string]answer // in step 1, by node
}

// answer is what does not change while a node is idle.
type answer struct{ incarnation, wakes, holds uint64 }

// Look takes in what a node knows of all nodes now. With Streams it returns the round to pass to
// Read.
func (j *Judge) Look(n *ownership.Node) (s Step, round int) {
	now := answers(n)
	if now == nil || j.before != nil && !maps.Equal(now, j.before) {
		j.reset()
		return Wait, 0
	}
	switch {
	case j.before == nil:
		j.before, j.reading = now, true
		return Streams, j.round
	case j.reading || !j.answered(n):
		return Wait, 0
	}
	return Over, 0
}

// Read takes in what the streams held, read after Look asked for it in a round: empty if each
// message in them was acknowledged. The time is the node's own, after the last stream was read.
func (j *Judge) Read(now time.Duration, round int, empty bool) {
	switch {
	case round != j.round || !j.reading:
	case !empty:
		j.reset()
	default:
		j.reading, j.at = false, now
	}
}

func (j *Judge) reset() { *j = Judge{round: j.round + 1} }

// answered reports whether each node has written a beat that it composed after the streams had been
// read.
func (j *Judge) answered(n *ownership.Node) bool {
	for id, b := range n.Nodes() {
		if id == n.ID() && j.mark == 0 && b.At > j.at {
			j.mark = b.Revision
		}
	}
	if j.mark == 0 {
		return false
	}
	for id, b := range n.Nodes() {
		if id != n.ID() && b.Running() && b.Seen < j.mark {
			return false
		}
	}
	return true
}

// answers returns what all nodes say, nil unless all are idle, and hold all partitions at the epochs
// in the store.
func answers(n *ownership.Node) map[string]answer {
	all := make(map[string]answer)
	for id, b := range n.Nodes() {
		if !b.Running() {
			continue
		}
		if !b.Idle {
			return nil
		}
		all[id] = answer{b.Incarnation, b.Wakes, b.Holds}
	}
	held := make(map[string]uint64, len(all))
	for i := range n.Partitions() {
		owner, epoch := n.Owner(i)
		if a, ok := all[owner.ID]; !ok || a.incarnation != owner.Incarnation {
			return nil
		}
		held[owner.ID] ^= ownership.Digest(i, epoch)
	}
	for id, a := range all {
		if held[id] != a.holds {
			return nil
		}
	}
	return all
}
