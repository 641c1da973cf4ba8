package aiotest_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

func TestTrace(t *testing.T) {
	record := func(max int) string {
		trace := aiotest.Trace{Max: max}
		loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Trace: trace.Record})
		err := loop.Run(t.Context(), func(task *aio.Task) error {
			var q aio.Queue[int]
			return task.Group(func(g *aio.Group) error {
				g.Go("worker 3", func(task *aio.Task) error {
					_, err := q.Get(task)
					return err
				})
				if err := task.Sleep(1500 * time.Millisecond); err != nil {
					return err
				}
				return q.Put(task, 1)
			})
		})
		if err != nil {
			t.Error(err)
		}
		return trace.String()
	}
	for _, tt := range []struct {
		name string
		max  int
		want string
	}{
		{"all", 0, `    0.000s  start  main
    0.000s  start  worker 3
    0.000s  wait   main                      a time
    0.000s  wait   worker 3                  an item of a queue
    1.500s  wake   main                      a time
    1.500s  wake   worker 3                  an item of a queue
    1.500s  wait   main                      its group
    1.500s  end    worker 3
    1.500s  wake   main                      its group
    1.500s  end    main
`},
		{"the last", 3, `… 7 earlier
    1.500s  end    worker 3
    1.500s  wake   main                      its group
    1.500s  end    main
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := record(tt.max); got != tt.want {
				t.Errorf("got\n%swant\n%s", got, tt.want)
			}
		})
	}
}
