package aio

// Quota bounds the long, uninterruptible work that the tasks of a loop do in one turn: however many
// tasks have such work, everything else waits for one quota and at most one more piece of work, not
// for all of them.
//
// A task calls Take, does its work without a wait, and reports its size with Spend. The size is
// unknown beforehand, so the first task of a turn always goes; of the tasks that have to wait, one
// goes per turn, in the order of their calls. Work that is known to be short needs no Quota and
// never waits for long work.
type Quota struct {
	loop  *Loop
	each  int
	turn  uint64 // the turn that spent counts for
	spent int
	next  Lock // held by the task that goes next, as soon as something is left
}

// NewQuota returns a quota of n per turn of l, in whatever unit Spend counts.
func NewQuota(l *Loop, n int) *Quota { return &Quota{loop: l, each: n} }

// Take waits for a turn in which something is left.
func (q *Quota) Take(t *Task) error {
	if err := q.next.Lock(t); err != nil {
		return err
	}
	defer q.next.Unlock(t)
	for !q.left() {
		if err := t.Yield(); err != nil {
			return err
		}
	}
	return nil
}

// Free reports whether Take would not wait: something is left, and nobody waits.
func (q *Quota) Free() bool { return q.next.owner == nil && q.left() }

// Spend reports how much was done.
func (q *Quota) Spend(n int) {
	q.left() // a new turn starts with the full quota
	q.spent += n
}

// left reports whether something is left of this turn's quota.
func (q *Quota) left() bool {
	if q.turn != q.loop.turns {
		q.turn, q.spent = q.loop.turns, 0
	}
	return q.spent < q.each
}
