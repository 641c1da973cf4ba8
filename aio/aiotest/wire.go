package aiotest

import (
	"time"

	"github.com/weftcrawl/weft/aio"
)

// wire is one direction of a connection. Everything arrives in the order in which it was sent,
// whatever its delay, and never in the turn in which it was sent.
type wire struct {
	loop     *aio.Loop
	underway []parcel
}

// parcel is something in transit, and what happens on its arrival.
type parcel struct {
	at     time.Time // not before this time, and not before earlier parcels
	arrive func()
}

// send schedules arrive after d, behind everything sent before.
func (w *wire) send(d time.Duration, arrive func()) {
	w.underway = append(w.underway, parcel{w.loop.Now().Add(d), arrive})
	if len(w.underway) == 1 {
		w.await()
	}
}

// await delivers the first parcel when it is due. There is one callback at a time, for the first:
// so nothing overtakes.
func (w *wire) await() {
	if at := w.underway[0].at; at.After(w.loop.Now()) {
		w.loop.CallAt(at, w.deliver)
	} else {
		w.loop.CallSoon(w.deliver)
	}
}

func (w *wire) deliver() {
	now := w.loop.Now()
	for len(w.underway) > 0 && !w.underway[0].at.After(now) {
		arrive := w.underway[0].arrive
		w.underway[0] = parcel{}
		w.underway = w.underway[1:]
		arrive() // sends on the other direction, if at all
	}
	if len(w.underway) > 0 {
		w.await()
	}
}
