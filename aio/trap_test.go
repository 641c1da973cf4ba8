//go:build linux

package aio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"golang.org/x/sys/unix"
)

// The traps of event loops: each of these tests is about something that another event loop, or an
// earlier version of this one, got wrong.

// awaitState gives up turns until the task of that name is in a state.
func awaitState(task *aio.Task, name, state string) error {
	for {
		for _, info := range task.Loop().Tasks() {
			if info.Name == name && info.State == state {
				return nil
			}
		}
		if err := task.Yield(); err != nil {
			return err
		}
	}
}

// numberOf finds the descriptor of a TCP connection by its addresses.
func numberOf(t *testing.T, c aio.Conn) int {
	t.Helper()
	local, remote := c.LocalAddr().(*net.TCPAddr), c.RemoteAddr().(*net.TCPAddr)
	is := func(sa unix.Sockaddr, err error, want *net.TCPAddr) bool {
		in4, ok := sa.(*unix.SockaddrInet4)
		return err == nil && ok && in4.Port == want.Port && net.IP(in4.Addr[:]).Equal(want.IP)
	}
	for fd := range 1 << 10 {
		here, err1 := unix.Getsockname(fd)
		there, err2 := unix.Getpeername(fd)
		if is(here, err1, local) && is(there, err2, remote) {
			return fd
		}
	}
	t.Fatalf("no descriptor of %v to %v", local, remote)
	return -1
}

// Task A is woken for a connection that task B, earlier in the same turn, closes, and whose number
// a new connection gets. A must not touch the new one.
func TestStaleConnection(t *testing.T) {
	for _, wait := range []struct {
		name string
		fn   func(task *aio.Task, c aio.Conn) error
	}{
		{"Read", func(task *aio.Task, c aio.Conn) error {
			n, err := c.Read(task, make([]byte, 100))
			if n > 0 {
				return fmt.Errorf("read %d bytes", n)
			}
			return err
		}},
		{"WaitReadable", func(task *aio.Task, c aio.Conn) error { return c.WaitReadable(task) }},
		{"Reader", func(task *aio.Task, c aio.Conn) error {
			b, err := aio.NewReader(task.Loop(), c).Peek(task)
			if len(b) > 0 {
				return fmt.Errorf("read %q", b)
			}
			return err
		}},
	} {
		t.Run(wait.name, func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				ln, err := listenLocal(task)
				if err != nil {
					return err
				}
				defer ln.Close()
				client, server, err := connected(task, ln)
				if err != nil {
					return err
				}
				defer client.Close()
				defer server.Close()
				next, err := aio.Dial(task, "tcp", ln.Addr().String()) // waits in the backlog
				if err != nil {
					return err
				}
				defer next.Close()
				if _, err := next.Write(task, []byte("secret")); err != nil {
					return err
				}

				return task.Group(func(g *aio.Group) error {
					g.Go("A", func(task *aio.Task) error {
						expectIs(t, "A", wait.fn(task, server), aio.ErrClosed)
						return nil
					})
					if err := awaitState(task, "A", "parked"); err != nil {
						return err
					}
					if _, err := client.Write(task, []byte("for A")); err != nil {
						return err
					}
					if err := awaitState(task, "A", "ready"); err != nil {
						return err
					}
					// This task is B, and A runs later in this turn.
					number := numberOf(t, server)
					server.Close()
					reused, err := ln.Accept(task)
					if err != nil {
						return err
					}
					defer reused.Close()
					expect(t, "number of the new connection", numberOf(t, reused), number)
					if err := task.Yield(); err != nil { // A runs
						return err
					}
					got := make([]byte, 100)
					n, err := reused.Read(task, got)
					expect(t, "read from the new connection", string(got[:n]), "secret")
					return err
				})
			})
		})
	}
}

// rawPipe returns the two ends of a non-blocking pipe.
func rawPipe() (r, w int, err error) {
	var p [2]int
	err = unix.Pipe2(p[:], unix.O_CLOEXEC|unix.O_NONBLOCK)
	return p[0], p[1], err
}

// renumber moves the open file of fd to another number.
func renumber(fd, to int) error {
	return errors.Join(unix.Dup3(fd, to, unix.O_CLOEXEC), unix.Close(fd))
}

