package engine

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// Why a crawl starts no fetch for a while; more than one may hold.
const (
	PausedFull        = "the disk is full"
	PausedDescriptors = "no file descriptor is left"
	PausedFree        = "free disk space is below the minimum"
	PausedByHand      = "by hand"
	PausedOutbox      = "messages wait to be delivered to other nodes"
	pausedMemory      = "waiting for memory"
)

// pauses are the reasons why no fetch starts; empty: they do.
type pauses map[string]bool

// Paused returns why no fetch starts now; empty: they do. A worker that frees memory reports an
// outcome, so nothing else need wake the crawl from pausedMemory.
func (d *Coordinator) Paused() []string {
	all := slices.Sorted(maps.Keys(d.pauses))
	if d.shared.Bodies.Full(false) && !d.ending.over.IsSet() {
		all = append(all, pausedMemory)
	}
	if d.node.untold.overdue(d.loop.Now()) && !d.pauses[PausedOutbox] {
		all = append(all, PausedOutbox)
	}
	if d.outage.down {
		all = append(all, d.outage.words(d.loop.Now()))
	}
	return all
}

// PausedBy reports whether a reason holds.
func (d *Coordinator) PausedBy(reason string) bool { return d.pauses[reason] }

// Pause stops new fetches for a reason, or lifts it. Fetches start again when no reason is left.
func (d *Coordinator) Pause(reason string, on bool) {
	if d.pauses == nil {
		d.pauses = make(pauses)
	}
	switch {
	case on:
		d.pauses[reason] = true
		if reason == PausedDescriptors { // a kept connection has one
			for _, f := range d.loops {
				f.Disconnect()
			}
		}
	case d.pauses[reason]:
		delete(d.pauses, reason)
		d.wantAgain()
		d.Dispatch()
	}
}

// watchFreeSpace is the task that pauses the crawl while less is free on the disk than MinFree.
func (d *Coordinator) watchFreeSpace(t *aio.Task) error {
	for !d.ending.over.IsSet() {
		free, err := aio.Offload(t, func(context.Context) (uint64, error) { return d.cfg.Job.Free() })
		if err != nil {
			return err
		}
		d.Pause(PausedFree, free < uint64(d.cfg.MinFree))
		err = t.Timeout(time.Second, d.ending.over.Wait)
		var late *aio.TimeoutError
		if err != nil && !errors.As(err, &late) {
			return err
		}
	}
	return nil
}
