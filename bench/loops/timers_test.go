package loops

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
)

const pending = 1_000_000

// BenchmarkTimers sets a million timers, cancels all in another order, and fires all. One item is
// one timer.
func BenchmarkTimers(b *testing.B) {
	for _, what := range []string{"set", "cancel"} {
		b.Run(what, func(b *testing.B) {
			b.Run("aio", func(b *testing.B) {
				onLoop(b, func(t *aio.Task) error {
					set := func(d time.Duration) *aio.Callback { return t.Loop().CallLater(d, func() {}) }
					measureTimers(b, what, set, (*aio.Callback).Cancel)
					return nil
				})
			})
			b.Run("runtime", func(b *testing.B) {
				set := func(d time.Duration) *time.Timer { return time.AfterFunc(d, func() {}) }
				measureTimers(b, what, set, (*time.Timer).Stop)
			})
		})
	}
	b.Run("fire", func(b *testing.B) {
		b.Run("aio", func(b *testing.B) { onLoop(b, func(t *aio.Task) error { return fireOnLoop(b, t) }) })
		b.Run("runtime", fireInRuntime)
	})
}

// measureTimers measures setting or cancelling.
func measureTimers[T any](b *testing.B, what string, set func(time.Duration) T, cancel func(T) bool) {
	after := randomTimes(time.Hour, time.Hour)
	order := rand.New(rand.NewPCG(3, 4)).Perm(pending)
	timers := make([]T, pending)
	m := &meter{b: b}
	for range b.N {
		if what == "set" {
			m.start()
		}
		for i, d := range after {
			timers[i] = set(d)
		}
		if what == "set" {
			m.stop()
		} else {
			m.start()
		}
		for _, i := range order {
			if !cancel(timers[i]) {
				b.Errorf("timer %d could not be cancelled", i)
			}
		}
		if what == "cancel" {
			m.stop()
		}
	}
	m.report(pending * b.N)
}

// All timers come due within 100 ms, faster than they can fire: so the figure is the cost of the
// loop and the runtime, not their sleep between two timers. Before that, there is time to set them
// all.
const (
	fireAfter  = 3 * time.Second
	fireWithin = 100 * time.Millisecond
	fireEarly  = 30 * time.Millisecond // the meter starts before the first timer by this much
)

func fireOnLoop(b *testing.B, t *aio.Task) error {
	after := randomTimes(fireAfter, fireWithin)
	m := &meter{b: b}
	for range b.N {
		fired := 0
		var all aio.Event
		fire := func() {
			if fired++; fired == pending {
				all.Set()
			}
		}
		began := time.Now()
		for _, d := range after {
			t.Loop().CallAt(began.Add(d), fire)
		}
		settle()
		if err := t.SleepUntil(began.Add(fireAfter - fireEarly)); err != nil {
			return err
		}
		checkFired(b, fired)
		m.begin()
		if err := all.Wait(t); err != nil {
			return err
		}
		m.stop()
	}
	m.report(pending * b.N)
	return nil
}

func fireInRuntime(b *testing.B) {
	after := randomTimes(fireAfter, fireWithin)
	m := &meter{b: b}
	for range b.N {
		var fired atomic.Int64
		all := make(chan struct{})
		fire := func() {
			if fired.Add(1) == pending {
				close(all)
			}
		}
		began := time.Now()
		for _, d := range after {
			time.AfterFunc(time.Until(began.Add(d)), fire)
		}
		settle()
		time.Sleep(time.Until(began.Add(fireAfter - fireEarly)))
		checkFired(b, int(fired.Load()))
		m.begin()
		<-all
		m.stop()
	}
	m.report(pending * b.N)
}

func checkFired(b *testing.B, n int) {
	if n > 0 {
		b.Errorf("%d timers fired before the clock was started: the machine is too slow for a lead of %v", n, fireAfter)
	}
}

// randomTimes returns the same times in every run.
func randomTimes(from, within time.Duration) []time.Duration {
	r := rand.New(rand.NewPCG(1, 2))
	ds := make([]time.Duration, pending)
	for i := range ds {
		ds[i] = from + time.Duration(r.Int64N(int64(within)))
	}
	return ds
}
