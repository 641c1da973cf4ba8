package engine

import (
	"context"
	"fmt"
	"slices"
	"time"

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

// Loops returns figures of all loops; of one that does not answer until ctx is done, for how long
// it has not. The coordinator's loop must have answered before: see Ask.
func (c *Crawl) Loops(ctx context.Context) []record.Loop {
	type answer struct {
		at   int
		loop record.Loop
	}
	var all []record.Loop
	began, answers := time.Now(), make(chan answer, 1+len(c.coordinator.loops.all))
	ask := func(name string, l *aio.Loop, post func(func()) bool) {
		at := len(all)
		if post(func() {
			s := l.Stats()
			answers <- answer{at, record.Loop{
				Name: name, Lag: s.Lag.Seconds(), Answer: time.Since(began).Seconds(), Turns: s.Turns, Tasks: s.Tasks, Open: s.Descriptors,
			}}
		}) { // otherwise it has ended
			all = append(all, record.Loop{Name: name})
		}
	}
	own := c.coordinator.clock.loop
	ask("coordinator", own, func(fn func()) bool { return c.post(fn) == nil })
	for i, f := range c.coordinator.loops.all { // which do not change
		if f.AIO() != own {
			ask(fmt.Sprintf("fetch %d", i+1), f.AIO(), f.Ask)
		}
	}
	for range all {
		select {
		case a := <-answers:
			all[a.at] = a.loop
		case <-ctx.Done():
			for i := range all {
				all[i].Answer = max(all[i].Answer, time.Since(began).Seconds())
			}
			return all
		}
	}
	return all
}
