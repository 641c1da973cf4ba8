package share

import (
	"context"
	"errors"
	"testing"
)

// TestRoom: a user has no more places than its own, and others get theirs.
func TestRoom(t *testing.T) {
	places := NewRoom(4, 2)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	var leave []func()
	for i, c := range []struct {
		user string
		ok   bool
	}{{"a", true}, {"a", true}, {"a", false}, {"", true}, {"c", true}, {"d", false}} {
		ctx := t.Context()
		if !c.ok {
			ctx = over
		}
		if c.user != "" {
			ctx = As(ctx, c.user)
		}
		f, err := places.Enter(ctx)
		if (err == nil) != c.ok {
			t.Fatalf("%d: %v", i, err)
		}
		if c.ok {
			leave = append(leave, f)
		}
	}
	for _, f := range leave {
		f()
	}
	for user, own := range places.by {
		if len(own) > 0 {
			t.Errorf("%d of %s after all have left", len(own), user)
		}
	}
	if len(places.all) > 0 {
		t.Errorf("%d after all have left", len(places.all))
	}
}

// TestStock: a user takes no more than its own of a stock, and an account gives back what it holds.
func TestStock(t *testing.T) {
	s := NewStock(10, 6)
	a, closeA := s.Open(As(t.Context(), "a"))
	b, closeB := s.Open(As(t.Context(), "b"))
	for i, c := range []struct {
		ctx context.Context
		n   int
		ok  bool
	}{{a, 5, true}, {a, 2, false}, {a, 1, true}, {b, 5, false}, {b, 4, true}, {b, 1, false}, {t.Context(), 100, true}} {
		if err := Hold(c.ctx, c.n); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrFull) {
			t.Fatalf("%d: %v", i, err)
		}
	}
	if give, err := AtLeast(a, 6); err != nil {
		t.Error("what is held is taken again")
	} else {
		give()
	}
	closeB()
	if _, err := AtLeast(a, 7); err == nil {
		t.Error("more than its own")
	}
	give, err := s.Take(t.Context(), 3) // nobody's share
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Take(t.Context(), 2); err == nil {
		t.Error("more than there is")
	}
	closeA()
	if err := Hold(a, 1); err == nil {
		t.Error("for one who has left")
	}
	give()
	if s.left != 10 || len(s.by) > 0 {
		t.Errorf("%d left, taken %v", s.left, s.by)
	}
}