// A watch that is due in this turn is stopped in it, and its number reused.
func TestStaleWatch(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		l := task.Loop()
		r, w, err := rawPipe()
		if err != nil {
			return err
		}
		defer unix.Close(w)
		r2, w2, err := rawPipe()
		if err != nil {
			return err
		}
		defer unix.Close(w2)

		calls := 0
		old, err := l.OnReadable(r, func() { calls++ })
		if err != nil {
			return err
		}
		if _, err := unix.Write(w, []byte("x")); err != nil {
			return err
		}
		// The poll after the first of these turns finds the byte; the watch runs in the next turn,
		// after this task.
		if err := task.Yield(); err != nil {
			return err
		}
		expect(t, "calls before the turn of the watch", calls, 0)
		old.Stop()
		if err := renumber(r2, r); err != nil {
			return err
		}
		defer unix.Close(r)
		var read aio.Event
		watch, err := l.OnReadable(r, read.Set)
		if err != nil {
			return err
		}
		defer watch.Stop()
		if err := task.Yield(); err != nil {
			return err
		}
		expect(t, "calls after Stop", calls, 0)
		expect(t, "the new watch was called for the old pipe", read.IsSet(), false)
		if _, err := unix.Write(w2, []byte("y")); err != nil {
			return err
		}
		return read.Wait(task)
	})
}

// The same for a task that waits for a foreign descriptor: its clean-up must not affect the file
// that has its number now.
func TestStaleForeignDescriptor(t *testing.T) {
	for _, c := range []struct {
		name string
		wake func(a *aio.Task, w int) error // makes A ready
		want error
	}{
		{"readable", func(_ *aio.Task, w int) error { _, err := unix.Write(w, []byte("x")); return err }, nil},
		{"cancelled", func(a *aio.Task, _ int) error { a.Cancel(); return nil }, aio.ErrCanceled},
	} {
		t.Run(c.name+", then a pipe", func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				r, w, err := rawPipe()
				if err != nil {
					return err
				}
				defer unix.Close(w)
				return task.Group(func(g *aio.Group) error {
					a := g.Go("A", func(task *aio.Task) error {
						expectIs(t, "A", task.WaitReadable(r), c.want)
						return nil
					})
					if err := awaitState(task, "A", "parked"); err != nil {
						return err
					}
					if err := c.wake(a, w); err != nil {
						return err
					}
					if err := awaitState(task, "A", "ready"); err != nil {
						return err
					}
					r2, w2, err := rawPipe()
					if err != nil {
						return err
					}
					defer unix.Close(w2)
					if err := renumber(r2, r); err != nil {
						return err
					}
					defer unix.Close(r)
					g.Go("writer", func(task *aio.Task) error {
						if err := task.Sleep(time.Millisecond); err != nil { // A has run
							return err
						}
						_, err := unix.Write(w2, []byte("y"))
						return err
					})
					return task.WaitReadable(r)
				})
			})
		})
		t.Run(c.name+", then a connection", func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				ln, err := listenLocal(task)
				if err != nil {
					return err
				}
				defer ln.Close()
				client, err := aio.Dial(task, "tcp", ln.Addr().String()) // waits in the backlog
				if err != nil {
					return err
				}
				defer client.Close()
				r, w, err := rawPipe()
				if err != nil {
					return err
				}
				defer unix.Close(w)
				return task.Group(func(g *aio.Group) error {
					a := g.Go("A", func(task *aio.Task) error {
						expectIs(t, "A", task.WaitReadable(r), c.want)
						return nil
					})
					if err := awaitState(task, "A", "parked"); err != nil {
						return err
					}
					if err := c.wake(a, w); err != nil {
						return err
					}
					if err := awaitState(task, "A", "ready"); err != nil {
						return err
					}
					unix.Close(r)
					server, err := ln.Accept(task)
					if err != nil {
						return err
					}
					defer server.Close()
					expect(t, "number of the connection", numberOf(t, server), r)
					g.Go("writer", func(task *aio.Task) error {
						if err := task.Sleep(time.Millisecond); err != nil { // A has run
							return err
						}
						_, err := client.Write(task, []byte("y"))
						return err
					})
					_, err = server.Read(task, make([]byte, 1))
					return err
				})
			})
		})
	}
}

