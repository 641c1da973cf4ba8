package share

import (
	"context"
	"sync"
)

type accountKey struct{}

// account has the bytes that one response holds of a stock.
type account struct {
	stock *Stock
	as    context.Context // of the one who takes them

	mu     sync.Mutex
	held   int
	closed bool
}

// Open returns a context with an account, for Hold and AtLeast. Close gives back all that it holds.
func (s *Stock) Open(ctx context.Context) (with context.Context, close func()) {
	a := &account{stock: s, as: ctx}
	return context.WithValue(ctx, accountKey{}, a), a.close
}

func (a *account) close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stock.give(a.as, a.held)
	a.held, a.closed = 0, true
}

// Hold takes n bytes until the account of ctx is closed. Without an account there is room for any.
// Error: ErrFull.
func Hold(ctx context.Context, n int) error {
	a, ok := ctx.Value(accountKey{}).(*account)
	if !ok {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return ErrFull // who asked has left
	}
	err := a.stock.take(a.as, n)
	if err == nil {
		a.held += n
	}
	return err
}

// AtLeast takes what the account of ctx lacks of n bytes, until give is called. Error: ErrFull.
func AtLeast(ctx context.Context, n int) (give func(), err error) {
	a, ok := ctx.Value(accountKey{}).(*account)
	if !ok {
		return func() {}, nil
	}
	a.mu.Lock()
	lacks := max(0, n-a.held)
	a.mu.Unlock()
	return a.stock.Take(a.as, lacks)
}
