//go:build linux

package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weftcrawl/weft/aio/aiotest"
)

// journal is the sequence of what tasks did.
type journal []string

func (j *journal) note(format string, args ...any) { *j = append(*j, fmt.Sprintf(format, args...)) }

func (j *journal) expect(t *testing.T, want ...string) {
	t.Helper()
	if !slices.Equal(*j, want) {
		t.Errorf("what happened:\n  %s\nexpected:\n  %s", strings.Join(*j, "\n  "), strings.Join(want, "\n  "))
	}
}

// runMain runs a kernel's first task.
func runMain(t *testing.T, body func(y *caller) (any, error)) error {
	t.Helper()
	aiotest.CheckLeaks(t)
	return runKernel(t.Context(), newProgram("main", body))
}

func TestTasksTakeTurns(t *testing.T) {
	var j journal
	count := func(name string) *program {
		return newProgram(name, func(y *caller) (any, error) {
			for i := range 3 {
				j.note("%s %d", name, i)
				_, _ = y.Yield(Pass())
			}
			return nil, nil
		})
	}
	err := runMain(t, func(y *caller) (any, error) {
		a, _ := ask[int](y, NewTask(count("a")))
		b, _ := ask[int](y, NewTask(count("b")))
		j.note("both are started")
		for _, tid := range []int{a, b} {
			was, err := ask[bool](y, WaitTask(tid)) // while main runs again after a's end, b has ended
			j.note("waited %t %v", was, err)
		}
		return nil, nil
	})
	if err != nil {
		t.Error(err)
	}
	// Each new task takes its first step at once, its parent the next one.
	j.expect(t, "a 0", "b 0", "a 1", "both are started", "b 1", "a 2", "b 2", "waited true <nil>", "waited false <nil>")
}

func TestGetTid(t *testing.T) {
	var j journal
	err := runMain(t, func(y *caller) (any, error) {
		mine, _ := ask[int](y, GetTid())
		child, _ := ask[int](y, NewTask(newProgram("child", func(y *caller) (any, error) {
			tid, _ := ask[int](y, GetTid())
			j.note("child has another: %t", tid != mine)
			return nil, nil
		})))
		again, _ := ask[int](y, GetTid())
		j.note("main keeps its own: %t", again == mine && child != mine)
		return y.Yield(WaitTask(child))
	})
	if err != nil {
		t.Error(err)
	}
	j.expect(t, "child has another: true", "main keeps its own: true")
}

// Programs call each other like functions: results and errors return to the caller, system calls
// reach the kernel from any depth, and an error names all programs that it passed.
func TestTrampoline(t *testing.T) {
	var level func(n int) *program
	level = func(n int) *program {
		return newProgram(fmt.Sprint("level ", n), func(y *caller) (any, error) {
			if n == 0 {
				if _, err := y.Yield(Pass()); err != nil {
					return nil, err
				}
				return 1, nil
			}
			below, err := ask[int](y, level(n-1))
			if n == 3 {
				return nil, errOops
			}
			return below + 1, err
		})
	}
	err := runMain(t, func(y *caller) (any, error) {
		if got, err := ask[int](y, level(2)); got != 3 || err != nil {
			t.Errorf("three levels gave %d, %v", got, err)
		}
		if _, err := y.Yield("nonsense"); err == nil {
			t.Error("a value that is neither a call nor a program is accepted")
		}
		_, err := ask[int](y, level(5))
		return nil, err
	})
	if !errors.Is(err, errOops) || err.Error() != "main: level 5: level 4: level 3: oops" {
		t.Errorf("the error is %v", err)
	}
}

