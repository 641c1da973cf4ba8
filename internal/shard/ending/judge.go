package ending

import (
	"maps"
	"time"

	"github.com/weftcrawl/weft/internal/shard/ownership"
)

// Step is the next step of the asking node.
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

// answer is the part of a beat that does not change while a node is idle.
type answer struct{ incarnation, wakes, digest uint64 }

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
// message in them was acknowledged. The time is the node's own, after the last stream was read. If
// it reports true, step 3 begins: sooner with [ownership.Node.Ask].
func (j *Judge) Read(now time.Duration, round int, empty bool) (asks bool) {
	switch {
	case round != j.round || !j.reading:
	case !empty:
		j.reset()
	default:
		j.reading, j.at, asks = false, now, true
	}
	return asks
}

func (j *Judge) reset() { *j = Judge{round: j.round + 1} }

// answered reports whether each node has written a beat that it composed after the streams had been
// read.
func (j *Judge) answered(n *ownership.Node) bool {
	self := n.Self()
	for id, b := range n.Nodes() {
		if own := id == self.ID && b.Incarnation == self.Incarnation; own && j.mark == 0 && b.At > j.at {
			j.mark = b.Revision
		}
	}
	if j.mark == 0 {
		return false
	}
	for id, b := range n.Nodes() {
		if id != self.ID && b.Running() && b.Seen < j.mark {
			return false
		}
	}
	return true
}

// answers returns what all nodes say, nil unless all are idle, and hold all partitions at the
// epochs in the store.
func answers(n *ownership.Node) map[string]answer {
	all := make(map[string]answer)
	for id, b := range n.Nodes() {
		if !b.Running() {
			continue
		}
		if !b.Idle {
			return nil
		}
		all[id] = answer{b.Incarnation, b.Wakes, b.Digest}
	}
	digests := make(map[string]uint64, len(all))
	for i := range n.Partitions() {
		owner, epoch := n.Owner(i)
		if a, ok := all[owner.ID]; !ok || a.incarnation != owner.Incarnation {
			return nil
		}
		digests[owner.ID] ^= ownership.DigestOf(i, epoch)
	}
	for id, a := range all {
		if digests[id] != a.digest {
			return nil
		}
	}
	return all
}
