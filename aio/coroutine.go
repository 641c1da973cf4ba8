package aio

import "iter"

// coroutine runs tasks, one after the other: it is lent to a task from its first step until its
// function returns. Starting one costs more than a step, and a stack of 2 KB.
type coroutine struct {
	resume func() (syscall func(), alive bool)
	task   *Task // to be run next; nil: none
}

// keptCoroutines is the most free coroutines that a loop keeps.
const keptCoroutines = 64

// lend gives t a coroutine.
func (l *Loop) lend(t *Task) {
	var c *coroutine
	if n := len(l.coroutines); n > 0 {
		c, l.coroutines[n-1] = l.coroutines[n-1], nil
		l.coroutines = l.coroutines[:n-1]
	} else {
		c = new(coroutine)
		c.resume, _ = iter.Pull(c.run)
	}
	c.task, t.resume = t, c.resume
}

// run is the coroutine's function. A Goexit of a task ends it.
func (c *coroutine) run(yield func(syscall func()) bool) {
	for c.task != nil {
		t := c.task
		c.task, t.yield = nil, yield
		t.body()
		if l := t.loop; len(l.coroutines) < keptCoroutines {
			l.coroutines = append(l.coroutines, c)
			yield(nil)
		}
	}
}

// run makes one step: from the current suspension to the next.
func (t *Task) run(l *Loop) {
	if t.resume == nil {
		if t.status.state == taskNew && (t.own.canceled || l.broken != nil) {
			t.finish(ErrCanceled) // before the first step: the body never runs
			return
		}
		l.lend(t)
	}
	t.status.step()
	l.enter(t)
	for {
		call, alive := t.resume()
		if !alive || call == nil {
			break
		}
		l.running, l.calling = nil, t // the watchdog still sees t
		t.runSystemCall(call)
		l.calling = nil
		l.enter(t)
	}
	l.running = nil
}

// body runs in the coroutine: the one place where a panic or a Goexit of a task becomes its error.
// It returns when t has ended, or waits for its next function.
func (t *Task) body() {
	if t.loop.opt.Debug {
		t.goroutine = 0
		t.loop.checkGoroutine(t) // records the goroutine
	}
	err := ErrGoexit
	defer func() {
		if r := recover(); r != nil {
			err = panicked(r)
		}
		t.resume, t.yield = nil, nil
		if _, waits := err.(*continuation); !waits {
			t.finish(err)
		}
	}()
	for {
		t.woken = nil
		err = t.main(t)
		next, goesOn := err.(*continuation)
		if !goesOn {
			return
		}
		if t.main = next.next; next.wait(t) {
			return
		}
		err = ErrGoexit
	}
}

func (t *Task) finish(err error) {
	l := t.loop
	if err != nil {
		err = &TaskError{Task: t.name, Err: err}
	}
	t.status.state, t.main = taskDone, nil
	l.tasks.remove(t)
	t.own.detach()
	defer func() { // even if Options.Trace panics: others wait for this task
		t.complete(err)
		if t.group != nil {
			t.group.ended(t, err)
		}
	}()
	l.trace(TraceEnd, t, "")
}

func (t *Task) runSystemCall(fn func()) {
	defer func() {
		if r := recover(); r != nil {
			t.woken = panicked(r)
		}
	}()
	fn()
}

// dismiss ends the free coroutines.
func (l *Loop) dismiss() {
	for _, c := range l.coroutines {
		c.resume()
	}
	l.coroutines = nil
}
