package aio_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// park starts n tasks that park in lot and record in j how they woke.
func park(g *aio.Group, lot *aio.Lot, j *journal, n int) []*aio.Task {
	var tasks []*aio.Task
	for i := range n {
		tasks = append(tasks, g.Go(fmt.Sprint("task ", i), func(task *aio.Task) error {
			err := lot.Park(task, "the test")
			j.add("%s: %v", task.Name(), err)
			return nil
		}))
	}
	return tasks
}

func TestLotOrder(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		var lot aio.Lot
		expect(t, "unpark of an empty lot", lot.Unpark(nil), false)
		lot.UnparkAll(nil)
		return task.Group(func(g *aio.Group) error {
			park(g, &lot, &j, 4)
			settle(task)
			expect(t, "length", lot.Len(), 4)
			expect(t, "unpark", lot.Unpark(nil), true)
			expect(t, "length after it, before the task runs", lot.Len(), 3)
			settle(task)
			j.add("one out")
			lot.UnparkAll(nil)
			expect(t, "length after all", lot.Len(), 0)
			return nil
		})
	})
	j.expect(t, "task 0: <nil>", "one out", "task 1: <nil>", "task 2: <nil>", "task 3: <nil>")
}

func TestLotPassesAnError(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		var lot aio.Lot
		return task.Group(func(g *aio.Group) error {
			park(g, &lot, &j, 3)
			settle(task)
			lot.Unpark(errors.New("first"))
			lot.UnparkAll(errors.New("all"))
			return nil
		})
	})
	j.expect(t, "task 0: first", "task 1: all", "task 2: all")
}

func TestLotCancel(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		var lot aio.Lot
		return task.Group(func(g *aio.Group) error {
			tasks := park(g, &lot, &j, 5)
			settle(task)
			for _, i := range []int{0, 2, 4} { // ends and middle of the list
				tasks[i].Cancel()
			}
			expect(t, "length after the cancel, before the tasks run", lot.Len(), 2)
			settle(task)
			j.add("now the others")
			lot.UnparkAll(nil)
			return nil
		})
	})
	j.expect(t, "task 0: canceled", "task 2: canceled", "task 4: canceled", "now the others",
		"task 1: <nil>", "task 3: <nil>")
}

// The first wake-up decides: a cancellation does not take back what a waker hands over.
func TestLotFirstReasonToWakeDecides(t *testing.T) {
	var j journal
	run(t, func(task *aio.Task) error {
		var lot aio.Lot
		return task.Group(func(g *aio.Group) error {
			tasks := park(g, &lot, &j, 2)
			settle(task)
			lot.Unpark(nil)
			tasks[0].Cancel()
			tasks[1].Cancel()
			expect(t, "unpark after the cancel", lot.Unpark(nil), false)
			return nil
		})
	})
	j.expect(t, "task 0: <nil>", "task 1: canceled")
}

// UnparkAll wakes the tasks that are parked now: a task that parks again waits again.
func TestLotParkAgain(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var lot aio.Lot
		return task.Group(func(g *aio.Group) error {
			woken := 0
			g.Go("again and again", func(task *aio.Task) error {
				for {
					if err := lot.Park(task, "the test"); err != nil {
						return err
					}
					woken++
				}
			})
			for want := range 5 {
				settle(task)
				expect(t, "woken", woken, want)
				lot.UnparkAll(nil)
			}
			g.Cancel()
			return nil
		})
	})
}

func TestLotTimeout(t *testing.T) {
	run(t, func(task *aio.Task) error {
		var lot aio.Lot
		err := task.Timeout(time.Second, func(task *aio.Task) error { return lot.Park(task, "the test") })
		expectIs(t, "park", err, aio.ErrTimeout)
		expect(t, "length", lot.Len(), 0)
		return nil
	})
}
