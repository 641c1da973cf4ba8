package aio_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// run runs main on a loop with a virtual clock. An error of the loop fails the test.
func run(t *testing.T, main func(task *aio.Task) error) {
	t.Helper()
	err := runErr(t, main)
	switch {
	case t.Failed():
		t.FailNow() // a t.Fatal in a task: the error adds nothing
	case err != nil:
		t.Fatalf("the loop returned: %v", err)
	}
}

// runErr runs main on a loop with a virtual clock and returns the loop's error.
func runErr(t *testing.T, main func(task *aio.Task) error) error {
	t.Helper()
	return runWith(t, aio.Options{}, main)
}

// runWith is runErr with options; a Clock is a virtual one unless opt has one. The real-time bound
// is a last resort: no test comes near it unless it hangs.
func runWith(t *testing.T, opt aio.Options, main func(task *aio.Task) error) error {
	t.Helper()
	if opt.Clock == nil {
		opt.Clock = aiotest.NewClock()
	}
	hung := errors.New("the test hangs")
	ctx, cancel := context.WithTimeoutCause(context.Background(), time.Minute, hung)
	defer cancel()
	err := aio.NewLoop(opt).Run(ctx, main)
	if errors.Is(err, hung) {
		t.Fatal(hung)
	}
	return err
}

// settle lets all other tasks of the loop run until they wait.
func settle(task *aio.Task) {
	for range 10 {
		_ = task.Yield()
	}
}

// now returns the loop's time since the start of the virtual clock.
func now(task *aio.Task) time.Duration {
	return task.Loop().Now().Sub(aiotest.Epoch)
}

// expect compares two values.
func expect[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// expectIs looks for want in the chain of err.
func expectIs(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got error %v, want %v", what, err, want)
	}
}

// expectPanic calls fn and expects it to panic with a message that contains want.
func expectPanic(t *testing.T, want string, fn func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if r := recover(); r == nil {
			t.Errorf("no panic, want one with %q", want)
		} else if got := fmt.Sprint(r); !strings.Contains(got, want) {
			t.Errorf("panic %q, want one with %q", got, want)
		}
	}()
	fn()
}

// journal records events in order.
type journal struct{ lines []string }

func (j *journal) add(format string, args ...any) {
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

func (j *journal) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(j.lines, want) {
		t.Errorf("happened:\n\t%s\nwant:\n\t%s", strings.Join(j.lines, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// busyClock is a virtual clock on which a turn can take time: spend stands for work that holds the
// loop.
type busyClock struct {
	*aiotest.Clock
	spent atomic.Int64
}

func newBusyClock() *busyClock { return &busyClock{Clock: aiotest.NewClock()} }

func (c *busyClock) spend(d time.Duration) { c.spent.Add(int64(d)) }

func (c *busyClock) Now() time.Time { return c.Clock.Now().Add(time.Duration(c.spent.Load())) }

func (c *busyClock) Attach() aio.Sleeper { return &busySleeper{c.Clock.Attach(), c} }

type busySleeper struct {
	aio.Sleeper
	clock *busyClock
}

func (s *busySleeper) Sleep(until time.Time) {
	if !until.IsZero() {
		until = until.Add(-time.Duration(s.clock.spent.Load()))
	}
	s.Sleeper.Sleep(until)
}
