package aio

import "time"

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
