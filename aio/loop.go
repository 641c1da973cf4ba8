package aio

import (
	"context"
	"errors"
	"time"

	"github.com/weftcrawl/weft/aio/internal/poll"
)

// Options configure a loop. The zero value is the default.
type Options struct {
	// Selector names the mechanism that detects ready descriptors: "epoll" (Linux), "kqueue"
	// (macOS, BSD), "poll" (any Unix). Empty: the best available.
	Selector string

	// Clock replaces the system's clock. A loop with a Clock watches no descriptors.
	Clock Clock

	// Network replaces the system's sockets in Dial and Listen.
	Network Network

	// SlowTurn is the time that one turn may hold the loop before it is reported. 0: 100 ms, but
	// never on a loop with its own Clock; negative: never.
	SlowTurn time.Duration

	// Report receives events that a maintainer should know about; nil drops them. Reports of kind
	// ReportSlowTurn may come from another goroutine.
	Report func(Report)

	// Trace, if not nil, is called on the loop for every step of every task.
	Trace func(TraceEvent)

	// Debug adds checks that cost time: each wait verifies that it runs on the goroutine of its
	// task (about 1 µs).
	Debug bool
}

// DefaultSlowTurn is the SlowTurn of zero Options.
const DefaultSlowTurn = 100 * time.Millisecond

// Loop is an event loop: it resumes the tasks whose wait is over, calls the callbacks that are
// due, then asks the selector which descriptors are ready. Only its own goroutine touches what it
// owns; other goroutines have one door, Handle.Post. A loop runs once.
type Loop struct {
	opt   Options
	ctx   context.Context
	ready ready
	left  int // entries of ready that this turn still has to run
	turns uint64

	time   times
	timers timers

	tasks     taskList
	main      *Task
	running   *Task // nil between tasks, and in callbacks
	calling   *Task // the task whose system call runs on the loop's stack
	broken    error // set once: why the loop has to end early
	abandoned bool  // ended with tasks left: a bug in this package

	fds     fdTable
	network Network
	buffers [][]byte // free read buffers, each of bufferSize

	coroutines []*coroutine // free ones

	offloads int // running, or their results not yet taken
	handles  int // open

	stats Stats
	watch watchdog

	sleeper Sleeper // with Options.Clock
	inbox   inbox
}

// idlePolls bounds the turns that pass without asking the selector and the clock while nothing
// waits for either.
const idlePolls = 64

// NewLoop returns a loop that has not run. It holds no descriptor until Run.
func NewLoop(opt Options) *Loop {
	l := &Loop{opt: opt, ctx: context.Background(), network: opt.Network, time: newTimes(opt.Clock)}
	if l.network == nil {
		l.network = systemNetwork{}
	}
	l.fds.loop = l
	return l
}

// Run runs main on a new loop with default Options: see Loop.Run.
func Run(ctx context.Context, main func(t *Task) error) error {
	return NewLoop(Options{}).Run(ctx, main)
}

// Run starts main as the loop's first task, runs the loop until that task and all others have
// ended, and returns its error. When ctx is done the first task is cancelled; if that ends it, Run
// returns the cause of ctx.
//
// Errors: main's error; *DeadlockError; *PanicError if a callback panicked; ErrLoopClosed if the
// loop has run before; the selector's error if none could be made.
func (l *Loop) Run(ctx context.Context, main func(t *Task) error) error {
	if !l.inbox.open() {
		return ErrLoopClosed
	}
	l.ctx = ctx
	l.main = l.newTask("main", nil, main)
	if err := l.start(); err != nil {
		l.fail(err) // main never starts
	}
	if ctx.Err() != nil {
		l.main.Cancel() // nor here
	}
	stop := context.AfterFunc(ctx, func() { _ = l.inbox.post(func() { l.main.Cancel() }) })

	// The loop has a goroutine of its own, because a Goexit in a task ends the goroutine that
	// resumed it: then another one continues at the same point.
	done := make(chan struct{})
	go l.drive(done)
	<-done

	stop()
	l.stop()
	err := l.main.err
	switch {
	case l.broken != nil && (err == nil || errors.Is(err, ErrCanceled) || errors.Is(err, l.broken)):
		return l.broken
	case l.broken != nil:
		return errors.Join(l.broken, err)
	case ctx.Err() != nil && err != nil && onlyCanceled(err):
		return context.Cause(ctx)
	}
	var te *TaskError
	if errors.As(err, &te) && te.Task == l.main.name && error(te) == err {
		return te.Err // "main: " tells the caller of Run nothing
	}
	return err
}

