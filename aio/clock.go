package aio

import "time"

// Clock tells a loop the time and is where the loop waits when it has nothing to
// do. The zero Options use the system's clock and wait for descriptors;
// package aiotest has a virtual clock that jumps.
type Clock interface {
	Now() time.Time
	// Attach returns the place where one loop waits. The loop closes it when it ends.
	Attach() Sleeper
}

// Sleeper is a loop's place at a Clock.
type Sleeper interface {
	// Sleep returns when the time is until (zero: never) or when Wake was called,
	// before or after.
	Sleep(until time.Time)
	// Wake ends the current Sleep or the next one. Any goroutine may call it.
	Wake()
	// Hold keeps time from jumping until Release: the loop has work elsewhere,
	// such as a running Offload.
	Hold()
	// Release undoes one Hold. Any goroutine may call it.
	Release()
	// Close takes the loop off the clock.
	Close()
}
