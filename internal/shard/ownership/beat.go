package ownership

import (
	"maps"
	"slices"
	"time"
)

// seeNode takes in the key of a node.
func (n *Node) seeNode(id string, e Entry) error {
	p := n.peer(id)
	if e.Revision <= p.revision {
		return nil
	}
	deleted := Beat{Incarnation: p.beat.Incarnation, State: Dead}
	beat := deleted
	unread := decode(e, &beat)
	if unread != nil {
		beat = deleted
	}
	if b := &p.beat; beat.State != b.State || beat.Incarnation != b.Incarnation || beat.Started != b.Started || beat.Room != b.Room || p.doubtful {
		n.balanced = false
	}
	*p = peer{beat: beat, revision: e.Revision, changed: n.now}
	n.latest = max(n.latest, e.Revision)
	n.lease.due = n.lease.due || beat.Asks && n.idle && id != n.cfg.ID
	if id == n.cfg.ID && !n.ended {
		n.seeSelf(&beat)
	}
	return unread
}

// seeSelf takes in the node's own key.
func (n *Node) seeSelf(beat *Beat) {
	l := &n.lease
	switch {
	case beat.Incarnation != n.cfg.Incarnation:
		if l.joined {
			n.end(ErrReplaced)
		}
	case beat.State == Dead:
		n.end(ErrDead)
	case beat.State == Left:
		n.end(nil)
	default:
		if !l.joined {
			l.joined, l.steady = true, n.now
		}
		l.renewed = max(l.renewed, beat.At)
		if l.paused && n.now < n.Until() {
			l.paused, l.steady, n.balanced = false, n.now, false
			n.order(Order{Kind: Resume})
		}
	}
}

func (n *Node) end(err error) {
	n.ended = true
	n.writes = nil
	n.order(Order{Kind: End, Err: err})
}

// beat writes the node's key when that is due. A first beat waits until an earlier process with
// the same ID is over.
func (n *Node) beat() {
	l, p := &n.lease, n.peer(n.cfg.ID)
	left := n.gone || n.left()
	switch {
	case p.flight.pending:
		return
	case !l.joined && n.leaving:
		n.end(nil)
		return
	case !l.joined:
		earlier := p.beat.Running() && p.beat.Incarnation != n.cfg.Ended
		if earlier && n.now-p.changed < n.cfg.TTL {
			return
		}
	case !l.due && !left && n.now-l.last < n.interval():
		return
	}
	state := Alive
	switch {
	case left:
		state = Left
	case n.leaving:
		state = Leaving
	}
	n.write(&p.flight, Write{nodePrefix + n.cfg.ID, encode(n.compose(state)), p.revision})
	l.due, l.last, n.gone, n.asks = false, n.now, left, false
	if n.starts > 0 {
		n.starts, n.counted = 0, n.now
	}
}

// interval is the time between two beats: shorter after partitions were started, for those who have
// more to hand over.
func (n *Node) interval() time.Duration {
	if n.starts > 0 {
		return n.cfg.Beat / 8
	}
	return n.cfg.Beat
}

// leastRoom is the least number of partitions that may wait at a node to be started, so that it has
// always one to restore.
const leastRoom = 4

// room returns how many partitions may wait here to be started: twice what was started lately in a
// beat. Those whose logs are read at once start together, after more than a beat.
func (n *Node) room() int {
	beats := max(1, (n.now-n.counted).Seconds()/n.cfg.Beat.Seconds())
	return max(leastRoom, int(2*float64(n.starts)/beats))
}

// compose returns what the node says of itself now.
func (n *Node) compose(state State) Beat {
	b := Beat{
		Incarnation: n.cfg.Incarnation, State: state, At: n.now,
		Room: n.room(),
		Idle: n.idle, Wakes: n.wakes, Seen: n.latest, Asks: n.asks, Note: n.note,
	}
	for i := range n.parts {
		if p := &n.parts[i]; p.stage != foreign && p.started {
			b.Started++
			b.Digest ^= DigestOf(i, p.revision)
		}
	}
	return b
}

// DigestOf is the contribution of a partition, started at an epoch, to Beat.Digest: that is their
// exclusive or.
func DigestOf(part int, epoch uint64) uint64 {
	h := epoch*0x9e3779b97f4a7c15 + uint64(part)
	h ^= h >> 30
	h *= 0xbf58476d1ce4e5b9
	h ^= h >> 27
	h *= 0x94d049bb133111eb
	return h ^ h>>31
}

// left reports whether the node leaves and has nothing more to do.
func (n *Node) left() bool {
	if !n.leaving || !n.lease.joined {
		return false
	}
	takers := slices.ContainsFunc(n.members(), func(m member) bool { return !m.leaving })
	return !slices.ContainsFunc(n.parts, func(p part) bool {
		return p.stage != foreign && (takers || p.stage != drained)
	})
}

// bury writes those dead that have been silent for too long.
func (n *Node) bury() {
	for _, id := range slices.Sorted(maps.Keys(n.peers)) {
		p := n.peers[id]
		silent := n.now - max(p.changed, n.lease.steady)
		if id == n.cfg.ID || !p.beat.Running() && !p.doubtful || p.flight.pending || silent < n.cfg.TTL {
			continue
		}
		dead := p.beat
		dead.State = Dead
		n.write(&p.flight, Write{nodePrefix + id, encode(dead), p.revision})
	}
}
