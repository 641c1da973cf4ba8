package aiotest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// together runs each main on a loop of its own, all on one clock, which stands still until all
// have started.
func together(t *testing.T, clock *aiotest.Clock, mains ...func(task *aio.Task) error) {
	t.Helper()
	hold := clock.Attach() // a loop that is never idle
	var begun, ended sync.WaitGroup
	for i, main := range mains {
		begun.Add(1)
		ended.Go(func() {
			err := aio.NewLoop(aio.Options{Clock: clock}).Run(t.Context(), func(task *aio.Task) error {
				begun.Done()
				return main(task)
			})
			if err != nil {
				t.Errorf("loop %d: %v", i, err)
			}
		})
	}
	begun.Wait()
	hold.Close()
	ended.Wait()
}

// watch observes the clock for a moment of real time and returns an error if it moves.
func watch(clock *aiotest.Clock) error {
	from := clock.Now()
	for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); runtime.Gosched() {
		if now := clock.Now(); now != from {
			return fmt.Errorf("the clock jumped %v", now.Sub(from))
		}
	}
	return nil
}

func TestClockJumpsToTheNextTimer(t *testing.T) {
	clock := aiotest.NewClock()
	together(t, clock, func(task *aio.Task) error {
		for i := range 3 {
			if err := task.Sleep(1000 * time.Hour); err != nil {
				return err
			}
			if err := expect("time", elapsed(task), time.Duration(i+1)*1000*time.Hour); err != nil {
				return err
			}
		}
		return nil
	})
	if got := clock.Now().Sub(aiotest.Epoch); got != 3000*time.Hour {
		t.Errorf("in the end the clock shows %v, want 3000h", got)
	}
}

func TestLoopsOnOneClockTakeTurns(t *testing.T) {
	var log []string // the clock orders the loops, so it needs no lock
	at := func(name string, seconds ...int) func(task *aio.Task) error {
		return func(task *aio.Task) error {
			for _, s := range seconds {
				if err := task.SleepUntil(aiotest.Epoch.Add(time.Duration(s) * time.Second)); err != nil {
					return err
				}
				log = append(log, fmt.Sprintf("%s at %v", name, elapsed(task)))
			}
			return nil
		}
	}
	together(t, aiotest.NewClock(), at("a", 1, 4, 5), at("b", 2), at("c", 3, 6))
	want := "a at 1s, b at 2s, c at 3s, a at 4s, a at 5s, c at 6s"
	if got := strings.Join(log, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestClockStandsStillWhileALoopIsBusy(t *testing.T) {
	clock := aiotest.NewClock()
	together(t, clock,
		func(task *aio.Task) error { return watch(clock) },
		func(task *aio.Task) error { return task.Sleep(time.Hour) })
}

func TestClockStandsStillWhileAnOffloadRuns(t *testing.T) {
	offload := func(clock *aiotest.Clock) func(task *aio.Task) error {
		return func(task *aio.Task) error {
			for range 3 {
				_, err := aio.Offload(task, func(context.Context) (struct{}, error) { return struct{}{}, watch(clock) })
				if err != nil {
					return err
				}
				if err := task.Sleep(time.Minute); err != nil {
					return err
				}
			}
			return expect("time", elapsed(task), 3*time.Minute)
		}
	}
	sleep := func(task *aio.Task) error { return task.Sleep(time.Hour) }

	t.Run("of the same loop", func(t *testing.T) {
		clock := aiotest.NewClock()
		together(t, clock, func(task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				g.Go("sleeps", sleep)
				return offload(clock)(task)
			})
		})
	})
	t.Run("of another loop", func(t *testing.T) {
		clock := aiotest.NewClock()
		together(t, clock, offload(clock), sleep)
	})
}

func TestAPostArrivesAtTheTimeOfItsSender(t *testing.T) {
	var (
		ball  [2]aio.Event // each owned by its player's loop
		doors [2]chan *aio.Handle
		log   [2][]time.Duration
	)
	for i := range doors {
		doors[i] = make(chan *aio.Handle, 1)
	}
	play := func(me int, first bool) func(task *aio.Task) error {
		return func(task *aio.Task) error {
			doors[me] <- task.Loop().Handle()
			other := <-doors[1-me]
			defer other.Close()
			for i := range 5 {
				if i > 0 || !first {
					if err := ball[me].Wait(task); err != nil {
						return err
					}
					ball[me].Clear()
				}
				log[me] = append(log[me], elapsed(task))
				if err := task.Sleep(time.Second); err != nil {
					return err
				}
				// After the last the other may be gone.
				if err := other.Post(ball[1-me].Set); err != nil && i < 4 {
					return err
				}
			}
			return nil
		}
	}
	together(t, aiotest.NewClock(), play(0, true), play(1, false))
	for i := range 5 {
		want := [2]time.Duration{time.Duration(2*i) * time.Second, time.Duration(2*i+1) * time.Second}
		if got := [2]time.Duration{log[0][i], log[1][i]}; got != want {
			t.Errorf("ball %d: at %v, want %v", i, got, want)
		}
	}
}

// However many loops, tasks and offloads there are, every sleeper wakes on time.
func TestNobodyWakesLate(t *testing.T) {
	for seed := range uint64(5) {
		var mains []func(task *aio.Task) error
		for i := range uint64(4) {
			mains = append(mains, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					for j := range uint64(5) {
						rnd := rand.New(rand.NewPCG(seed, i<<8|j))
						g.Go("sleeper", func(task *aio.Task) error {
							for range 50 {
								if rnd.IntN(4) == 0 {
									_, err := aio.Offload(task, func(context.Context) (int, error) { runtime.Gosched(); return 0, nil })
									if err != nil {
										return err
									}
								}
								d := time.Duration(rnd.IntN(20)) * time.Millisecond
								want := elapsed(task) + d
								if err := task.Sleep(d); err != nil {
									return err
								}
								if err := expect("woken", elapsed(task), want); err != nil {
									return err
								}
							}
							return nil
						})
					}
					return nil
				})
			})
		}
		together(t, aiotest.NewClock(), mains...)
	}
}

func TestTheClockGoesOnWhenTheLastHoldIsReleased(t *testing.T) {
	for range 100 { // the scheduler decides which comes first, Sleep or Release
		clock := aiotest.NewClock()
		s := clock.Attach()
		s.Hold()
		slept := make(chan struct{})
		go func() {
			defer close(slept)
			s.Sleep(aiotest.Epoch.Add(time.Hour))
		}()
		runtime.Gosched()
		s.Release()
		<-slept // never, if the clock stands still
		s.Close()
	}
}

func TestAWakeBeforeSleepCounts(t *testing.T) {
	clock := aiotest.NewClock()
	s := clock.Attach()
	defer s.Close()
	s.Wake()
	s.Sleep(time.Time{}) // would never return
	s.Wake()
	s.Sleep(aiotest.Epoch.Add(time.Hour))
	if now := clock.Now(); now != aiotest.Epoch {
		t.Errorf("woken by Wake, and yet the clock jumped to %v", now)
	}
}
