package ownership

// stage is what a node does with a partition.
type stage uint8

const (
	foreign  stage = iota // it is another's, or nobody's
	held                  // the node's, started or being restored
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

// planned is the owner that a plan counts on: the one that this node is writing, or the one that
// the store shows.
func (p *part) planned() Owner {
	if p.flight.open {
		return p.to
	}
	return p.owner
}

// seePart takes in the key of a partition.
func (n *Node) seePart(i int, e Entry) error {
	p := &n.parts[i]
	if e.Revision <= p.revision {
		return nil
	}
	var c claim
	unread := decode(e, &c)
	if unread != nil {
		c = claim{}
	}
	was, mine := p.stage, c.Before == p.revision && p.owner.ID == n.self.ID
	*p = part{owner: c.Owner, revision: e.Revision}
	n.latest = max(n.latest, e.Revision)
	n.planned = false
	switch {
	case n.ended, n.gone:
	case c.Owner == n.self:
		p.stage = held
		n.order(Order{Kind: Take, Partition: i, Epoch: e.Revision, Before: c.Before, Mine: mine})
	case was != foreign:
		n.order(Order{Kind: Drop, Partition: i})
	}
	return unread
}

// assign writes the owner of a partition.
func (n *Node) assign(i int, to Owner) {
	p := &n.parts[i]
	p.to = to
	p.offered = p.offered || p.stage != foreign && to != n.self
	n.write(&p.flight, Write{partKey(i), encode(claim{to, p.revision}), p.revision})
}

// drain begins to hand a partition over.
func (n *Node) drain(i int) {
	n.parts[i].stage = draining
	n.order(Order{Kind: Drain, Partition: i})
}

// keep calls a drain off. A partition that was offered to another node is written anew first: the
// offer may still be on its way.
func (n *Node) keep(i int) {
	p := &n.parts[i]
	if p.offered {
		n.assign(i, n.self)
		return
	}
	p.stage = held
	n.order(Order{Kind: Keep, Partition: i})
}
