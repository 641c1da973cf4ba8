package budget_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/budget"
)

func run(t *testing.T, main func(*aio.Task) error) {
	t.Helper()
	if err := aio.NewLoop(aio.Options{Clock: aiotest.NewClock()}).Run(t.Context(), main); err != nil {
		t.Fatal(err)
	}
}

// TestBodiesDoNotWaitForEachOther checks that of half-read bodies that together fill the share
// every one completes, and that never more is held than the share and one of them.
func TestBodiesDoNotWaitForEachOther(t *testing.T) {
	const share, body, piece = 100, 30, 7
	m := budget.New(share)
	whole := 0
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			for i := range 50 {
				g.Go(fmt.Sprint(i), func(t *aio.Task) error {
					h := m.Open(false)
					defer h.Release()
					for h.Size() < body {
						if err := t.Sleep(time.Second); err != nil {
							return err
						}
						if err := h.Grow(t, piece); err != nil {
							return err
						}
					}
					whole++
					return nil
				})
			}
			return nil
		})
	})
	if whole != 50 || m.Held() != 0 {
		t.Errorf("%d bodies became whole, want 50; %d bytes are held at the end, want 0", whole, m.Held())
	}
	if most := int64(share + body + piece); m.Peak() <= share || m.Peak() > most {
		t.Errorf("%d bytes were held at most, want more than the share, %d, and at most %d", m.Peak(), share, most)
	}
}

// TestLargerThanTheShare checks that a body larger than the share completes, alone.
func TestLargerThanTheShare(t *testing.T) {
	m := budget.New(10)
	run(t, func(t *aio.Task) error {
		h := m.Open(false)
		defer h.Release()
		for range 100 {
			if err := h.Grow(t, 1); err != nil {
				return err
			}
		}
		return nil
	})
	if m.Peak() != 100 || m.Held() != 0 {
		t.Errorf("%d bytes were held at most, and %d at the end; want 100 and 0", m.Peak(), m.Held())
	}
}

// TestReserves checks that large bodies leave room for small ones, and those of hosts that are not
// prompt for those of prompt ones, whether one is favoured or not; and that these proceed while a
// large one waits.
func TestReserves(t *testing.T) {
	const share = 80 * budget.Small
	m := budget.New(share)
	run(t, func(task *aio.Task) error {
		large, larger, small, favoured := m.Open(false), m.Open(false), m.Open(false), m.Open(false)
		if !large.Try(share/4*3) || large.Try(1) || m.Crowded() {
			t.Errorf("%d bytes are held, want three quarters of %d, and nobody waiting", m.Held(), share)
		}
		if !small.Try(budget.Small) || small.Try(1) {
			t.Errorf("a small body holds %d bytes, want %d", small.Size(), budget.Small)
		}
		if err := favoured.Grow(task, share); err != nil {
			return err
		}
		many := make([]budget.Hold, 30)
		n := 0
		for i := range many {
			many[i] = m.Open(i >= 20)
			if many[i].Try(budget.Small) {
				n++
			}
		}
		if n != 9+10 || !m.Full(true) {
			t.Errorf("%d small bodies find room, want 9 of 20, and all of 10 prompt ones", n)
		}
		if larger = m.Open(true); larger.Try(2 * budget.Small) {
			t.Error("a large prompt body takes what is reserved for small ones")
		}
		for i := range many[22:] {
			many[22+i].Release()
		}
		if !larger.Try(2 * budget.Small) {
			t.Errorf("a large prompt body finds no room, %d of %d bytes are held", m.Held()-int64(favoured.Size()), share)
		}
		for _, h := range []*budget.Hold{&large, &larger, &small, &favoured} {
			h.Release()
		}
		for i := range many {
			many[i].Release()
		}
		return nil
	})
	if m.Held() != 0 {
		t.Errorf("%d bytes are held at the end", m.Held())
	}
}

// TestWaitIsGivenUp checks that a cancelled wait takes no turn and holds nothing more.
func TestWaitIsGivenUp(t *testing.T) {
	m := budget.New(10)
	run(t, func(task *aio.Task) error {
		first, second, third, other := m.Open(true), m.Open(true), m.Open(true), m.Open(true)
		if err := first.Grow(task, 20); err != nil { // favoured
			return err
		}
		if !other.Try(10) {
			t.Errorf("no room beside the favoured one")
		}
		err := task.Timeout(time.Second, func(t *aio.Task) error { return second.Grow(t, 5) })
		if !errors.Is(err, aio.ErrTimeout) || second.Size() != 0 {
			t.Errorf("Grow returned %v and %d bytes are held, want a time-out and none", err, second.Size())
		}
		task.Loop().CallLater(time.Second, other.Release)
		if err := third.Grow(task, 5); err != nil || third.Size() != 5 {
			t.Errorf("Grow returned %v and %d bytes are held, want 5", err, third.Size())
		}
		first.Release()
		second.Release()
		third.Release()
		return nil
	})
	if m.Held() != 0 {
		t.Errorf("%d bytes are held at the end", m.Held())
	}
}

// TestManyLoops checks that loops on their own threads can share a meter.
func TestManyLoops(t *testing.T) {
	const share, body = 1000, 300
	m := budget.New(share)
	ended := make(chan error)
	for range 4 {
		go func() {
			ended <- aio.NewLoop(aio.Options{}).Run(t.Context(), func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					for i := range 20 {
						g.Go(fmt.Sprint(i), func(t *aio.Task) error {
							for range 50 {
								var moved budget.Hold
								h := m.Open(false)
								for h.Size() < body {
									if err := h.Grow(t, 10); err != nil {
										return err
									}
									if err := t.Yield(); err != nil {
										return err
									}
								}
								h.Move(&moved)
								if err := t.Yield(); err != nil {
									return err
								}
								moved.Set(1)
								moved.Release()
							}
							return nil
						})
					}
					return nil
				})
			})
		}()
	}
	for range 4 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if m.Held() != 0 || m.Peak() > share+body {
		t.Errorf("%d bytes are held at the end, want 0; at most were %d, want at most %d", m.Held(), m.Peak(), share+body)
	}
}

func BenchmarkHold(b *testing.B) {
	m := budget.New(1 << 30)
	b.ReportAllocs()
	for b.Loop() {
		h := m.Open(false)
		h.Try(4096)
		h.Set(20000)
		h.Release()
	}
}
