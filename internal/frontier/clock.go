package frontier

import (
	"math"
	"time"
)

// moment is the time since the epoch. Every host has several moments, and each takes a third of a
// time.Time.
type moment = time.Duration

// never is the moment of what has not happened.
const never moment = math.MinInt64

// clock is the time of the last call. It never goes back. Parts are given the time.
type clock struct {
	epoch
	now moment
}

// advance takes in the time of a call.
func (c *clock) advance(now time.Time) {
	if !c.set {
		c.epoch = epoch{now, true}
	}
	c.now = max(c.now, c.moment(now))
}

// epoch is the time of the first call that has passed one.
type epoch struct {
	start time.Time
	set   bool
}

func (e *epoch) moment(t time.Time) moment { return t.Sub(e.start) }

func (e *epoch) time(m moment) time.Time { return e.start.Add(m) }

// restored returns a time that another process has recorded, by a clock that may have been ahead of
// this one: it is at most so much later than now.
func (e *epoch) restored(now moment, t time.Time, most time.Duration) moment {
	return min(e.moment(t), now+most)
}
