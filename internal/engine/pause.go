package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/job"
)

// The reasons of pauses, in which no fetch starts; more than one may hold.
const (
	PausedFull        = "the disk is full"
	PausedDescriptors = "no file descriptor is left"
	PausedFree        = "free disk space is below the minimum"
	PausedByHand      = "by hand"
	PausedSignedOut   = "it is logged out"
	PausedOutbox      = "messages wait to be delivered to other nodes"
	pausedMemory      = "waiting for memory"
)

// shortNames are those of reasons, as monitoring has them.
var shortNames = map[string]string{
	PausedFull: "disk", PausedDescriptors: "descriptors", PausedFree: "free-space", PausedByHand: "hand",
	PausedSignedOut: "login", PausedOutbox: "outbox", pausedMemory: "memory",
}

// pauses are the reasons why no fetch starts; without one they do.
// Owner: the coordinator's loop.
type pauses struct {
	loops  *loops
	lifted func()            // called when a reason has gone
	render func(paused bool) // tells the pages that are being rendered; nil: none ever is

	reasons map[string]bool
	down    bool // the network is
}

// any reports whether a reason holds.
func (p *pauses) any() bool { return len(p.reasons) > 0 }

// all returns the reasons in order.
func (p *pauses) all() []string { return slices.Sorted(maps.Keys(p.reasons)) }

// set stops new fetches for a reason, or lifts it. Fetches start again when no reason is left.
func (p *pauses) set(reason string, on bool) {
	switch {
	case on:
		if p.reasons == nil {
			p.reasons = make(map[string]bool)
		}
		p.reasons[reason] = true
		p.tell()
		if reason == PausedDescriptors { // a kept connection has one
			p.loops.disconnect()
		}
	case p.reasons[reason]:
		delete(p.reasons, reason)
		p.tell()
		p.lifted()
	}
}

// tell tells the pages that are being rendered whether their requests are made.
func (p *pauses) tell() {
	if p.render != nil {
		p.render(p.down || p.any())
	}
}

// offline takes in whether the network is down: no page is to blame for what does not come then.
func (p *pauses) offline(down bool) {
	if p.down != down {
		p.down = down
		p.tell()
	}
}

// watchFreeSpace is the task that pauses the crawl, until it is over, while less is free on the
// disk of its job than a minimum.
func (p *pauses) watchFreeSpace(t *aio.Task, j *job.Job, least int, over *aio.Event) error {
	for !over.IsSet() {
		free, err := aio.Offload(t, func(context.Context) (uint64, error) { return j.Free() })
		if err != nil {
			return err
		}
		p.set(PausedFree, free < uint64(least))
		err = t.Timeout(time.Second, over.Wait)
		var late *aio.TimeoutError
		if err != nil && !errors.As(err, &late) {
			return err
		}
	}
	return nil
}
