package aiotest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

func TestRun(t *testing.T) {
	for _, tt := range []struct {
		name      string
		main      func(t testing.TB, task *aio.Task) error
		failed    bool
		skipped   bool
		continues bool
		want      string
	}{
		{"nil", func(_ testing.TB, task *aio.Task) error { return task.Sleep(time.Hour) }, false, false, true, ""},
		{"error", func(testing.TB, *aio.Task) error { return errors.New("no such page") }, true, false, false, "no such page"},
		{"with the last steps", func(_ testing.TB, task *aio.Task) error {
			_ = task.Sleep(time.Second)
			return errors.New("no such page")
		}, true, false, false, "1.000s  wake   main"},
		{"panic", func(testing.TB, *aio.Task) error { panic("out of pages") }, true, false, false, "out of pages"},
		{"deadlock", func(_ testing.TB, task *aio.Task) error { return new(aio.Event).Wait(task) }, true, false, false, "an event"},
		{"Fatal", func(t testing.TB, _ *aio.Task) error { t.Fatal("no such page"); return nil }, true, false, false, "no such page"},
		{"Fatal in a task of a group", func(t testing.TB, task *aio.Task) error {
			return task.Group(func(g *aio.Group) error {
				g.Go("worker", func(*aio.Task) error { t.Fatal("no such page"); return nil })
				return nil
			})
		}, true, false, false, "no such page"},
		{"Skip", func(t testing.TB, _ *aio.Task) error { t.SkipNow(); return nil }, false, true, false, ""},
		{"ignored cancel", func(_ testing.TB, task *aio.Task) error {
			_ = task.Timeout(0, func(task *aio.Task) error {
				for range 1000 {
					_ = task.Yield()
				}
				return nil
			})
			return nil
		}, true, false, true, "has ignored it"},
		{"wait on another goroutine", func(_ testing.TB, task *aio.Task) error {
			done := make(chan any)
			go func() {
				defer func() { done <- recover() }()
				_ = task.Yield()
			}()
			panic(<-done)
		}, true, false, false, "not its own"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			went := false
			fake := try(t, func(t testing.TB) {
				aiotest.Run(t, func(task *aio.Task) error { return tt.main(t, task) })
				went = true
			})
			if fake.failed != tt.failed || fake.skipped != tt.skipped {
				t.Errorf("failed: %v, skipped: %v, want %v, %v", fake.failed, fake.skipped, tt.failed, tt.skipped)
			}
			if went != tt.continues {
				t.Errorf("the test went on after Run: %v, want %v", went, tt.continues)
			}
			if got := fake.log.String(); !strings.Contains(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("logged %q, want %q in it", got, tt.want)
			}
		})
	}
}