// Two tasks wait for the two directions of one descriptor and wake in the same turn; the first
// waits again before the second has run.
func TestForeignDescriptorBothDirections(t *testing.T) {
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(pair[0])
		defer unix.Close(pair[1])
		// Both directions of pair[0] are ready.
		if _, err := unix.Write(pair[1], []byte("x")); err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			again := func(wait func(*aio.Task, int) error) func(*aio.Task) error {
				return func(task *aio.Task) error {
					for range 10 {
						if err := wait(task, pair[0]); err != nil {
							return err
						}
					}
					return nil
				}
			}
			g.Go("reader", again((*aio.Task).WaitReadable))
			g.Go("writer", again((*aio.Task).WaitWritable))
			return nil
		})
	})
}

// Somebody closes a descriptor while a task waits for it: a mistake, but the error goes to the
// next caller, and is neither a hang nor the end of the loop.
func TestForeignDescriptorClosedUnderAWait(t *testing.T) {
	watch := func(task *aio.Task, fd int) error {
		w, err := task.Loop().OnWritable(fd, func() {})
		if err == nil {
			w.Stop()
		}
		return err
	}
	for name, next := range map[string]func(*aio.Task, int) error{"wait": (*aio.Task).WaitWritable, "watch": watch} {
		t.Run(name, func(t *testing.T) {
			onSelectors(t, func(t *testing.T, task *aio.Task) error {
				r, w, err := rawPipe()
				if err != nil {
					return err
				}
				defer unix.Close(w)
				return task.Group(func(g *aio.Group) error {
					g.Go("reader", func(task *aio.Task) error { return task.WaitReadable(r) })
					if err := awaitState(task, "reader", "parked"); err != nil {
						return err
					}
					unix.Close(r)
					// epoll notices here, poll(2) only when it waits.
					if err := next(task, r); err != nil && !errors.Is(err, unix.EBADF) {
						t.Errorf("the next call: %v", err)
					}
					g.Cancel()
					return nil
				})
			})
		})
	}
}

