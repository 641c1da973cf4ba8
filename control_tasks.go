package weft

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// TaskStatus is a task of a crawl that runs.
type TaskStatus struct {
	Loop   string    `json:"loop"` // "desk", "fetch 1", …
	ID     uint64    `json:"id"`   // in the order in which the loop's tasks were started
	Task   string    `json:"task"`
	Parent string    `json:"parent,omitempty"` // whose group it is in
	State  string    `json:"state"`            // new, ready, running or parked
	Waits  string    `json:"waits,omitempty"`  // what for
	Since  time.Time `json:"since"`
}

// tasks returns the tasks of all loops.
func (c *Crawler) tasks(ctx context.Context) ([]TaskStatus, error) {
	var all []TaskStatus
	if err := c.ask(ctx, func(d *desk) { all = tasksOf("desk", d.loop) }); err != nil {
		return nil, err
	}
	d := c.desk
	for _, f := range d.fetchers { // which do not change
		if f.loop == d.loop {
			continue
		}
		reply := make(chan []TaskStatus, 1)
		if f.inbox.Post(func() { reply <- tasksOf(fmt.Sprintf("fetch %d", f.id+1), f.loop) }) != nil {
			continue // it has ended
		}
		select {
		case some := <-reply:
			all = slices.Concat(all, some)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return all, nil
}

func tasksOf(name string, l *aio.Loop) []TaskStatus {
	var all []TaskStatus
	for _, t := range l.Tasks() {
		all = append(all, TaskStatus{name, t.ID, t.Name, t.Parent, t.State, t.Waits, t.Since})
	}
	return all
}
