package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// TaskStatus is a task of a running crawl.
type TaskStatus struct {
	Loop   string    `json:"loop"` // "coordinator", "fetch 1", …
	ID     uint64    `json:"id"`   // in the order in which the loop's tasks started
	Task   string    `json:"task"`
	Parent string    `json:"parent,omitempty"` // task whose group it is in
	State  string    `json:"state"`            // new, ready, running or parked
	Waits  string    `json:"waits,omitempty"`  // what for
	Since  time.Time `json:"since"`
}

// Tasks returns the tasks of all loops.
func (c *Crawl) Tasks(ctx context.Context) ([]TaskStatus, error) {
	var all []TaskStatus
	if err := c.Ask(ctx, func(co *Coordinator) { all = tasksOf("coordinator", co.clock.loop) }); err != nil {
		return nil, err
	}
	co := c.coordinator
	for i, f := range co.loops.all { // which do not change
		if f.AIO() == co.clock.loop {
			continue
		}
		reply := make(chan []TaskStatus, 1)
		if !f.Ask(func() { reply <- tasksOf(fmt.Sprintf("fetch %d", i+1), f.AIO()) }) {
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
	ahead := l.Wall().Sub(l.Now())
	for _, t := range l.Tasks() {
		since := t.Since.Add(ahead)
		all = append(all, TaskStatus{name, t.ID, t.Name, t.Parent, t.State, t.Waits, since})
	}
	return all
}