// Goroutines post while loops on one virtual clock fall asleep, jump and wake. A lost wake-up
// hangs a poster; a jump of time while a loop has work would make a sleep return late.
func TestNoLostWakeUpOnVirtualClock(t *testing.T) {
	const loops, posters, posts = 2, 3, 200
	clock := aiotest.NewClock()
	var running sync.WaitGroup
	for range loops {
		running.Go(func() {
			err := runWith(t, aio.Options{Clock: clock}, func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					left := posters
					for range posters {
						h := task.Loop().Handle()
						go func() {
							defer h.Close()
							ran := make(chan struct{}, 1)
							for range posts {
								if h.Post(func() { ran <- struct{}{} }) != nil {
									return
								}
								<-ran
							}
							_ = h.Post(func() { left-- })
						}()
					}
					for left > 0 {
						until := task.Loop().Now().Add(time.Hour)
						if err := task.Sleep(time.Hour); err != nil {
							return err
						}
						if now := task.Loop().Now(); !now.Equal(until) {
							return fmt.Errorf("slept until %v instead of %v", now, until)
						}
					}
					return nil
				})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
}

// A panic and a Goexit at each place where the loop runs user code. On real selectors: there the
// loop has a wait to return to.
func TestCodeThatEndsItsGoroutine(t *testing.T) {
	for _, end := range []struct {
		name string
		fn   func()
		want func(err error) bool // the task's error
	}{
		{"panic", func() { panic("boom") }, func(err error) bool {
			var p *aio.PanicError
			return errors.As(err, &p) && p.Value == "boom" && strings.Contains(string(p.Stack), "TestCodeThatEndsItsGoroutine")
		}},
		{"goexit", runtime.Goexit, func(err error) bool { return errors.Is(err, aio.ErrGoexit) }},
	} {
		for _, place := range []struct {
			name     string
			callback bool // not in a task: a panic ends the loop, a Goexit ends the callback
			do       func(task *aio.Task) error
		}{
			{"task", false, func(*aio.Task) error { end.fn(); return nil }},
			{"task after a wait", false, func(task *aio.Task) error {
				_ = task.Sleep(time.Millisecond)
				end.fn()
				return nil
			}},
			{"OnLoop", false, func(task *aio.Task) error { task.OnLoop(end.fn); return nil }},
			{"Offload", false, func(task *aio.Task) error {
				_, err := aio.Offload(task, func(context.Context) (int, error) { end.fn(); return 0, nil })
				return err
			}},
			{"CallSoon", true, func(task *aio.Task) error { task.Loop().CallSoon(end.fn); return nil }},
			{"CallLater", true, func(task *aio.Task) error {
				task.Loop().CallLater(time.Millisecond, end.fn)
				return nil
			}},
			{"posted function", true, func(task *aio.Task) error {
				h := task.Loop().Handle()
				defer h.Close()
				return h.Post(end.fn)
			}},
			{"watch", true, func(task *aio.Task) error {
				r, w, err := rawPipe()
				if err != nil {
					return err
				}
				defer unix.Close(r)
				defer unix.Close(w)
				if _, err := unix.Write(w, []byte("x")); err != nil {
					return err
				}
				var called aio.Event
				watch, err := task.Loop().OnReadable(r, func() { called.Set(); end.fn() })
				if err != nil {
					return err
				}
				defer watch.Stop()
				return called.Wait(task)
			}},
		} {
			t.Run(end.name+" in "+place.name, func(t *testing.T) {
				for _, selector := range selectors {
					aiotest.CheckLeaks(t)
					alive := 0 // steps of another task since
					l := aio.NewLoop(aio.Options{Selector: selector, Report: func(r aio.Report) { t.Error(r) }, SlowTurn: -1})
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					err := l.Run(ctx, func(task *aio.Task) error {
						return task.Group(func(g *aio.Group) error {
							culprit := g.Go("culprit", func(task *aio.Task) error {
								return task.Shield(place.do) // the group waits for it all the same
							})
							err := task.Shield(culprit.Await)
							if !place.callback {
								if !end.want(err) {
									t.Errorf("the task's error: %v", err)
								}
								return nil
							}
							for range 3 {
								if err := task.Sleep(time.Millisecond); err != nil {
									return err
								}
								alive++
							}
							return nil
						})
					})
					cancel()
					switch {
					case place.callback && end.name == "goexit":
						expectIs(t, "Run", err, nil)
						expect(t, "sleeps after it", alive, 3)
					case !end.want(err):
						t.Errorf("Run returned %v", err)
					}
				}
			})
		}
	}
}

// A task may recover from a panic in its OnLoop.
func TestPanicOnLoopIsRecoverable(t *testing.T) {
	run(t, func(task *aio.Task) error {
		for range 3 {
			expectPanic(t, "boom", func() { task.OnLoop(func() { panic("boom") }) })
		}
		ran := false
		task.OnLoop(func() { ran = true })
		expect(t, "OnLoop works afterwards", ran, true)
		return task.Sleep(time.Second)
	})
}

// An idle loop is idle: open connections and a distant timer cost nothing. Measured in real time
// over a second, since that is the promise.
func TestIdleLoopUsesNoCPU(t *testing.T) {
	const connections, watched = 50, time.Second
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		ln, err := listenLocal(task)
		if err != nil {
			return err
		}
		defer ln.Close()
		return task.Group(func(g *aio.Group) error {
			for range connections {
				client, server, err := connected(task, ln)
				if err != nil {
					return err
				}
				defer client.Close()
				g.Go("server", func(task *aio.Task) error {
					defer server.Close()
					_, err := server.Read(task, make([]byte, 1))
					return err
				})
			}
			g.Go("accept", func(task *aio.Task) error { _, err := ln.Accept(task); return err })
			far := task.Loop().CallLater(time.Hour, func() { t.Error("an hour has passed") })
			defer far.Cancel()
			settle(task)
			runtime.GC()
			least := watched // of three: the runtime has work of its own now and then
			for try := 0; try < 3 && least > watched/100; try++ {
				began, turns := cpuTime(t), task.Loop().Stats().Turns
				if err := task.Sleep(watched); err != nil {
					return err
				}
				least = min(least, cpuTime(t)-began)
				turned := task.Loop().Stats().Turns - turns // one, except for interrupted calls
				if turned > 20 {
					t.Errorf("an idle second had %d turns", turned)
				}
			}
			if least > watched/100 {
				t.Errorf("an idle second cost %v of CPU", least)
			}
			g.Cancel()
			return nil
		})
	})
}

// cpuTime returns what this process has used so far.
func cpuTime(t *testing.T) time.Duration {
	t.Helper()
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		t.Fatal(err)
	}
	return time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
}

