package aio_test

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/aio"
)

// ticking counts the turns of a loop while done is false.
func ticking(l *aio.Loop, done *bool) *int {
	turn := new(int)
	var tick func()
	tick = func() {
		if *turn++; !*done {
			l.CallSoon(tick)
		}
	}
	l.CallSoon(tick)
	return turn
}

// A turn has the quota plus what the last piece exceeded it by; the pieces come in order, however
// many tasks wait.
func TestQuota(t *testing.T) {
	for _, tt := range []struct {
		name    string
		tasks   int
		size    func(i int) int
		perTurn int // pieces
	}{
		{"pieces of the quota", 100, func(int) int { return 10 }, 1},
		{"longer ones", 100, func(int) int { return 1000 }, 1},
		{"smaller ones", 100, func(int) int { return 4 }, 3},
		{"nothing at all", 100, func(int) int { return 0 }, 100},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run(t, func(task *aio.Task) error {
				q := aio.NewQuota(task.Loop(), 10)
				done := false
				turn := ticking(task.Loop(), &done)
				pieces := make(map[int]int) // by turn
				var order []int
				err := task.Group(func(g *aio.Group) error {
					for i := range tt.tasks {
						g.Go(fmt.Sprint(i), func(task *aio.Task) error {
							if err := q.Take(task); err != nil {
								return err
							}
							q.Spend(tt.size(i))
							pieces[*turn]++
							order = append(order, i)
							return nil
						})
					}
					return nil
				})
				done = true
				for turn, n := range pieces {
					if n > tt.perTurn {
						t.Errorf("%d pieces in turn %d, want at most %d", n, turn, tt.perTurn)
					}
				}
				if most := tt.tasks + 2; *turn > most {
					t.Errorf("%d turns, want at most %d", *turn, most)
				}
				for i, got := range order {
					if i != got {
						t.Fatalf("order %v", order)
					}
				}
				return err
			})
		})
	}
}

// A single task takes until the quota is spent, and then waits for the next turn.
func TestQuotaOfOneTask(t *testing.T) {
	run(t, func(task *aio.Task) error {
		q := aio.NewQuota(task.Loop(), 10)
		done := false
		turn := ticking(task.Loop(), &done)
		for i, want := range []int{0, 0, 0, 1, 1, 1, 2} {
			if free := q.Free(); free != (i%3 != 0 || i == 0) {
				t.Errorf("piece %d: Free is %v", i, free)
			}
			if err := q.Take(task); err != nil {
				return err
			}
			q.Spend(4)
			expect(t, fmt.Sprintf("turn of piece %d", i), *turn, want)
		}
		done = true
		return nil
	})
}

// Whichever task is cancelled while it waits, the others get their turn.
func TestQuotaCancelled(t *testing.T) {
	const n = 60
	for _, victim := range []int{1, 5, 16, 17, 40, n - 1} {
		run(t, func(task *aio.Task) error {
			q := aio.NewQuota(task.Loop(), 10)
			var tasks []*aio.Task
			got := 0
			err := task.Group(func(g *aio.Group) error {
				for i := range n {
					tasks = append(tasks, g.Go(fmt.Sprint(i), func(task *aio.Task) error {
						err := q.Take(task)
						if i == victim {
							expectIs(t, "Take", err, aio.ErrCanceled)
							return nil
						}
						q.Spend(10)
						got++
						return err
					}))
				}
				if err := task.Yield(); err != nil {
					return err
				}
				tasks[victim].Cancel()
				return nil
			})
			expect(t, fmt.Sprintf("pieces without task %d", victim), got, n-1)
			if !q.Free() {
				if err := q.Take(task); err != nil {
					return err
				}
			}
			return err
		})
	}
}
