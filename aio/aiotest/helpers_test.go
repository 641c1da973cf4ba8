package aiotest_test

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

var web = &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1), Port: 80}

// between runs client and server at the two ends of a connection over n, and closes each end when
// its function has returned.
func between(t *testing.T, n *aiotest.Net, client, server func(task *aio.Task, c aio.Conn) error) {
	t.Helper()
	n.Run(t, func(task *aio.Task) error { return pipe(task, n, client, server) })
}

// pipe is between, for main.
func pipe(task *aio.Task, n *aiotest.Net, client, server func(task *aio.Task, c aio.Conn) error) error {
	ln, err := n.Listen(task, web)
	if err != nil {
		return err
	}
	defer ln.Close()
	return task.Group(func(g *aio.Group) error {
		g.Go("server", func(task *aio.Task) error {
			c, err := ln.Accept(task)
			if err != nil {
				return err
			}
			defer c.Close()
			return server(task, c)
		})
		c, err := n.Connect(task, web)
		if err != nil {
			return err
		}
		defer c.Close()
		return client(task, c)
	})
}

// elapsed returns the virtual time since the loop started.
func elapsed(task *aio.Task) time.Duration { return task.Loop().Now().Sub(aiotest.Epoch) }

// expect returns an error that names the difference between got and want.
func expect(what string, got, want any) error {
	if gotErr, ok := got.(error); ok {
		if wantErr, ok := want.(error); ok && errors.Is(gotErr, wantErr) {
			return nil
		}
	} else if got == want {
		return nil
	}
	return fmt.Errorf("%s: got %v, want %v", what, got, want)
}

// fakeT is a test that may fail.
type fakeT struct {
	testing.TB
	failed, skipped bool
	log             strings.Builder
	cleanups        []func()
}

// try runs fn as a test with its clean-ups and returns the outcome.
func try(t *testing.T, fn func(t testing.TB)) *fakeT {
	f := &fakeT{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			for i := range f.cleanups {
				f.cleanups[len(f.cleanups)-1-i]()
			}
		}()
		fn(f)
	}()
	<-done
	return f
}

func (f *fakeT) Cleanup(fn func()) { f.cleanups = append(f.cleanups, fn) }
func (f *fakeT) Failed() bool      { return f.failed }
func (f *fakeT) Skipped() bool     { return f.skipped }
func (f *fakeT) Log(args ...any)   { fmt.Fprintln(&f.log, args...) }
func (f *fakeT) Error(args ...any) { f.failed = true; f.Log(args...) }
func (f *fakeT) FailNow()          { f.failed = true; runtime.Goexit() }
func (f *fakeT) SkipNow()          { f.skipped = true; runtime.Goexit() }
func (f *fakeT) Fatal(args ...any) { f.Log(args...); f.FailNow() }
func (f *fakeT) Errorf(format string, args ...any) {
	f.failed = true
	fmt.Fprintf(&f.log, format+"\n", args...)
}
func (f *fakeT) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	f.FailNow()
}