// The watchdog names the task that holds the loop while it still does: the block ends only after
// that report.
func TestWatchdogNamesTheBlockingTask(t *testing.T) {
	for _, selector := range selectors {
		t.Run(selector, func(t *testing.T) {
			reported, ended := make(chan aio.Report, 1), make(chan aio.Report, 1)
			l := aio.NewLoop(aio.Options{Selector: selector, SlowTurn: 20 * time.Millisecond, Report: func(r aio.Report) {
				switch {
				case r.Kind != aio.ReportSlowTurn || r.Task != "culprit":
					// Other turns may be slow on a busy machine.
				case r.Ongoing:
					reported <- r
				default:
					ended <- r
				}
			}})
			err := l.Run(t.Context(), func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					g.Go("bystander", func(task *aio.Task) error { return task.Yield() })
					g.Go("culprit", func(task *aio.Task) error {
						r := <-reported // like a mutex or a blocking read
						if r.For < 20*time.Millisecond {
							t.Errorf("reported after %v", r.For)
						}
						return nil
					})
					g.Go("bystander", func(task *aio.Task) error { return task.Yield() })
					return nil
				})
			})
			expectIs(t, "Run", err, nil)
			select {
			case r := <-ended:
				expect(t, "the second report says that it goes on", r.Ongoing, false)
			default:
				t.Error("no report when the turn had ended")
			}
		})
	}
}

// Connections come and go by the thousand without leaving anything behind. The client closes with
// a byte unread, which resets the connection: 10,000 in TIME_WAIT would take the ports from other
// tests.
func TestConnectionsLeaveNothing(t *testing.T) {
	const connections = 10_000
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		ln, err := listenLocal(task)
		if err != nil {
			return err
		}
		defer ln.Close()
		before, stats := openDescriptors(t), task.Loop().Stats()
		goroutines := runtime.NumGoroutine()
		for i := range connections {
			client, server, err := connected(task, ln)
			if err != nil {
				return fmt.Errorf("connection %d: %w", i, err)
			}
			if _, err := server.Write(task, []byte("x")); err != nil {
				return err
			}
			if err := client.WaitReadable(task); err != nil {
				return err
			}
			client.Close()
			server.Close()
		}
		after := task.Loop().Stats()
		expect(t, "open descriptors", openDescriptors(t), before)
		expect(t, "descriptors of the loop", after.Descriptors, stats.Descriptors)
		expect(t, "tasks", after.Tasks, stats.Tasks)
		// Those of the runtime and of testing come and go.
		if n := runtime.NumGoroutine(); n > goroutines+5 {
			t.Errorf("%d goroutines, %d before", n, goroutines)
		}
		return nil
	})
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(entries)
}

// Connections that a program forgets to close are closed and named at the end of Run.
func TestForgottenDescriptors(t *testing.T) {
	for _, selector := range selectors {
		t.Run(selector, func(t *testing.T) {
			aiotest.CheckLeaks(t)
			var reports []string
			var listening, connecting string
			r, w, err := rawPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(r)
			defer unix.Close(w)
			l := aio.NewLoop(aio.Options{Selector: selector, SlowTurn: -1, Report: func(r aio.Report) {
				expect(t, "kind of report", r.Kind, aio.ReportLeak)
				reports = append(reports, r.String())
			}})
			err = l.Run(t.Context(), func(task *aio.Task) error {
				ln, err := listenLocal(task)
				if err != nil {
					return err
				}
				listening = ln.Addr().String()
				client, _, err := connected(task, ln)
				if err != nil {
					return err
				}
				connecting = client.LocalAddr().String()
				_, err = l.OnReadable(r, func() {})
				return err
			})
			expectIs(t, "Run", err, nil)
			all := strings.Join(reports, "\n")
			for _, want := range []string{"at " + listening, "connected to " + listening, "connected to " + connecting, fmt.Sprintf("descriptor %d", r)} {
				if !strings.Contains(all, want) {
					t.Errorf("no report contains %q in\n%s", want, all)
				}
			}
			expect(t, "reports", len(reports), 4)
			// The pipe is its owner's to close; the sockets were the loop's.
			if _, err := unix.FcntlInt(uintptr(r), unix.F_GETFD, 0); err != nil {
				t.Errorf("the loop closed a descriptor that was not its own: %v", err)
			}
		})
	}
}

