// Package share parts the places and the bytes of a server among its users, so that none of them
// keeps the others out.
//
// A context names the user: see [As]. The operator has no name, and may take all.
package share

import (
	"cmp"
	"context"
	"errors"
	"sync"
)

type userKey struct{}

// As returns a context in which things are taken in the name of a user; "": the operator.
func As(ctx context.Context, user string) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

func userOf(ctx context.Context) string {
	user, _ := ctx.Value(userKey{}).(string)
	return user
}

// Room has places that are waited for.
type Room struct {
	all chan struct{} // has a value for each place that is taken
	own int           // of one user

	mu sync.Mutex
	by map[string]chan struct{} // as all, by user
}

// NewRoom returns a room with so many places, of which one user may take as many as own; 0: three
// quarters.
func NewRoom(all, own int) *Room {
	return &Room{all: make(chan struct{}, all), own: cmp.Or(own, usual(all)), by: make(map[string]chan struct{})}
}

// usual is the share of one user, who leaves a quarter to others.
func usual(all int) int { return max(1, all*3/4) }

// Enter waits for a place. Error: that of ctx.
func (r *Room) Enter(ctx context.Context) (leave func(), err error) {
	var own chan struct{} // nil: the operator's
	if user := userOf(ctx); user != "" {
		r.mu.Lock()
		if own = r.by[user]; own == nil {
			own = make(chan struct{}, r.own)
			r.by[user] = own
		}
		r.mu.Unlock()
		select {
		case own <- struct{}{}:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	select {
	case r.all <- struct{}{}:
	case <-ctx.Done():
		if own != nil {
			<-own
		}
		return nil, ctx.Err()
	}
	return func() {
		<-r.all
		if own != nil {
			<-own
		}
	}, nil
}

// Stock has places, or bytes, of which nobody waits for any.
type Stock struct {
	own int // of one user

	mu   sync.Mutex
	left int
	by   map[string]int // taken, by user
}

// NewStock returns a stock of so many, of which one user may take as many as own; 0: three
// quarters.
func NewStock(all, own int) *Stock {
	return &Stock{own: cmp.Or(own, usual(all)), left: all, by: make(map[string]int)}
}

// ErrFull is the error of what a stock has no room for.
var ErrFull = errors.New("no room for it beside others: try again in a moment")

// Take takes n. Error: ErrFull.
func (s *Stock) Take(ctx context.Context, n int) (give func(), err error) {
	if err := s.take(ctx, n); err != nil {
		return nil, err
	}
	return func() { s.give(ctx, n) }, nil
}

func (s *Stock) take(ctx context.Context, n int) error {
	user := userOf(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > s.left || user != "" && n > s.own-s.by[user] {
		return ErrFull
	}
	s.left -= n
	s.by[user] += n
	return nil
}

// give gives back what was taken with ctx.
func (s *Stock) give(ctx context.Context, n int) {
	user := userOf(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left += n
	if s.by[user] -= n; s.by[user] == 0 {
		delete(s.by, user)
	}
}
