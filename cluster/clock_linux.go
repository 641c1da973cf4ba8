package cluster

import (
	"time"

	"golang.org/x/sys/unix"
)

// now returns the time since some moment. It goes on while the machine sleeps, unlike Go's: a node
// that has slept must know it.
func now() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &t) != nil { // since Linux 2.6.39
		return time.Since(started)
	}
	return time.Duration(t.Nano())
}

var started = time.Now()
