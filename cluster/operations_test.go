package cluster

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
)

// TestLoop: what others post, and what is to be done after an operation, runs on the loop's
// goroutine, in the order in which it was posted. It ends with the operations.
func TestLoop(t *testing.T) {
	t.Parallel()
	l := newLoop(newOperations(t.Context()))
	var got []int // the loop's: the race detector sees any other writer
	l.post(func() { got = append(got, 1) })
	l.post(func() {
		got = append(got, 2)
		l.begin(func(context.Context) func() { return func() { got = append(got, 3) } })
	})
	l.turn(0)
	if !slices.Equal(got, []int{1, 2}) {
		t.Errorf("%v before the operation has ended", got)
	}
	for len(got) < 3 && l.turn(forever) {
	}
	if !slices.Equal(got, []int{1, 2, 3}) {
		t.Error(got)
	}
	if l.turn(1); len(got) != 3 { // a nanosecond is over
		t.Error(got)
	}
	answered := make(chan error)
	go func() {
		n, err := ask(t.Context(), l, func() int { return len(got) })
		if n != 3 {
			err = errors.Join(err, errors.New("not the loop's"))
		}
		answered <- err
	}()
	l.turn(forever)
	if err := <-answered; err != nil {
		t.Error(err)
	}
	l.ops.stop()
	if l.turn(forever) || l.turn(0) {
		t.Error("a loop goes on after its end")
	}
	if _, err := ask(l.ops.ctx, l, func() int { return 0 }); err == nil {
		t.Error("a loop that has ended answers")
	}
}

// TestBatches: what comes while a batch is handled is the next batch, and no batch is too large.
func TestBatches(t *testing.T) {
	t.Parallel()
	ops := newOperations(t.Context())
	begun, proceed := make(chan bool), make(chan bool)
	var got [][]int
	b := &batches[int]{ops: ops, most: 2, handle: func(_ context.Context, some []int) {
		begun <- true
		<-proceed
		got = append(got, slices.Clone(some))
	}}
	b.add(1)
	<-begun
	for i := range 3 {
		b.add(2 + i)
	}
	for range 2 {
		proceed <- true
		<-begun
	}
	proceed <- true
	ops.wait()
	if want := [][]int{{1}, {2, 3}, {4}}; !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%v, expected %v", got, want)
	}
}

// TestTogether: functions run at once, up to a number; those that succeed have results, and the
// first failure is the error.
func TestTogether(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	running, most := 0, 0
	failed := errors.New("failed")
	pair := make(chan bool) // each of a pair waits for the other
	var all []func() (int, error)
	for i := range 8 {
		all = append(all, func() (int, error) {
			mu.Lock()
			running++
			most = max(most, running)
			mu.Unlock()
			select {
			case pair <- true:
			case <-pair:
			}
			mu.Lock()
			running--
			mu.Unlock()
			if i == 3 {
				return 0, failed
			}
			return i, nil
		})
	}
	results, err := together(2, all)
	slices.Sort(results)
	if !errors.Is(err, failed) || !slices.Equal(results, []int{0, 1, 2, 4, 5, 6, 7}) || most != 2 {
		t.Errorf("%v, %v; %d at once, expected 2", results, err, most)
	}
}

// TestFew: of functions that run at once, those beyond a number are refused, not kept waiting.
func TestFew(t *testing.T) {
	t.Parallel()
	ops := newOperations(t.Context())
	run := ops.few(2)
	end := make(chan bool)
	wait := func(context.Context) { <-end }
	first, second, third := run(wait), run(wait), run(wait)
	if !first || !second || third {
		t.Error("expected two of three to run")
	}
	close(end)
	ops.wait()
	if !run(func(context.Context) {}) {
		t.Error("refused after the others have ended")
	}
	ops.wait()
}

// TestWarnings: a warning of a kind comes once, or again only after a time.
func TestWarnings(t *testing.T) {
	t.Parallel()
	var said []string
	w := newWarnings(func(err error) { said = append(said, err.Error()) })
	for range 2 {
		w.once("a", func() error { return errors.New("once") })
		w.seldom("b", forever, func() error { return errors.New("seldom") })
		w.seldom("c", -1, func() error { return errors.New("always") })
	}
	if want := []string{"once", "seldom", "always", "always"}; !slices.Equal(said, want) {
		t.Errorf("%q, expected %q", said, want)
	}
}
