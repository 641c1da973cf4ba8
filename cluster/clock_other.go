//go:build !linux

package cluster

import "time"

var started = time.Now()

// now returns the time since some moment.
func now() time.Duration { return time.Since(started) }
