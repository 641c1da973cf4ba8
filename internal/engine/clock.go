package engine

import (
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/job"
)

// clock is the job's: see [job.Clock]. The frontier is given its time, and the store keeps it.
type clock struct {
	loop  *aio.Loop
	ahead time.Duration // of the loop's
}

// start goes on from where the last run left the job's clock.
func (c *clock) start(l *aio.Loop, last job.Clock) {
	c.loop = l
	c.ahead = last.Resume(l.Wall()).Sub(l.Time())
}

func (c *clock) now() time.Time { return c.loop.Now().Add(c.ahead) }

// onLoop returns the time of the loop at a time of the job.
func (c *clock) onLoop(t time.Time) time.Time { return t.Add(-c.ahead) }

// read reads both clocks at one moment: now stands still while a turn of the loop lasts, the
// calendar goes on.
func (c *clock) read() job.Clock {
	return job.Clock{Job: c.loop.Time().Add(c.ahead), Calendar: c.loop.Wall()}
}

// date returns the time of the calendar at a time of the job.
func (c *clock) date(t time.Time) time.Time { return c.read().Date(t) }
