package aiotest_test

import (
	"iter"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

func TestCheckLeaksFindsWhatIsLeft(t *testing.T) {
	for _, tt := range []struct {
		name string
		leak func(t testing.TB) (cleanUp func())
		want string
	}{
		{"goroutine", func(testing.TB) func() {
			quit := make(chan struct{})
			go leakyGoroutine(quit)
			return func() { close(quit) }
		}, "leakyGoroutine"},
		{"coroutine", func(testing.TB) func() {
			next, stop := iter.Pull(func(yield func(int) bool) { _ = yield(1) })
			next()
			return stop
		}, "coroutine"},
		{"file", func(t testing.TB) func() {
			f, err := os.Open(os.DevNull)
			if err != nil {
				t.Fatal(err)
			}
			return func() { f.Close() }
		}, "descriptor "},
		{"socket", func(t testing.TB) func() {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			return func() { w.Close() }
		}, "descriptor "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var cleanUp func()
			fake := try(t, func(t testing.TB) {
				aiotest.CheckLeaksFor(t, 10*time.Millisecond)
				cleanUp = tt.leak(t)
			})
			cleanUp()
			if got := fake.log.String(); !fake.failed || !strings.Contains(got, tt.want) {
				t.Errorf("failed: %v, logged %q, want %q in it", fake.failed, got, tt.want)
			}
		})
	}
}

func leakyGoroutine(quit <-chan struct{}) { <-quit }

func TestCheckLeaksWaitsForWhatIsAboutToEnd(t *testing.T) {
	fake := try(t, func(t testing.TB) {
		aiotest.CheckLeaks(t)
		quit := make(chan struct{})
		for range 100 {
			go leakyGoroutine(quit)
		}
		t.Cleanup(func() { close(quit) })
	})
	if fake.failed {
		t.Error(fake.log.String())
	}
}

func TestALoopLeavesNothing(t *testing.T) {
	for _, tt := range []struct {
		name string
		opt  aio.Options
	}{
		{"system", aio.Options{}},
		{"poll", aio.Options{Selector: "poll"}},
		{"virtual clock", aio.Options{Clock: aiotest.NewClock()}},
		{"watchdog", aio.Options{Report: func(aio.Report) {}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			aiotest.CheckLeaks(t)
			err := aio.NewLoop(tt.opt).Run(t.Context(), func(task *aio.Task) error { return task.Sleep(time.Millisecond) })
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
