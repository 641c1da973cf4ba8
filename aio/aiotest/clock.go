package aiotest

import (
	"sync"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// Epoch is the start time of a virtual clock.
var Epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// Clock is a virtual clock for any number of loops. It stands still while one of them has anything
// to do or runs an Offload; then it jumps to the earliest time that any of them waits for.
//
// A loop is on the clock from the start of its Run. To start several loops at the same time,
// Attach first, and Close that sleeper when all have started.
type Clock struct {
	mu struct {
		sync.Mutex
		now      time.Time
		ahead    time.Duration // of now: the time of the calendar
		sleepers []*sleeper
		holds    int // running offloads
	}
}

var _ aio.Clock = (*Clock)(nil)

// NewClock returns a clock that shows Epoch.
func NewClock() *Clock {
	c := new(Clock)
	c.mu.now = Epoch
	return c
}

// Now returns the virtual time. Any goroutine may call it.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.now
}

// Wall returns the virtual time of the calendar. Any goroutine may call it.
func (c *Clock) Wall() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.now.Add(c.mu.ahead)
}

// Set moves the time of the calendar by d, as setting the system's clock does. Any goroutine may
// call it.
func (c *Clock) Set(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.ahead += d
}

// Attach is called by a loop when it starts.
func (c *Clock) Attach() aio.Sleeper {
	s := &sleeper{clock: c, wake: make(chan struct{}, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.sleepers = append(c.mu.sleepers, s)
	return s
}

// sleeper is one loop's waiting point on the clock. The clock's mutex guards its fields.
type sleeper struct {
	clock  *Clock
	asleep bool
	woken  bool      // Wake was called since Sleep last returned
	until  time.Time // while asleep; zero: never
	wake   chan struct{}
}

func (s *sleeper) Sleep(until time.Time) {
	c := s.clock
	c.mu.Lock()
	if s.woken {
		s.woken = false
		c.mu.Unlock()
		return
	}
	s.asleep, s.until = true, until
	c.jump()
	c.mu.Unlock()
	<-s.wake
	c.mu.Lock()
	s.woken = false
	c.mu.Unlock()
}

func (s *sleeper) Wake() {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	s.woken = true
	s.endSleep()
}

// endSleep ends the sleep. From here on the loop counts as busy, though its goroutine has yet to
// run.
func (s *sleeper) endSleep() {
	if s.asleep {
		s.asleep = false
		s.wake <- struct{}{}
	}
}

func (s *sleeper) Hold() {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	s.clock.mu.holds++
}

func (s *sleeper) Release() {
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	s.clock.mu.holds--
	s.clock.jump()
}

func (s *sleeper) Close() {
	c := s.clock
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, o := range c.mu.sleepers {
		if o == s {
			c.mu.sleepers = append(c.mu.sleepers[:i], c.mu.sleepers[i+1:]...)
			break
		}
	}
	c.jump() // the others may have waited for this one
}

// jump moves the time if all loops are asleep and no offload runs. The mutex is held.
func (c *Clock) jump() {
	if c.mu.holds > 0 {
		return
	}
	var earliest time.Time
	for _, s := range c.mu.sleepers {
		if !s.asleep {
			return
		}
		if !s.until.IsZero() && (earliest.IsZero() || s.until.Before(earliest)) {
			earliest = s.until
		}
	}
	if earliest.IsZero() {
		return // only an outside call can wake them
	}
	if earliest.After(c.mu.now) {
		c.mu.now = earliest
	}
	for _, s := range c.mu.sleepers {
		if !s.until.IsZero() && !s.until.After(c.mu.now) {
			s.endSleep()
		}
	}
}
