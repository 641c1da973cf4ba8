package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/record"
)

// TaskStatus is a task of a running crawl.
type TaskStatus = record.TaskStatus

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
		all = append(all, TaskStatus{Loop: name, ID: t.ID, Task: t.Name, Parent: t.Parent, State: t.State, Waits: t.Waits, Since: since})
	}
	return all
}
