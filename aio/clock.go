package aio

import (
	"math"
	"time"
)

// Clock gives a loop the time, and a place to wait when it has nothing to do. Zero Options use the
// system's clock and wait for descriptors; package aiotest has a virtual clock that jumps.
type Clock interface {
	// Now never goes back.
	Now() time.Time
	// Wall is the time of the calendar: see Loop.Wall.
	Wall() time.Time
	// Attach returns a Sleeper for one loop, which closes it when it ends.
	Attach() Sleeper
}

// Sleeper is the waiting place of one loop on a Clock.
type Sleeper interface {
	// Sleep returns when the time is until (zero: never) or when Wake was called, before or during
	// the Sleep.
	Sleep(until time.Time)
	// Wake ends the current Sleep or the next one. Any goroutine may call it.
	Wake()
	// Hold keeps time from jumping until Release, while the loop has work elsewhere, such as a
	// running Offload.
	Hold()
	// Release ends one Hold. Any goroutine may call it.
	Release()
	// Close detaches the loop from the clock.
	Close()
}

// times is the time of a loop. now is the last reading of the clock, which is read at most once a
// turn and only on demand.
type times struct {
	source  Clock // nil: the system's
	base    time.Time
	now     int64 // since base; never 0
	fresh   bool  // now was read in this turn
	turning bool  // there was a turn: before, time does not stand still
	polled  int64 // when the selector last returned
	late    int64 // time before that during which it had not been asked: see Arrival
}

func newTimes(source Clock) times {
	ts := times{source: source}
	ts.base = ts.exactly().Add(-1)
	ts.read()
	ts.polled = ts.now
	return ts
}

// exactly reads the clock.
func (ts *times) exactly() time.Time {
	switch {
	case ts.source != nil:
		return ts.source.Now()
	case ts.base.IsZero():
		return time.Now()
	}
	return ts.at(int64(time.Since(ts.base)))
}

// turn begins a turn of the loop.
func (ts *times) turn() { ts.fresh, ts.turning = false, true }

func (ts *times) read() {
	if ts.source != nil {
		ts.now = ts.since(ts.source.Now())
	} else {
		ts.now = int64(time.Since(ts.base))
	}
	ts.fresh = ts.turning
}

// ofTurn returns the time, and reads the clock if this turn has not done so.
func (ts *times) ofTurn() int64 {
	if !ts.fresh {
		ts.read()
	}
	return ts.now
}

// selected notes that the selector has returned, which was asked at a time; busy: it did not wait.
func (ts *times) selected(asked int64, busy bool) {
	ts.read()
	if busy {
		asked = ts.now
	}
	ts.polled, ts.late = ts.now, asked-ts.polled
}

func (ts *times) at(when int64) time.Time  { return ts.base.Add(time.Duration(when)) }
func (ts *times) since(at time.Time) int64 { return int64(at.Sub(ts.base)) }

// addTime returns when + d, or the end of time on overflow.
func addTime(when int64, d time.Duration) int64 {
	if int64(d) > math.MaxInt64-when {
		return math.MaxInt64
	}
	return when + int64(d)
}

// clock returns the loop's time.
func (l *Loop) clock() int64 { return l.time.ofTurn() }

// Now returns the time of the current turn on the loop's clock.
func (l *Loop) Now() time.Time { return l.time.at(l.clock()) }

// Wall returns the time of the calendar, for what leaves the process: dates in records, and of
// certificates. Now starts as the same, and then counts how time passes for the process: it stands
// still while the machine sleeps, and does not follow when its clock is set.
func (l *Loop) Wall() time.Time {
	if l.opt.Clock != nil {
		return l.opt.Clock.Wall()
	}
	return time.Now().Round(0)
}

// Time reads the loop's clock: it goes on while a turn lasts.
func (l *Loop) Time() time.Time { return l.time.exactly() }
