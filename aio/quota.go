package aio

// Quota bounds how much long work, which cannot be suspended in the middle, the tasks of a
// loop do in one turn: however many have some at once, whatever else is ready waits for the
// quota and one piece of work more at most, not for all of them.
//
// A task calls Take, does its work without a wait in between, and says with Spend how much
// that was. Nobody knows before, so the first of a turn always goes; of tasks that have to
// wait one goes a turn, in the order in which they came. Work that is known to be short does
// without a Quota: then it never waits for the long.
type Quota struct {
	loop  *Loop
	each  int
	turn  uint64 // that spent is of
	spent int
	next  Lock // held by the task that goes as soon as something is left
}

// NewQuota returns a quota of n a turn of l, in whatever unit Spend counts.
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

// Spend says how much was done.
func (q *Quota) Spend(n int) {
	q.left() // a new turn begins with all
	q.spent += n
}

// left reports whether something is left of this turn.
func (q *Quota) left() bool {
	if q.turn != q.loop.turns {
		q.turn, q.spent = q.loop.turns, 0
	}
	return q.spent < q.each
}
