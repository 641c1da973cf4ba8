package aio

// Lot is a parking lot: tasks wait in it, first come first served. Every primitive in this package
// is built on it. The zero value is ready to use.
//
// A task that Unpark woke has left the lot; if it is cancelled before it runs, its wait still
// returns nil. So nothing that is handed over gets lost, and no wake-up needs to be passed on.
type Lot struct {
	first *Task // its prev is the last
	n     int
}

// Len returns the number of tasks parked.
func (p *Lot) Len() int { return p.n }

func (p *Lot) push(t *Task) {
	t.lot, t.prev, t.next = p, t, nil
	if p.first == nil {
		p.first = t
	} else {
		last := p.first.prev
		last.next, t.prev, p.first.prev = t, last, t
	}
	p.n++
}

func (p *Lot) remove(t *Task) {
	if t == p.first {
		p.first = t.next
	} else {
		t.prev.next = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else if p.first != nil {
		p.first.prev = t.prev
	}
	t.lot, t.prev, t.next = nil, nil, nil
	p.n--
}
