package aio

import "time"

// busyFor is the time that a loop may have been busy for Arrival to be the end of that: the
// system's clock, which it asks otherwise, ticks every 1 to 4 ms.
const busyFor = int64(5 * time.Millisecond)

// Arrival returns when the bytes arrived that a task has last waited for on c, in this turn. That
// is when the loop found out, unless it was busy before: then it is when the system received the
// last of them, to a tick of its clock.
func (l *Loop) Arrival(c Conn) time.Time {
	s, _ := c.(*socket)
	return l.time.at(l.time.arrival(s))
}

// arrival returns when the bytes arrived for which the selector returned: see Loop.Arrival.
func (ts *times) arrival(s *socket) int64 {
	at := ts.polled
	if s != nil && ts.late > busyFor && s.network() == "tcp" {
		if ago, ok := sinceReceived(s.fd); ok {
			at = min(at, max(at-ts.late, int64(time.Since(ts.base)-ago)))
		}
	}
	return at
}
