package aio

import (
	"fmt"
	"runtime"
	"time"
)

// Task is a function that a loop runs as a coroutine, and the future of its own result. A function
// that can be suspended takes the *Task it runs in; between two calls that take it nothing else
// runs on the loop.
//
// Owner: its loop. Other goroutines may only call Name.
type Task struct {
	// The fields that every step touches come first, on as few cache lines as possible: with
	// thousands of tasks taking turns, fetching these lines is the cost of a switch.
	resume func() (syscall func(), alive bool) // the loop's side of the coroutine; nil: it has none
	yield  func(syscall func()) bool           // the coroutine's side
	scope  *scope                              // innermost, where the task is now
	status status
	future

	parking
	sleep timer
	own   scope // the whole task

	name      string
	id        uint64
	group     *Group // nil for a loop's first task
	main      func(t *Task) error
	goroutine uint64 // the coroutine's; only with Options.Debug
	older     *Task  // in the loop's taskList
	newer     *Task
}

// parking is the place in which a task is parked.
type parking struct {
	lot        *Lot  // nil: nowhere
	next, prev *Task // in lot
	woken      error // result of the current park, or a panic of a system call
}

// taskList lists a loop's tasks that have not ended, newest first.
type taskList struct {
	newest *Task
	count  int
	lastID uint64
}

// add puts t at the front and numbers it.
func (tl *taskList) add(t *Task) {
	tl.lastID++
	t.id = tl.lastID
	if t.older = tl.newest; t.older != nil {
		t.older.newer = t
	}
	tl.newest = t
	tl.count++
}

func (tl *taskList) remove(t *Task) {
	if t.older != nil {
		t.older.newer = t.newer
	}
	if t.newer != nil {
		t.newer.older = t.older
	} else {
		tl.newest = t.older
	}
	t.older, t.newer = nil, nil
	tl.count--
}

// Name returns the name the task was started with.
func (t *Task) Name() string { return t.name }

// Loop returns the loop that drives t.
func (t *Task) Loop() *Loop { return t.loop }

// check panics if t is not the running task: a wait would suspend the wrong code.
func (t *Task) check() {
	l := t.loop
	switch now := l.running; {
	case now == t:
		if l.opt.Debug {
			l.checkGoroutine(t)
		}
	case l.calling != nil && now == nil:
		panic(fmt.Sprintf("aio: task %q waits inside OnLoop: what runs on the loop's stack cannot be suspended", t.name))
	case now == nil:
		panic(fmt.Sprintf("aio: wait with the handle of task %q, which is not running (it is %v): a wait takes the handle of the task it runs in", t.name, t.status.state))
	default:
		panic(fmt.Sprintf("aio: task %q waits with the handle of task %q: a wait takes the handle of the task it runs in", now.name, t.name))
	}
}

// Checkpoint is called by every operation that may wait, before it checks whether it must. It
// gives up the turn and returns ErrCanceled if t is cancelled; it also gives up the turn from time
// to time, so that a task whose operations never need to wait does not keep the loop.
func (t *Task) Checkpoint() error {
	t.check()
	if err := t.stopped(); err != nil {
		return t.refuse(err)
	}
	if t.status.spend() {
		return nil
	}
	return t.Yield()
}

// stopped returns why t may not wait, or nil.
func (t *Task) stopped() error {
	if t.scope.canceled {
		return ErrCanceled
	}
	return t.loop.broken
}

// refuse gives up the turn and returns err. It counts how often t has ignored such an error; on a
// loop that has to end, a task that continues is ended.
func (t *Task) refuse(err error) error {
	t.status.ignored()
	if t.status.ignore == ignoreLimit {
		t.loop.report(Report{Kind: ReportIgnoresCancel, Task: t.name})
	}
	if t.status.ignore > ignoreLimit && t.loop.broken != nil {
		runtime.Goexit()
	}
	t.pass("its turn")
	return err
}

// pass puts t at the end of the ready queue and suspends it.
func (t *Task) pass(waits string) {
	t.status.suspend(taskReady, waits, t.loop.time.now)
	t.loop.ready.push(t)
	t.yield(nil)
}

// Yield gives up the turn: everything that is ready now runs first.
func (t *Task) Yield() error {
	t.check()
	err := t.stopped()
	if err != nil {
		return t.refuse(err)
	}
	t.status.ignore = 0
	t.pass("its turn")
	return t.stopped()
}

// Sleep suspends t for at least d, on the loop's clock. With d ≤ 0 it is Yield.
func (t *Task) Sleep(d time.Duration) error {
	if d <= 0 {
		return t.Yield()
	}
	t.check()
	return t.sleepUntil(addTime(t.loop.clock(), d))
}

// SleepUntil is Sleep with a point in time on the loop's clock.
func (t *Task) SleepUntil(at time.Time) error {
	t.check()
	return t.sleepUntil(t.loop.time.since(at))
}

func (t *Task) sleepUntil(when int64) error {
	if err := t.stopped(); err != nil {
		return t.refuse(err)
	}
	t.loop.timers.arm(&t.sleep, when)
	return t.park("a time")
}

// wakeBy ends the wait of t, which parks or is parked, at a time at the latest; 0: at no time.
func (t *Task) wakeBy(when int64) {
	if when != 0 && (t.sleep.when == 0 || when < t.sleep.when) {
		t.loop.timers.arm(&t.sleep, when)
	}
}

// alarm ends Sleep, the wait of a Then, and that for a descriptor.
func (t *Task) alarm() { t.wake(nil) }

// parked notes that t waits, until wake or interrupt.
func (t *Task) parked(waits string) {
	t.status.suspend(taskParked, waits, t.loop.time.now)
	t.loop.trace(TraceWait, t, waits)
}

// park suspends t until wake or interrupt and returns their argument.
func (t *Task) park(waits string) error {
	t.parked(waits)
	t.yield(nil)
	err := t.woken
	t.woken = nil
	t.status.waited(err)
	return err
}

// wake makes the park of t return err. It does nothing unless t is parked, so the first of several
// wake-ups decides.
func (t *Task) wake(err error) {
	if t.status.state != taskParked {
		return
	}
	if t.lot != nil {
		t.lot.remove(t)
	}
	if t.status.polled {
		t.status.polled = false
		t.loop.fds.waits--
	}
	t.loop.timers.disarm(&t.sleep)
	t.status.state, t.woken = taskReady, err
	t.loop.trace(TraceWake, t, t.status.waits)
	t.loop.ready.push(t)
}

// interrupt is wake for cancellation.
func (t *Task) interrupt(err error) {
	if !t.status.deaf {
		t.wake(err)
	}
}

// OnLoop runs fn on the loop's stack while t is suspended, before anything else runs: deep calls
// then do not grow the stack of a task that later waits. fn must not wait. A panic in fn is a
// panic in t.
func (t *Task) OnLoop(fn func()) {
	t.check()
	t.yield(fn)
	if p := t.woken; p != nil {
		t.woken = nil
		panic(p)
	}
	if t.status.goexit {
		t.status.goexit = false
		runtime.Goexit()
	}
}
