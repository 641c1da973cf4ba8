package aio

// runnable is an entry of the ready queue: a *Task, a *Callback or a posted function.
type runnable interface{ run(l *Loop) }

type function func()

func (fn function) run(l *Loop) {
	l.enter(nil)
	fn()
}

// enter records what runs now: a task, or nil for anything else.
func (l *Loop) enter(t *Task) {
	l.running = t
	if l.watch.on {
		l.watch.task.Store(t)
	}
}

// ready is a queue in a ring that doubles when it is full.
type ready struct {
	ring       []runnable // length a power of two
	head, tail uint       // tail − head entries, at indices modulo the length
}

func (r *ready) len() int { return int(r.tail - r.head) }

func (r *ready) push(x runnable) {
	if n := uint(len(r.ring)); r.tail-r.head == n {
		ring := make([]runnable, max(64, 2*n))
		for i := range n {
			ring[i] = r.ring[(r.head+i)&(n-1)]
		}
		r.ring, r.head, r.tail = ring, 0, n
	}
	r.ring[r.tail&uint(len(r.ring)-1)] = x
	r.tail++
}

func (r *ready) pop() runnable {
	i := r.head & uint(len(r.ring)-1)
	x := r.ring[i]
	r.ring[i] = nil
	r.head++
	return x
}
