package ownership

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
	n.balanced = false
	switch {
	case n.ended, n.gone:
	case c.Owner == n.self:
		p.stage = owned
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
	p.stage = owned
	n.order(Order{Kind: Keep, Partition: i})
}
