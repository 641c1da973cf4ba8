package aio_test

import (
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
)

// TestThen: a task goes on with its next function when it is woken, cancelled, or its time has
// come, and its result is that of the last.
func TestThen(t *testing.T) {
	wrong := errors.New("wrong")
	for _, tt := range []struct {
		name  string
		until time.Duration // 0: without end
		wake  func(task *aio.Task, waiter *aio.Task, lot *aio.Lot)
		next  func(task *aio.Task) error
		at    time.Duration
		want  error
	}{
		{"woken", time.Hour, func(_, _ *aio.Task, lot *aio.Lot) { lot.Unpark(nil) }, (*aio.Task).Yield, time.Second, nil},
		{"late", time.Minute, func(_, _ *aio.Task, _ *aio.Lot) {}, (*aio.Task).Yield, time.Minute, nil},
		{"cancelled", 0, func(_, waiter *aio.Task, _ *aio.Lot) { waiter.Cancel() }, (*aio.Task).Yield, time.Second, aio.ErrCanceled},
		{"an error", 0, func(_, _ *aio.Task, lot *aio.Lot) { lot.Unpark(nil) }, func(*aio.Task) error { return wrong }, time.Second, wrong},
		{"a panic", 0, func(_, _ *aio.Task, lot *aio.Lot) { lot.Unpark(nil) }, func(*aio.Task) error { panic(wrong) }, time.Second, wrong},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var lot aio.Lot
			var waiter *aio.Task
			var ran []string
			err := runErr(t, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					waiter = g.Go("waiter", func(task *aio.Task) error {
						defer func() { ran = append(ran, "first") }()
						var until time.Time
						if tt.until > 0 {
							until = task.Loop().Now().Add(tt.until)
						}
						return lot.Then(task, "a sign", until, func(task *aio.Task) error {
							ran = append(ran, "next")
							expect(t, "when it goes on", now(task), tt.at)
							return tt.next(task)
						})
					})
					if err := task.Sleep(time.Second); err != nil {
						return err
					}
					i := slices.IndexFunc(task.Loop().Tasks(), func(info aio.TaskInfo) bool { return info.Waits == "a sign" })
					expect(t, "that it waits", i >= 0, true)
					tt.wake(task, waiter, &lot)
					return nil
				})
			})
			if tt.want == aio.ErrCanceled {
				expect(t, "error of a group", err, nil)
				err = waiter.Err()
			}
			if tt.name != "a panic" {
				expectIs(t, "error", err, tt.want)
			} else if err == nil {
				t.Error("a panic is no error")
			}
			expect(t, "order", len(ran) == 2 && ran[0] == "first", true)
			expect(t, "waiters left", lot.Len(), 0)
		})
	}
}

// TestThenAtOnce: a chain of functions, each on an empty stack, gives others their turn only when
// it waits; in a scope that ends before, Then panics.
func TestThenAtOnce(t *testing.T) {
	run(t, func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			n := 0
			var count func(task *aio.Task) error
			count = func(task *aio.Task) error {
				if n++; n == 1_000_000 {
					return nil
				}
				return task.Then(count)
			}
			chain := g.Go("chain", count)
			g.Go("wrong", func(task *aio.Task) error {
				expectPanic(t, "Timeout, Shield or Group", func() {
					_ = task.Timeout(time.Hour, func(task *aio.Task) error { return task.Then(count) })
				})
				return nil
			})
			if err := chain.Await(task); err != nil {
				return err
			}
			expect(t, "functions", n, 1_000_000)
			return nil
		})
	})
}

// TestWhenReadable: over each selector, a task without a stack goes on when there is something to
// read, at the end of the stream, when the connection is closed, and at a time.
func TestWhenReadable(t *testing.T) {
	for _, selector := range []string{"epoll", "poll"} {
		t.Run(selector, func(t *testing.T) {
			loop := aio.NewLoop(aio.Options{Selector: selector})
			err := loop.Run(t.Context(), func(task *aio.Task) error {
				ln, err := listenLocal(task)
				if err != nil {
					return err
				}
				defer ln.Close()
				c, peer, err := connected(task, ln)
				if err != nil {
					return err
				}
				defer peer.Close()
				defer c.Close()
				read := func(until time.Time, cause func() error, want error) error {
					return task.Group(func(g *aio.Group) error {
						g.Go("reader", func(task *aio.Task) error {
							return c.WhenReadable(task, until, func(task *aio.Task) error {
								_ = c.SetReadDeadline(until)
								_, err := c.Read(task, make([]byte, 8))
								if !errors.Is(err, want) {
									t.Errorf("Read returned %v, want %v", err, want)
								}
								return nil
							})
						})
						settle(task)
						return cause()
					})
				}
				nothing := func() error { return nil }
				deadline := func() error { // which comes before the time
					return task.Group(func(g *aio.Group) error {
						g.Go("reader", func(task *aio.Task) error {
							_ = c.SetReadDeadline(task.Loop().Now().Add(time.Millisecond))
							return c.WhenReadable(task, task.Loop().Now().Add(time.Hour), func(task *aio.Task) error {
								expectIs(t, "Read", c.WaitReadable(task), aio.ErrTimeout)
								return c.SetReadDeadline(time.Time{})
							})
						})
						return nil
					})
				}
				return errors.Join(
					read(time.Time{}, func() error { _, err := peer.Write(task, []byte("hello")); return err }, nil),
					read(task.Loop().Now().Add(time.Millisecond), nothing, aio.ErrTimeout),
					deadline(),
					read(time.Time{}, peer.CloseWrite, io.EOF),
					read(time.Time{}, nothing, io.EOF), // it is ready before
				)
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// listenLocal listens on a free port of the loopback interface.
func listenLocal(task *aio.Task) (aio.Listener, error) {
	return aio.Listen(task, "tcp", "127.0.0.1:0")
}

// connected returns both ends of a new connection over loopback.
func connected(task *aio.Task, ln aio.Listener) (client, server aio.Conn, err error) {
	if client, err = aio.Dial(task, "tcp", ln.Addr().String()); err != nil {
		return nil, nil, err
	}
	if server, err = ln.Accept(task); err != nil {
		client.Close()
		return nil, nil, err
	}
	return client, server, nil
}
