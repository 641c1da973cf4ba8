package aiotest

import (
	"time"

	"github.com/weftcrawl/weft/aio"
)

// wire is one direction of a connection. What is sent arrives in the order in
// which it was sent, however long each was to take; never in the turn it was sent in.
type wire struct {
	loop     *aio.Loop
	underway []parcel
}

// parcel is something under way, and what is to happen at the other end.
type parcel struct {
	at     time.Time // not before, and not before those sent earlier
	arrive func()
}

// send has arrive called after d, behind all that was sent before.
func (w *wire) send(d time.Duration, arrive func()) {
	w.underway = append(w.underway, parcel{w.loop.Now().Add(d), arrive})
	if len(w.underway) == 1 {
		w.await()
	}
}

// await has the first parcel delivered when it is due. There is one callback at a
// time, for the first: so nothing overtakes.
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
