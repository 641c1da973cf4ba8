package aio

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"
)

// watchdog watches a loop from outside, so that even a turn that never ends is reported. It is a
// goroutine that looks every quarter of SlowTurn; the loop pays one store per turn.
type watchdog struct {
	on   bool                     // enabled; set before the loop starts
	turn atomic.Uint64            // the loop's current turn
	task atomic.Pointer[Task]     // the running task, nil for a callback
	idle atomic.Bool              // the loop waits, so its turn may last
	slow atomic.Pointer[slowTurn] // set by the watchdog, taken by the loop when the turn ends
	quit chan struct{}
	done chan struct{}
}

type slowTurn struct {
	turn uint64
	task string
	from time.Time // when it was first seen; it began up to a quarter of SlowTurn earlier
}

func (l *Loop) startWatchdog() {
	limit := l.opt.SlowTurn
	if limit == 0 && l.opt.Clock == nil {
		limit = DefaultSlowTurn
	}
	if limit <= 0 || l.opt.Report == nil {
		return
	}
	w := &l.watch
	w.on = true
	w.quit, w.done = make(chan struct{}), make(chan struct{})
	go w.run(l, limit)
}

func (w *watchdog) stop() {
	if w.quit != nil {
		close(w.quit)
		<-w.done
	}
}

func (w *watchdog) run(l *Loop, limit time.Duration) {
	defer close(w.done)
	tick := time.NewTicker(max(limit/4, time.Millisecond))
	defer tick.Stop()
	seen := slowTurn{from: time.Now()}
	reported := false
	for {
		select {
		case <-w.quit:
			return
		case now := <-tick.C:
			turn := w.turn.Load()
			if w.idle.Load() || turn != seen.turn {
				seen, reported = slowTurn{turn: turn, from: now}, false
				continue
			}
			held := now.Sub(seen.from)
			if reported || held < limit {
				continue
			}
			if t := w.task.Load(); t != nil {
				seen.task = t.name
			}
			found := seen
			w.slow.Store(&found)
			reported = true
			l.report(Report{Kind: ReportSlowTurn, Task: seen.task, For: held, Ongoing: true})
		}
	}
}

// slowTurnEnded reports a turn that the watchdog found slow, once it is over.
func (l *Loop) slowTurnEnded() {
	s := l.watch.slow.Swap(nil)
	if s.turn == l.turns {
		l.report(Report{Kind: ReportSlowTurn, Task: s.task, For: time.Since(s.from)})
	}
}

// checkGoroutine panics unless it runs on t's coroutine. Go has no cheap way to identify a
// goroutine: this one reads the header of a stack trace.
func (l *Loop) checkGoroutine(t *Task) {
	var buf [64]byte
	b := buf[:runtime.Stack(buf[:], false)]
	b, _, _ = bytes.Cut(bytes.TrimPrefix(b, []byte("goroutine ")), []byte(" "))
	id, _ := strconv.ParseUint(string(b), 10, 64)
	if t.goroutine == 0 {
		t.goroutine = id
	} else if t.goroutine != id {
		panic(fmt.Sprintf("aio: task %q waits on a goroutine that is not its own: use Handle.Post or Offload", t.name))
	}
}
