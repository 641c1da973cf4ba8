package fetch

import (
	"fmt"

	"github.com/weftcrawl/weft/aio"
)

// workers are the tasks of a loop that take leases, one at a time.
type workers struct {
	most  int
	begun int
	idle  int        // of these
	group *aio.Group // of these; nil: none has begun
}

// add begins a worker.
func (w *workers) add(loop int, work func(*aio.Task) error) {
	w.begun++
	w.idle++
	w.group.Go(fmt.Sprintf("worker %d.%d", loop, w.begun), work)
}

// take takes in that a worker has a lease, and reports whether another is to begin: as long as
// there may be more workers, one is idle.
func (w *workers) take() (more bool) {
	w.idle--
	return w.idle == 0 && w.begun < w.most
}

// leave takes in that a task is no worker any more, which has a lease.
func (w *workers) leave() { w.begun-- }

// rejoin has a task that has left be a worker again if none is idle, and reports whether it is one:
// the group must not be empty, or it ends, and the loop with it.
func (w *workers) rejoin() bool {
	if !w.lacks() {
		return false
	}
	w.begun++
	w.idle++
	return true
}

// lacks reports whether another is to begin for a lease that comes.
func (w *workers) lacks() bool { return w.idle == 0 && w.group != nil && w.begun < w.most }
