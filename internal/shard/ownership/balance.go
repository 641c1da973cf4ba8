package ownership

import (
	"cmp"
	"maps"
	"slices"
)

// member is a node that balancing gives partitions to, or that hands all of its own over.
type member struct {
	Owner
	leaving bool
	started int // of what it owns
	room    int
	owned   int
	target  int
	place   int // the number of its first place
	item    int // the number of the first partition that it has in excess
}

func (m *member) missing() int { return max(0, m.target-m.owned) }
func (m *member) excess() int  { return max(0, m.owned-m.target) }

// balance hands out the partitions that are this node's to give, toward equal shares.
//
// All nodes compute one list of partitions that need an owner and one list of places for them, both
// in an order that follows from the view alone; the n-th partition goes to the n-th place. The
// partitions that nobody owns come first, then what each node has above its target. Nodes with the
// same view therefore never write the same key, and a step that one of them has done leaves the
// rest of both lists as they were.
func (n *Node) balance() {
	if n.balanced {
		return
	}
	n.balanced = true
	all := n.members()
	orphans := n.count(all)
	setTargets(all, len(n.parts))
	places, items := 0, len(orphans)
	for i := range all {
		m := &all[i]
		m.place, m.item = places, items
		places += m.missing()
		items += m.excess()
	}
	if i := slices.IndexFunc(all, func(m member) bool { return m.Owner == n.self }); i >= 0 {
		n.claim(orphans, &all[i])
		n.release(all, &all[i])
	}
}

// members returns the nodes that run, in the order of their IDs.
func (n *Node) members() []member {
	var all []member
	for _, id := range slices.Sorted(maps.Keys(n.peers)) {
		if beat := &n.peers[id].beat; beat.Running() {
			leaving := beat.State == Leaving || id == n.cfg.ID && n.leaving
			all = append(all, member{Owner: Owner{id, beat.Incarnation}, leaving: leaving, started: beat.Started, room: beat.Room})
		}
	}
	return all
}

// count counts what members own, and returns the partitions whose owner is over.
func (n *Node) count(all []member) (orphans []int) {
	at := make(map[string]int, len(all))
	for i := range all {
		at[all[i].ID] = i
	}
	for i := range n.parts {
		p := &n.parts[i]
		owner := p.nextOwner()
		k, runs := at[owner.ID]
		switch over := n.over(p, owner); {
		case runs && (!over || !all[k].leaving):
			all[k].owned++
			if over && owner.ID == n.cfg.ID {
				n.assign(i, n.self) // what an earlier process of a node owned is its to confirm
			}
		case over:
			orphans = append(orphans, i)
		}
	}
	return orphans
}

// over reports whether the process that owns a partition is certainly over: its node's key says so
// of this very process, or has changed hands after the partition was written. Other views are
// late; the node is in doubt.
func (n *Node) over(p *part, owner Owner) bool {
	if owner == (Owner{}) {
		return true
	}
	node := n.peer(owner.ID)
	if node.beat.Incarnation == owner.Incarnation && node.revision > 0 {
		return !node.beat.Running()
	}
	if node.revision > p.revision {
		return true
	}
	if !node.doubtful {
		node.doubtful, node.changed = true, n.now
	}
	return false
}

// setTargets shares partitions out evenly. Where that leaves a remainder, those who own most keep
// one more.
func setTargets(all []member, partitions int) {
	var stay []*member
	for i := range all {
		if !all[i].leaving {
			stay = append(stay, &all[i])
		}
	}
	if len(stay) == 0 {
		return
	}
	slices.SortStableFunc(stay, func(a, b *member) int { return cmp.Compare(b.owned, a.owned) })
	for i, m := range stay {
		m.target = partitions / len(stay)
		if i < partitions%len(stay) {
			m.target++
		}
	}
}

// claim takes the orphans that go to this node's places.
func (n *Node) claim(orphans []int, mine *member) {
	end := min(mine.place+mine.missing(), len(orphans))
	for _, i := range orphans[min(mine.place, end):end] {
		n.assign(i, n.self)
	}
}

// release hands over what this node has drained and has in excess, and drains what is to follow.
// Drains beyond the excess are called off.
//
// A node that joins is given no more at a time than it can soon start: the rest is better off where
// it is. A node that leaves does not wait for that.
func (n *Node) release(all []member, mine *member) {
	excess, item := mine.excess(), mine.item
	for _, stage := range []stage{drained, draining, owned} {
		for i := len(n.parts) - 1; i >= 0; i-- {
			p := &n.parts[i]
			if p.stage != stage || p.flight.pending {
				continue
			}
			if excess == 0 {
				if stage == owned {
					return
				}
				n.keep(i)
				continue
			}
			to, wait := placed(all, item)
			switch {
			case stage == drained && to != Owner{}:
				n.assign(i, to)
			case stage == owned && (n.leaving || !wait):
				n.drain(i)
			}
			excess--
			item++
		}
	}
}

// placed returns the node with the place of a number, zero if there is none, and whether that node
// has to start others first.
func placed(all []member, place int) (to Owner, wait bool) {
	for i := range all {
		if m := &all[i]; m.place <= place && place < m.place+m.missing() {
			return m.Owner, place-m.place >= m.room-max(0, m.owned-m.started)
		}
	}
	return Owner{}, true
}
