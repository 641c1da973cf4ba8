package loops

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/aio"
)

// crowd is the number of tasks that take turns: too many for the caches, as in a crawl.
const crowd = 10_000

// BenchmarkRoundRobin: every task gives up its turn and gets it back after all others. One item is
// one turn.
func BenchmarkRoundRobin(b *testing.B) {
	b.Run("tasks", func(b *testing.B) {
		turns := 0
		tasks(b, crowd, crowd*b.N, func(t *aio.Task, i int) error {
			for range b.N {
				if err := t.Yield(); err != nil {
					return err
				}
				turns++
			}
			return nil
		}, nil)
		checkCount(b, turns, crowd*b.N)
	})
	b.Run("goroutines", func(b *testing.B) {
		var turns atomic.Int64
		goroutines(b, crowd, crowd*b.N, func(i int) {
			n := 0
			for range b.N {
				runtime.Gosched()
				n++
			}
			turns.Add(int64(n)) // once: a shared counter would cost them more than the switch
		}, nil)
		checkCount(b, int(turns.Load()), crowd*b.N)
	})
}

// BenchmarkRing: a token goes round; each task that gets it wakes the next and waits again. One
// item is one hop.
func BenchmarkRing(b *testing.B) {
	b.Run("lots", func(b *testing.B) {
		lots := make([]aio.Lot, crowd)
		hops := 0
		tasks(b, crowd, crowd*b.N, func(t *aio.Task, i int) error {
			for range b.N {
				if err := lots[i].Park(t, "the token"); err != nil {
					return err
				}
				hops++
				lots[(i+1)%crowd].Unpark(nil)
			}
			return nil
		}, func() { lots[0].Unpark(nil) })
		checkCount(b, hops, crowd*b.N)
	})
	b.Run("events", func(b *testing.B) {
		events := make([]aio.Event, crowd)
		hops := 0
		tasks(b, crowd, crowd*b.N, func(t *aio.Task, i int) error {
			for range b.N {
				if err := events[i].Wait(t); err != nil {
					return err
				}
				events[i].Clear()
				hops++
				events[(i+1)%crowd].Set()
			}
			return nil
		}, func() { events[0].Set() })
		checkCount(b, hops, crowd*b.N)
	})
	b.Run("channels", func(b *testing.B) {
		channels := make([]chan int, crowd)
		for i := range channels {
			channels[i] = make(chan int)
		}
		end := make(chan int, 1)
		goroutines(b, crowd, crowd*b.N, func(i int) {
			next := channels[(i+1)%crowd]
			for n := range b.N {
				hops := <-channels[i] + 1
				if i == crowd-1 && n == b.N-1 {
					next = end // the first has had all its turns
				}
				next <- hops
			}
		}, func() { channels[0] <- 0 })
		checkCount(b, <-end, crowd*b.N)
	})
}

// hot is the number of exchanges in a round.
const hot = 10_000

// BenchmarkPingPong: two tasks take turns, all in the caches. One item is there and back.
func BenchmarkPingPong(b *testing.B) {
	b.Run("lots", func(b *testing.B) {
		var lots [2]aio.Lot
		turns := 0
		tasks(b, 2, hot*b.N, func(t *aio.Task, i int) error {
			for range hot * b.N {
				if err := lots[i].Park(t, "the ball"); err != nil {
					return err
				}
				turns++
				lots[1-i].Unpark(nil)
			}
			return nil
		}, func() { lots[0].Unpark(nil) })
		checkCount(b, turns, 2*hot*b.N)
	})
	b.Run("yield", func(b *testing.B) {
		turns := 0
		tasks(b, 2, hot*b.N, func(t *aio.Task, i int) error {
			for range hot * b.N {
				if err := t.Yield(); err != nil {
					return err
				}
				turns++
			}
			return nil
		}, nil)
		checkCount(b, turns, 2*hot*b.N)
	})
	b.Run("channels", func(b *testing.B) {
		there, back := make(chan int), make(chan int)
		last := 0
		goroutines(b, 2, hot*b.N, func(i int) {
			for n := range hot * b.N {
				if i == 0 {
					there <- n
					last = <-back
				} else {
					back <- <-there + 1
				}
			}
		}, nil)
		checkCount(b, last, hot*b.N)
	})
}

// tasks measures n tasks that run body until all have ended, for a number of items of work. They
// exist and wait before the meter starts: on their own, for begin to wake them; or, if begin is
// nil, at a gate.
func tasks(b *testing.B, n, items int, body func(t *aio.Task, i int) error, begin func()) {
	m := &meter{b: b}
	onLoop(b, func(t *aio.Task) error {
		var gate aio.Event
		err := t.Group(func(g *aio.Group) error {
			for i := range n {
				g.Go("turn", func(t *aio.Task) error {
					if begin == nil {
						if err := gate.Wait(t); err != nil {
							return err
						}
					}
					return body(t, i)
				})
			}
			if err := t.Yield(); err != nil {
				return err
			}
			m.start()
			if begin != nil {
				begin()
			}
			gate.Set()
			return nil
		})
		m.stop()
		return err
	})
	m.report(items)
}

// goroutines is tasks, with goroutines.
func goroutines(b *testing.B, n, items int, body func(i int), begin func()) {
	m := &meter{b: b}
	gate := make(chan struct{})
	var there, ended sync.WaitGroup
	there.Add(n)
	for i := range n {
		ended.Go(func() {
			there.Done()
			if begin == nil {
				<-gate
			}
			body(i)
		})
	}
	there.Wait()
	m.start()
	if begin != nil {
		begin()
	}
	close(gate)
	ended.Wait()
	m.stop()
	m.report(items)
}

func checkCount(b *testing.B, got, want int) {
	b.Helper()
	if got != want {
		b.Errorf("%d turns, expected %d", got, want)
	}
}