func TestKillTask(t *testing.T) {
	var j journal
	park := newProgram("park", func(y *caller) (any, error) {
		defer j.note("inner defer")
		var nobody lot
		_, err := y.Yield(Park(&nobody))
		return nil, err
	})
	victim := newProgram("victim", func(y *caller) (any, error) {
		defer j.note("outer defer")
		_, err := y.Yield(park)
		return nil, err
	})
	err := runMain(t, func(y *caller) (any, error) {
		tid, _ := ask[int](y, NewTask(victim))
		for range 2 {
			was, err := ask[bool](y, KillTask(tid))
			j.note("killed %t %v", was, err)
		}
		tid, _ = ask[int](y, NewTask(newProgram("stubborn", func(y *caller) (any, error) {
			_, _ = y.Yield(Pass())
			return nil, errOops
		})))
		_, err := y.Yield(KillTask(tid))
		j.note("killed: %v", err)

		me, _ := ask[int](y, GetTid())
		_, err = y.Yield(KillTask(me))
		j.note("after its own end: %v", err)
		return nil, err
	})
	if err != nil {
		t.Error(err)
	}
	j.expect(t, "inner defer", "outer defer", "killed true <nil>", "killed false <nil>", "killed: stubborn: oops", "after its own end: closed")
}

// A task killed during its wait is never woken, and takes no wake-up from others.
func TestKilledTaskIsNotWoken(t *testing.T) {
	var j journal
	err := runMain(t, func(y *caller) (any, error) {
		var here lot
		waiter := func(name string) *program {
			return newProgram(name, func(y *caller) (any, error) {
				if _, err := y.Yield(Park(&here)); err != nil {
					return nil, err
				}
				j.note("%s is woken", name)
				return nil, nil
			})
		}
		first, _ := ask[int](y, NewTask(waiter("first")))
		second, _ := ask[int](y, NewTask(waiter("second")))
		_, _ = y.Yield(KillTask(first))
		_, _ = y.Yield(Unpark(&here, 1))
		return y.Yield(WaitTask(second))
	})
	if err != nil {
		t.Error(err)
	}
	j.expect(t, "second is woken")
}

