package frontier

import (
	"math"
	"time"
)

// moment is the time since the first call that passed a time. Every host has several moments, and
// each takes a third of a time.Time.
type moment = time.Duration

// clock is the time of the last call. It never goes back.
type clock struct {
	epoch time.Time // the first
	set   bool
	now   moment
}

// advance takes in the time of a call.
func (c *clock) advance(now time.Time) {
	if !c.set {
		c.epoch, c.set = now, true
	}
	c.now = max(c.now, c.moment(now))
}

func (c *clock) moment(t time.Time) moment { return t.Sub(c.epoch) }

func (c *clock) time(m moment) time.Time { return c.epoch.Add(m) }

// never is the moment of what has not happened.
const never moment = math.MinInt64

// restored returns a time that another process has recorded, by a clock that may have been ahead of
// this one: it is at most so much later than now.
func (c *clock) restored(t time.Time, most time.Duration) moment {
	return min(c.moment(t), c.now+most)
}
