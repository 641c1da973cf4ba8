package engine

import (
	"fmt"
	"sync"

	"github.com/weftcrawl/weft/internal/frontier/store"
)

// Disk passes on that the store of a job, or the output, waits for room on its disk or for a
// descriptor: as a warning before the crawl runs, as a pause while it does.
type Disk struct {
	OnWarning func(error)

	mu struct {
		sync.Mutex
		pause func(reason string, full bool) // of the crawl, once it runs; nil: it does not
	}
}

// Waiting reports that the disk is full or no descriptor left, or with nil that it waits no longer.
func (d *Disk) Waiting(full error) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	reason := PausedFull
	if store.NoDescriptor(full) {
		reason = PausedDescriptors
	}
	switch {
	case d.mu.pause != nil:
		d.mu.pause(reason, full != nil)
	case full != nil && d.OnWarning != nil:
		d.OnWarning(fmt.Errorf("%s, the crawl starts when there is room: %w", reason, full))
	}
}

// attach has shortages pause a crawl.
func (d *Disk) attach(pause func(reason string, full bool)) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.pause = pause
}