func TestReadWait(t *testing.T) {
	var ends [2]int
	if err := unix.Pipe2(ends[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(ends[0])
	defer unix.Close(ends[1])
	var j journal
	err := runMain(t, func(y *caller) (any, error) {
		wait := newProgram("reader", func(y *caller) (any, error) {
			_, err := y.Yield(ReadWait(ends[0]))
			j.note("readable")
			return nil, err
		})
		tid, _ := ask[int](y, NewTask(wait))
		if _, err := y.Yield(ReadWait(ends[0])); !errors.Is(err, unix.EEXIST) {
			t.Errorf("two tasks wait for one descriptor: %v", err)
		}
		if _, err := y.Yield(WriteWait(-1)); !errors.Is(err, unix.EBADF) {
			t.Errorf("a task waits for no descriptor: %v", err)
		}
		if _, err := y.Yield(WriteWait(ends[1])); err != nil {
			return nil, err
		}
		j.note("writable")
		_, _ = unix.Write(ends[1], []byte("x"))
		if _, err := y.Yield(WaitTask(tid)); err != nil {
			return nil, err
		}

		// A task killed during its wait leaves the descriptor to others.
		_, _ = unix.Read(ends[0], make([]byte, 10))
		tid, _ = ask[int](y, NewTask(newProgram("reader", func(y *caller) (any, error) {
			_, err := y.Yield(ReadWait(ends[0]))
			return nil, err
		})))
		_, _ = y.Yield(KillTask(tid))
		_, _ = unix.Write(ends[1], []byte("x"))
		return y.Yield(ReadWait(ends[0]))
	})
	if err != nil {
		t.Error(err)
	}
	j.expect(t, "writable", "readable")
}

// An error that nobody handles, or a panic, ends all tasks.
func TestErrorOfATask(t *testing.T) {
	for name, fault := range map[string]func() error{
		"error": func() error { return errOops },
		"panic": func() error { panic(errOops) },
	} {
		t.Run(name, func(t *testing.T) {
			var j journal
			var err error
			p := panicOf(func() {
				err = runMain(t, func(y *caller) (any, error) {
					defer j.note("main is ended")
					_, err := y.Yield(NewTask(newProgram("faulty", func(*caller) (any, error) { return nil, fault() })))
					return nil, err
				})
			})
			if (name == "panic") != (p == errOops) || (name == "error") != errors.Is(err, errOops) {
				t.Errorf("it panicked with %v, returned %v", p, err)
			}
			j.expect(t, "main is ended")
		})
	}
}

// Data that send could not send at once is copied: others may use the buffer.
func TestSendWaits(t *testing.T) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	from, to := asyncSocket(ends[0]), asyncSocket(ends[1])
	defer to.close()
	var got []byte
	sent := bytes.Repeat([]byte("0123456789"), 100_000) // more than the kernel takes at once
	err = runMain(t, func(y *caller) (any, error) {
		shared, buf := bytes.Clone(sent), make([]byte, 64<<10)
		sender, _ := ask[int](y, NewTask(newProgram("sender", func(y *caller) (any, error) {
			defer from.close()
			return y.Yield(from.send(shared))
		})))
		clear(shared)
		for {
			some, err := ask[[]byte](y, to.recv(buf))
			if err != nil {
				return nil, err
			}
			if len(some) == 0 {
				was, err := ask[bool](y, WaitTask(sender))
				if was {
					t.Error("the sender has not ended")
				}
				return nil, err
			}
			got = append(got, some...)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if !bytes.Equal(got, sent) {
		t.Errorf("%d bytes came, which are not the %d that were sent", len(got), len(sent))
	}
}

func TestEcho(t *testing.T) {
	aiotest.CheckLeaks(t)
	withEcho(t, func(addr string) {
		if err := talkTo(addr, 200); err != nil {
			t.Error(err)
		}
	})
}

func TestEchoCannotListen(t *testing.T) {
	aiotest.CheckLeaks(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for name, addr := range map[string]string{"no address": "localhost", "in use": l.Addr().String()} {
		if err := Echo(t.Context(), addr, func(string) { t.Errorf("%s: it listens", name) }); err == nil {
			t.Errorf("%s: there is no error", name)
		}
	}
}

// withEcho runs fn with an echo server, which ends afterwards.
func withEcho(t *testing.T, fn func(addr string)) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- Echo(ctx, "127.0.0.1:0", func(addr string) { ready <- addr }) }()
	select {
	case addr := <-ready:
		fn(addr)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	case err := <-ended:
		cancel()
		t.Fatal(err)
	}
}

// talkTo connects n clients. When all are connected, each sends a message and reads it back; one
// leaves without reading, and half of them stay until the end.
func talkTo(addr string, n int) error {
	conns := make([]net.Conn, n)
	errs := make([]error, n)
	each := func(do func(i int) error) error {
		var wg sync.WaitGroup
		slots := make(chan struct{}, 500) // concurrent connects: those beyond the backlog are retried
		for i := range conns {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				errs[i] = do(i)
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	}
	defer each(func(i int) error {
		if c := conns[i]; c != nil {
			// A reset: ten thousand ports in TIME_WAIT would be missing in the next run.
			_ = c.(*net.TCPConn).SetLinger(0)
			c.Close()
		}
		return nil
	})
	if err := each(func(i int) (err error) {
		conns[i], err = net.Dial("tcp", addr)
		return err
	}); err != nil {
		return err
	}
	return each(func(i int) error {
		c := conns[i]
		size := 1 + i%5000
		if i < 4 {
			size = 1 << 20
		}
		sent := bytes.Repeat([]byte(fmt.Sprint(i, " ")), size)[:size]
		if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			return err
		}
		if i == 5 {
			_, err := c.Write(sent)
			return errors.Join(err, c.(*net.TCPConn).SetLinger(0), c.Close())
		}
		wrote := make(chan error, 1)
		go func() {
			_, err := c.Write(sent)
			if err == nil && i%2 == 0 { // the others stay
				err = c.(*net.TCPConn).CloseWrite()
			}
			wrote <- err
		}()
		got := make([]byte, size)
		_, err := io.ReadFull(c, got)
		if err = errors.Join(err, <-wrote); err != nil {
			return fmt.Errorf("client %d: %w", i, err)
		}
		if !bytes.Equal(got, sent) {
			return fmt.Errorf("client %d: something else came back than its %d bytes", i, size)
		}
		return nil
	})
}