// Two loops in one process share nothing but what they send each other: functions through handles,
// bytes through a socket.
func TestTwoLoopsTalk(t *testing.T) {
	const rounds = 300
	aiotest.CheckLeaks(t)
	addr := make(chan string, 1)
	clients := make(chan *aio.Handle, 1)
	var heard func(line string) // owned by the client's loop
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var both sync.WaitGroup

	both.Go(func() { // the server responds to each line and notifies the client's loop
		l := aio.NewLoop(aio.Options{Selector: "epoll"})
		err := l.Run(ctx, func(task *aio.Task) error {
			ln, err := listenLocal(task)
			if err != nil {
				return err
			}
			defer ln.Close()
			addr <- ln.Addr().String()
			client, err := aio.Offload(task, func(context.Context) (*aio.Handle, error) { return <-clients, nil })
			if err != nil {
				return err
			}
			defer client.Close()
			c, err := ln.Accept(task)
			if err != nil {
				return err
			}
			defer c.Close()
			r := aio.NewReader(l, c)
			for {
				line, err := r.ReadUntil(task, []byte("\n"), 100)
				if errors.Is(err, io.EOF) {
					return nil
				}
				if err != nil {
					return err
				}
				text := string(line)
				if err := client.Post(func() { heard(text) }); err != nil {
					return err
				}
				if _, err := c.Write(task, line); err != nil {
					return err
				}
			}
		})
		expectIs(t, "Run of the server", err, nil)
	})
	both.Go(func() {
		l := aio.NewLoop(aio.Options{Selector: "poll"})
		clients <- l.Handle()
		err := l.Run(ctx, func(task *aio.Task) error {
			var posted aio.Queue[string] // owned by this loop, filled by posts of the other
			heard = func(line string) { posted.TryPut(line) }
			c, err := aio.Dial(task, "tcp", <-addr)
			if err != nil {
				return err
			}
			defer c.Close()
			r := aio.NewReader(l, c)
			for i := range rounds {
				line := strconv.Itoa(i) + "\n"
				if _, err := c.Write(task, []byte(line)); err != nil {
					return err
				}
				answer, err := r.ReadUntil(task, []byte("\n"), 100)
				if err != nil {
					return err
				}
				expect(t, "answer", string(answer), line)
				note, err := posted.Get(task)
				if err != nil {
					return err
				}
				expect(t, "posted", note, line)
			}
			return nil
		})
		expectIs(t, "Run of the client", err, nil)
	})
	both.Wait()
}

// outOfDescriptors is set in the environment of the child process in which
// TestAcceptOutOfDescriptors lowers the limit.
const outOfDescriptors = "AIO_TEST_OUT_OF_DESCRIPTORS"

// Accept reports that descriptors have run out, and works again when some are free.
func TestAcceptOutOfDescriptors(t *testing.T) {
	if os.Getenv(outOfDescriptors) == "" {
		child := exec.Command(os.Args[0], "-test.run=^TestAcceptOutOfDescriptors$", "-test.count=1", "-test.timeout=1m")
		child.Env = append(os.Environ(), outOfDescriptors+"=1")
		if out, err := child.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	onSelectors(t, func(t *testing.T, task *aio.Task) error {
		ln, err := listenLocal(task)
		if err != nil {
			return err
		}
		defer ln.Close()
		var clients []aio.Conn // in the backlog
		defer func() {
			for _, c := range clients {
				c.Close()
			}
		}()
		for range 3 {
			c, err := aio.Dial(task, "tcp", ln.Addr().String())
			if err != nil {
				return err
			}
			clients = append(clients, c)
		}
		spare, err := unix.Dup(0) // the lowest free number
		if err != nil {
			return err
		}
		var old unix.Rlimit
		if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &old); err != nil {
			return err
		}
		if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: uint64(spare) + 1, Max: old.Max}); err != nil {
			return err
		}
		defer unix.Setrlimit(unix.RLIMIT_NOFILE, &old)
		for range 2 { // and reports it again
			_, err = ln.Accept(task)
			expectIs(t, "Accept with no number left", err, unix.EMFILE)
		}
		unix.Close(spare)
		for i, client := range clients { // one after the other, through the free number
			if _, err := client.Write(task, []byte{byte(i)}); err != nil {
				return err
			}
			server, err := ln.Accept(task)
			if err != nil {
				return err
			}
			var got [1]byte
			_, err = server.Read(task, got[:])
			expect(t, "first byte", got[0], byte(i))
			if i+1 < len(clients) {
				_, full := ln.Accept(task)
				expectIs(t, "Accept with the number in use", full, unix.EMFILE)
			}
			server.Close()
			if err != nil {
				return err
			}
		}
		return nil
	})
}
