package aio

// Queue passes items between tasks of one loop, first in first out, and counts how many of them
// are still being worked on.
//
// Waiting tasks are served in the order of their calls: the item that a woken getter was woken
// for, and the place that a woken putter was woken for, cannot be taken by later callers. The zero
// value is an unbounded queue.
type Queue[T any] struct {
	items   []T
	head    int // index of the oldest item
	max     int // 0: unbounded
	closed  bool
	getters Lot
	putters Lot
	granted int // the oldest items: reserved for getters that were woken and have not run
	places  int // places reserved for putters that were woken and have not run
	open    int // items put and not yet done
	joiners Lot
}

// NewQueue returns a queue that holds at most max items; max ≤ 0: any number.
func NewQueue[T any](max int) *Queue[T] {
	return &Queue[T]{max: max}
}

// Len returns the number of items in the queue.
func (q *Queue[T]) Len() int { return len(q.items) - q.head }

// Full reports whether a Put would wait: for a place, or behind putters that were woken and have
// not run, since their items go first.
func (q *Queue[T]) Full() bool { return q.max > 0 && (q.places > 0 || q.Len() >= q.max) }

// Put appends v, waiting while the queue is full. Errors: ErrQueueClosed, ErrCanceled; then v is
// not in the queue.
func (q *Queue[T]) Put(t *Task, v T) error {
	if err := t.Checkpoint(); err != nil {
		return err
	}
	if q.closed {
		return ErrQueueClosed
	}
	if q.Full() {
		if err := q.putters.Park(t, "a place in a queue"); err != nil {
			return err
		}
		q.places--
		if q.closed {
			return ErrQueueClosed
		}
	}
	q.add(v)
	q.admit()
	return nil
}

// TryPut is Put without waiting: it reports whether v was taken.
func (q *Queue[T]) TryPut(v T) bool {
	if q.closed || q.Full() {
		return false
	}
	q.add(v)
	return true
}

// Get removes the oldest item, waiting while there is none. Errors: ErrQueueClosed when the queue
// is closed and empty, ErrCanceled.
func (q *Queue[T]) Get(t *Task) (T, error) {
	var zero T
	if err := t.Checkpoint(); err != nil {
		return zero, err
	}
	if q.Len() == q.granted {
		if q.closed {
			return zero, ErrQueueClosed
		}
		if err := q.getters.Park(t, "an item of a queue"); err != nil {
			return zero, err
		}
		q.granted--
		return q.take(0), nil
	}
	return q.take(q.granted), nil
}

// TryGet is Get without waiting: ok is false if there is no item to take.
func (q *Queue[T]) TryGet() (v T, ok bool) {
	if q.Len() == q.granted {
		return v, false
	}
	return q.take(q.granted), true
}

// TaskDone marks the work on one item as finished. It panics with ErrTooManyDone when called more
// often than items were put.
func (q *Queue[T]) TaskDone() {
	if q.open == 0 {
		panic(ErrTooManyDone)
	}
	if q.open--; q.open == 0 {
		q.joiners.UnparkAll(nil)
	}
}

// Unfinished returns the number of items put for which TaskDone was not called.
func (q *Queue[T]) Unfinished() int { return q.open }

// Join waits until TaskDone was called for every item put.
func (q *Queue[T]) Join(t *Task) error {
	if err := t.Checkpoint(); err != nil {
		return err
	}
	for q.open > 0 {
		if err := q.joiners.Park(t, "the work of a queue"); err != nil {
			return err
		}
	}
	return nil
}

// Close refuses further items. Items in the queue can still be taken; tasks that wait for a place,
// or for an item that will not come, get ErrQueueClosed.
func (q *Queue[T]) Close() {
	q.closed = true
	q.getters.UnparkAll(ErrQueueClosed)
	q.putters.UnparkAll(ErrQueueClosed)
}

func (q *Queue[T]) add(v T) {
	q.open++
	q.items = append(q.items, v)
	if q.getters.Unpark(nil) {
		q.granted++
	}
}

// take removes the item at index i from the head.
func (q *Queue[T]) take(i int) T {
	var zero T
	at := q.head + i
	v := q.items[at]
	copy(q.items[q.head+1:at+1], q.items[q.head:at])
	q.items[q.head] = zero
	q.head++
	if q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	} else if q.head >= 64 && q.head*2 >= len(q.items) { // keep the consumed half from growing
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.admit()
	return v
}

// admit wakes as many putters as there are places.
func (q *Queue[T]) admit() {
	for q.Len()+q.places < q.max && q.putters.Unpark(nil) {
		q.places++
	}
}
