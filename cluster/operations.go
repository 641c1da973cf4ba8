package cluster

import (
	"context"
	"sync"
	"time"
)

// operations are the goroutines that run beside the loops of a node: what they do takes time.
type operations struct {
	ctx  context.Context // ends with the node
	stop context.CancelFunc
	all  sync.WaitGroup
}

// newOperations returns operations that go on when ctx ends, until stop is called.
func newOperations(ctx context.Context) *operations {
	o := new(operations)
	o.ctx, o.stop = context.WithCancel(context.WithoutCancel(ctx))
	return o
}

// run runs fn on a goroutine of its own.
func (o *operations) run(fn func(ctx context.Context)) { o.all.Go(func() { fn(o.ctx) }) }

// every calls fn now and then, until the node ends.
func (o *operations) every(d time.Duration, fn func(ctx context.Context)) {
	o.until(o.ctx, d, func() { fn(o.ctx) })
}

// until calls fn now and then, until ctx ends.
func (o *operations) until(ctx context.Context, d time.Duration, fn func()) {
	o.all.Go(func() {
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				fn()
			case <-ctx.Done():
				return
			}
		}
	})
}

// few returns what run does, unless n of these functions run already: then it reports false.
func (o *operations) few(n int) func(fn func(ctx context.Context)) bool {
	running := make(chan struct{}, n)
	return func(fn func(ctx context.Context)) bool {
		select {
		case running <- struct{}{}:
		default:
			return false
		}
		o.run(func(ctx context.Context) {
			defer func() { <-running }()
			fn(ctx)
		})
		return true
	}
}

// wait waits until all have ended.
func (o *operations) wait() { o.all.Wait() }

// loop is a goroutine that owns the state of its parts. It runs the functions that others post.
type loop struct {
	mail *mailbox
	ops  *operations // beside it
}

func newLoop(ops *operations) *loop { return &loop{newMailbox(), ops} }

// post has fn called by the loop. Any goroutine may post.
func (l *loop) post(fn func()) { l.mail.post(fn) }

// turn runs what was posted, for which it waits for a time at most. It reports false when the node
// ends.
func (l *loop) turn(most time.Duration) bool {
	all, ok := l.mail.wait(l.ops.ctx, most)
	for _, fn := range all {
		fn()
	}
	return ok
}

// begin begins an operation. It returns what the loop is to do then.
func (l *loop) begin(op func(ctx context.Context) (then func())) {
	l.ops.run(func(ctx context.Context) { l.post(op(ctx)) })
}

// after has fn called by the loop after a time.
func (l *loop) after(d time.Duration, fn func()) { time.AfterFunc(d, func() { l.post(fn) }) }

// ask has a loop call fn, and returns the result.
func ask[T any](ctx context.Context, l *loop, fn func() T) (T, error) {
	result := newPromise[T]()
	l.post(func() { result.keep(fn()) })
	return result.wait(ctx)
}

// together calls functions, up to most of them at once. It returns the results of those that have
// succeeded, in any order, and the first error.
func together[T any](most int, all []func() (T, error)) (results []T, first error) {
	var (
		wait sync.WaitGroup
		mu   sync.Mutex
		room = make(chan struct{}, most)
	)
	for _, fn := range all {
		room <- struct{}{}
		wait.Go(func() {
			result, err := fn()
			<-room
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				results = append(results, result)
			} else if first == nil {
				first = err
			}
		})
	}
	wait.Wait()
	return results, first
}

// batches calls a function with what was added to it, one call at a time: what comes meanwhile is
// the next call's.
type batches[T any] struct {
	ops    *operations
	gather time.Duration // time that the first waits for more
	most   int           // of a call
	handle func(ctx context.Context, some []T)

	mu      sync.Mutex
	waiting []T
	running bool
}

func (b *batches[T]) add(one T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, one)
	if !b.running {
		b.running = true
		b.ops.run(b.run)
	}
}

// run handles what waits until nothing does.
func (b *batches[T]) run(ctx context.Context) {
	for {
		if b.gather > 0 {
			_ = pause(ctx, b.gather) // what has to be handled then fails by itself
		}
		b.mu.Lock()
		some := b.waiting[:min(b.most, len(b.waiting))]
		b.waiting = b.waiting[len(some):]
		b.running = len(some) > 0
		b.mu.Unlock()
		if len(some) == 0 {
			return
		}
		b.handle(ctx, some)
	}
}