func (l *Loop) start() error {
	if l.opt.Clock != nil {
		l.sleeper = l.opt.Clock.Attach()
		l.inbox.waker = l.sleeper
	} else {
		s, err := poll.New(l.opt.Selector)
		if err != nil {
			return err
		}
		l.fds.selector, l.inbox.waker = s, s
	}
	l.startWatchdog()
	return nil
}

// stop releases what the loop holds.
func (l *Loop) stop() {
	l.watch.stop()
	l.dismiss()
	l.fds.close()
	if l.sleeper != nil {
		l.sleeper.Close()
	}
}

// drive runs turns until the loop is done. When a callback panics or anything calls Goexit, this
// goroutine ends and the next one continues the same turn.
func (l *Loop) drive(done chan<- struct{}) {
	ended := false
	defer func() {
		if ended {
			close(done)
			return
		}
		if r := recover(); r != nil {
			l.fail(panicked(r))
		}
		if t := l.calling; t != nil { // a Goexit on the loop's stack is a Goexit in the task
			l.calling = nil
			t.status.goexit = true
			t.status.state = taskReady
			l.ready.push(t)
		}
		l.running = nil
		go l.drive(done)
	}()
	for l.turn() {
	}
	ended = true
}

// fail ends the loop early: every task is cancelled, shielded or not.
func (l *Loop) fail(err error) {
	if l.broken != nil {
		return
	}
	l.broken = err
	defer l.main.Cancel() // ends contexts; tasks that wait now get err first
	for t := l.tasks.newest; t != nil; t = t.older {
		t.interrupt(err)
	}
}

// turn runs everything that was ready when it began, then collects what happened outside: posted
// functions, ready descriptors, due timers. Whatever becomes ready meanwhile belongs to the next
// turn. It reports whether there is one.
func (l *Loop) turn() bool {
	if l.left == 0 {
		l.left = l.ready.len()
		l.turns++
		l.time.turn()
		if l.watch.on {
			l.watch.turn.Store(l.turns)
		}
	}
	for l.left > 0 {
		l.left--
		l.ready.pop().run(l)
	}
	if l.watch.on && l.watch.slow.Load() != nil {
		l.slowTurnEnded()
	}
	if l.main.done || l.abandoned {
		return l.shut()
	}
	if l.inbox.filled.Load() {
		l.takePosted()
	}
	busy := l.ready.len() > 0
	if busy && l.fds.waits == 0 && len(l.timers.heap) == 0 && l.turns%idlePolls != 0 {
		return true
	}
	l.poll(busy)
	return true
}

// poll asks the selector and the clock, and waits for them if nothing is ready to run.
func (l *Loop) poll(busy bool) {
	if !busy && l.deadlocked() {
		return
	}
	var wait time.Duration // negative: no limit
	until := l.timers.next()
	if !busy {
		l.time.read()
		wait = -1
		if until != 0 {
			wait = max(0, time.Duration(until-l.time.now))
		}
	}
	asked := l.time.now
	if wait != 0 && !l.inbox.sleep() {
		wait = 0
	}
	l.watch.idle.Store(l.watch.on)
	if l.sleeper != nil {
		if wait != 0 {
			var at time.Time
			if until != 0 {
				at = l.time.at(until)
			}
			l.sleeper.Sleep(at)
		}
	} else if err := l.fds.poll(wait); err != nil {
		l.fail(err)
	}
	l.watch.idle.Store(false)
	l.inbox.wake()
	l.time.selected(asked, busy)
	if until != 0 {
		if late, fired := l.timers.fire(l.time.now); fired {
			l.stats.lag(late)
		}
	}
	if l.inbox.filled.Load() {
		l.takePosted()
	}
}

// deadlocked ends the loop and returns true if tasks wait and nothing is left that can wake one.
func (l *Loop) deadlocked() bool {
	if l.fds.waits > 0 || l.offloads > 0 || l.handles > 0 || l.timers.next() != 0 || l.inbox.filled.Load() {
		return false
	}
	if l.broken != nil { // every task that could be ended has been
		l.abandoned = true
		return true
	}
	l.fail(&DeadlockError{Tasks: l.Tasks()})
	return true
}

func (l *Loop) takePosted() {
	for _, fn := range l.inbox.take() {
		l.ready.push(function(fn))
	}
}

// shut closes the inbox. Everything posted successfully runs: it forms the last turn; pending
// callbacks are dropped. It reports whether there is such a turn.
func (l *Loop) shut() bool {
	l.inbox.close()
	l.ready = ready{}
	l.takePosted()
	return l.ready.len() > 0
}

// Network returns Options.Network: nil for the system's.
func (l *Loop) Network() Network { return l.opt.Network }
