package weft

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// Why a crawl begins no URL for a while; more than one may hold.
const (
	pausedFull   = "the disk is full"
	pausedFree   = "there is less room on the disk than is to stay free"
	pausedByHand = "as told"
	pausedMemory = "waiting for memory"
)

// reasons are why no URL is begun now; empty: they are. Who makes the meter full comes with an
// outcome when it is not any more, so dispatch need not be told.
func (d *desk) reasons() []string {
	all := slices.Sorted(maps.Keys(d.paused))
	if d.meter.Full() && !d.over.IsSet() {
		all = append(all, pausedMemory)
	}
	return all
}

// watchRoom is the task that pauses the crawl while less is free on the disk than is to
// stay free.
func (d *desk) watchRoom(t *aio.Task) error {
	for !d.over.IsSet() {
		free, err := aio.Offload(t, func(context.Context) (uint64, error) { return d.job.free() })
		if err != nil {
			return err
		}
		d.pause(pausedFree, free < uint64(d.cfg.MinFree))
		err = t.Timeout(time.Second, d.over.Wait)
		var late *aio.TimeoutError
		if err != nil && !errors.As(err, &late) {
			return err
		}
	}
	return nil
}

// pause begins no more URLs for a reason, or goes on when that is gone.
func (d *desk) pause(reason string, on bool) {
	if d.paused == nil {
		d.paused = make(map[string]bool)
	}
	switch {
	case on:
		d.paused[reason] = true
	case d.paused[reason]:
		delete(d.paused, reason)
		d.dispatch()
	}
}
