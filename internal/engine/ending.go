package engine

import (
	"time"

	"github.com/weftcrawl/weft/aio"
)

// DrainTime is the time for which a crawl that drains waits for what is in flight. It is longer
// than most fetches take, and shorter than people wait for a command that they have interrupted.
const DrainTime = 10 * time.Second

// ending is the end of a crawl: by itself, by an order, or by a failure.
// Owner: the coordinator's loop.
type ending struct {
	clock    *clock
	loops    *loops
	abandon  func() // ends all waiting for room on the disk
	dispatch func() // ends the crawl once nothing is in flight

	drained func() // leaves the pages that are being rendered; nil: none are

	patience time.Duration // for what is in flight, and for room on the disk: DrainTime
	draining bool          // no more fetches start
	until    time.Time     // draining: then what is in flight is broken off
	breakOff *aio.Callback // at until
	began    time.Time     // the crawl, in this run; zero: it has not
	tooLong  *aio.Callback // after MaxTime; nil: none
	giveUp   *aio.Callback // of waiting for room on the disk
	over     aio.Event
	broken   bool  // by a cancelled context: the batch that is being saved is the last
	failure  error // of the outputs, or the seeds
}

// drain starts no more fetches. What is in flight finishes, or is broken off after DrainTime and
// stays pending; then the crawl ends.
func (e *ending) drain() {
	if !e.draining {
		e.draining, e.until = true, e.clock.loop.Now().Add(e.patience)
		e.breakOff = e.clock.loop.CallAt(e.until, e.loops.breakOff)
		if e.drained != nil {
			e.drained()
		}
	}
	e.dispatch()
}

// drainForPeople is drain for those who do not wait for a full disk: after DrainTime what needs
// room there fails, and the crawl with it.
func (e *ending) drainForPeople() {
	if e.giveUp == nil {
		e.giveUp = e.clock.loop.CallLater(e.patience, e.abandon)
	}
	e.drain()
}

// fail ends the crawl because its outputs cannot be written, or its seeds be read.
func (e *ending) fail(err error) {
	if e.failure == nil {
		e.failure = err
		e.drain()
	}
}

// finish ends the crawl: nothing is in flight.
func (e *ending) finish() {
	e.over.Set()
	if e.breakOff != nil {
		e.breakOff.Cancel()
	}
}

// close cancels what was to happen after the end.
func (e *ending) close() {
	if e.drained != nil {
		e.drained()
	}
	for _, late := range []*aio.Callback{e.giveUp, e.tooLong} {
		if late != nil {
			late.Cancel()
		}
	}
}

// left returns how long what is in flight may go on; 0: any time.
func (e *ending) left() time.Duration {
	if !e.draining {
		return 0
	}
	return max(0, e.until.Sub(e.clock.loop.Now()))
}
