package lab

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/aio/aiotest"
)

// session is a dialogue with a coroutine.
type session struct {
	t *testing.T
	c *Coroutine[int, int, string]
}

func (s session) send(in int) reply {
	out, yielded := s.c.Send(in)
	return reply{s, out, yielded}
}

func (s session) throw(err error) reply {
	out, yielded := s.c.Throw(err)
	return reply{s, out, yielded}
}

type reply struct {
	session
	out     int
	yielded bool
}

func (a reply) yields(want int) {
	a.t.Helper()
	if _, err := a.c.Result(); !a.yielded {
		a.t.Fatalf("it ended (%v), expected it to yield %d", err, want)
	} else if a.out != want {
		a.t.Fatalf("it yielded %d, expected %d", a.out, want)
	}
}

func (a reply) returns(want string) {
	a.t.Helper()
	if got, err := a.c.Result(); a.yielded || got != want || err != nil {
		a.t.Fatalf("it yielded (%t) or returned %q, %v; expected %q", a.yielded, got, err, want)
	}
}

func (a reply) fails(want string) {
	a.t.Helper()
	if got, err := a.c.Result(); a.yielded || err == nil || err.Error() != want {
		a.t.Fatalf("it yielded (%t) or returned %q, %v; expected the error %q", a.yielded, got, err, want)
	}
}

// doubles yields the double of each value sent in, until that is 0.
func doubles(y *Yielder[int, int], n int) (string, error) {
	for n != 0 {
		var err error
		if n, err = y.Yield(2 * n); err != nil {
			return "", err
		}
	}
	return "done", nil
}

var errOops = errors.New("oops")

func TestSend(t *testing.T) {
	s := session{t, NewCoroutine("doubles", doubles)}
	s.send(1).yields(2)
	s.send(5).yields(10)
	s.send(0).returns("done")
}

func TestThrowEndsACoroutineThatDoesNotCatch(t *testing.T) {
	s := session{t, NewCoroutine("doubles", doubles)}
	s.send(1).yields(2)
	s.throw(errOops).fails("doubles: oops")
	if _, err := s.c.Result(); !errors.Is(err, errOops) {
		t.Errorf("%v is not the error that was thrown", err)
	}
}

func TestThrowIsCaught(t *testing.T) {
	s := session{t, NewCoroutine("patient", func(y *Yielder[int, int], n int) (string, error) {
		for n != 0 {
			var err error
			if n, err = y.Yield(n); errors.Is(err, errOops) {
				n = 404
			}
		}
		return "done", nil
	})}
	s.send(1).yields(1)
	s.throw(errOops).yields(404)
	s.send(2).yields(2)
	s.send(0).returns("done")
}

func TestThrowBeforeTheBeginning(t *testing.T) {
	s := session{t, NewCoroutine("never", func(*Yielder[int, int], int) (string, error) {
		t.Error("it ran")
		return "", nil
	})}
	s.throw(errOops).fails("never: oops")
}

func TestResultBeforeTheEnd(t *testing.T) {
	c := NewCoroutine("doubles", doubles)
	if _, err := c.Result(); err == nil {
		t.Error("there is a result before it began")
	}
	c.Send(1)
	if _, err := c.Result(); err == nil {
		t.Error("there is a result before it ended")
	}
	c.Close()
}

// A coroutine that nobody resumes stays suspended, with its stack. Close ends it.
func TestCloseRunsDefers(t *testing.T) {
	aiotest.CheckLeaks(t)
	var log []string
	inner := NewCoroutine("inner", func(y *Yielder[int, int], _ int) (string, error) {
		defer func() { log = append(log, "inner") }()
		_, err := y.Yield(1)
		return "", err
	})
	outer := NewCoroutine("outer", func(y *Yielder[int, int], _ int) (string, error) {
		defer func() { log = append(log, "outer") }()
		return Delegate(y, inner, 0)
	})
	session{t, outer}.send(0).yields(1)
	for range 2 { // the second call does nothing
		if err := outer.Close(); err != nil {
			t.Error(err)
		}
	}
	if !slices.Equal(log, []string{"inner", "outer"}) {
		t.Errorf("the defers ran in order %q", log)
	}
	if _, err := outer.Result(); !errors.Is(err, ErrClosed) {
		t.Errorf("the result of a closed coroutine is %v", err)
	}
}

func TestCloseBeforeTheBeginning(t *testing.T) {
	aiotest.CheckLeaks(t)
	c := NewCoroutine("doubles", doubles)
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestCloseTellsOfAnError(t *testing.T) {
	c := NewCoroutine("untidy", func(y *Yielder[int, int], _ int) (string, error) {
		_, _ = y.Yield(1)
		return "", errOops
	})
	c.Send(0)
	if err := c.Close(); !errors.Is(err, errOops) {
		t.Errorf("Close returned %v, expected the error that the coroutine ended with", err)
	}
}

func TestCloseOfOneThatYieldsAgain(t *testing.T) {
	aiotest.CheckLeaks(t)
	c := NewCoroutine("stubborn", func(y *Yielder[int, int], _ int) (string, error) {
		_, _ = y.Yield(1)
		_, err := y.Yield(2)
		return "", err
	})
	c.Send(0)
	if err := c.Close(); err == nil || err.Error() != "stubborn: yielded while being closed, expected it to end" {
		t.Errorf("Close returned %v", err)
	}
	if err := c.Close(); err != nil { // it is still suspended, and can be closed
		t.Error(err)
	}
}

// panicOf returns what fn panics with.
func panicOf(fn func()) (p any) {
	defer func() { p = recover() }()
	fn()
	return nil
}

func TestMistakesPanic(t *testing.T) {
	over := NewCoroutine("over", doubles)
	over.Send(0)
	var itself *Coroutine[int, int, string]
	itself = NewCoroutine("itself", func(*Yielder[int, int], int) (string, error) {
		itself.Send(1)
		return "done", nil
	})
	for name, tt := range map[string]struct {
		do   func()
		want string
	}{
		"send to one that has finished":    {func() { over.Send(1) }, "lab: coroutine over is resumed, but has finished"},
		"throw into one that has finished": {func() { over.Throw(errOops) }, "lab: coroutine over is resumed, but has finished"},
		"one that resumes itself":          {func() { itself.Send(0) }, "lab: coroutine itself is resumed, but runs"},
	} {
		if got := panicOf(tt.do); got != tt.want {
			t.Errorf("%s: panic %v, expected %q", name, got, tt.want)
		}
	}
	if got, err := over.Result(); got != "done" || err != nil {
		t.Errorf("afterwards its result is %q, %v", got, err)
	}
}

func TestPanicComesOutWhereItWasResumed(t *testing.T) {
	aiotest.CheckLeaks(t)
	inner := NewCoroutine("inner", func(y *Yielder[int, int], _ int) (string, error) {
		_, _ = y.Yield(1)
		panic("boom")
	})
	cleaned := false
	outer := NewCoroutine("outer", func(y *Yielder[int, int], _ int) (string, error) {
		defer func() { cleaned = true }()
		return Delegate(y, inner, 0)
	})
	outer.Send(0)
	if got := panicOf(func() { outer.Send(0) }); got != "boom" {
		t.Errorf("the panic is %v", got)
	}
	if !cleaned {
		t.Error("it did not pass through the coroutine that waited")
	}
	if _, err := outer.Result(); err == nil {
		t.Error("a coroutine that panicked has a result")
	}
	if err := outer.Close(); err != nil {
		t.Error(err)
	}
}

// nested delegates to doubles through n coroutines.
func nested(n int) *Coroutine[int, int, string] {
	c := NewCoroutine("doubles", doubles)
	for i := 1; i <= n; i++ {
		sub := c
		c = NewCoroutine(fmt.Sprint("level ", i), func(y *Yielder[int, int], first int) (string, error) {
			s, err := Delegate(y, sub, first)
			return s + "!", err
		})
	}
	return c
}

func TestDelegate(t *testing.T) {
	aiotest.CheckLeaks(t)
	s := session{t, nested(3)}
	s.send(1).yields(2)
	s.send(5).yields(10)
	s.send(0).returns("done!!!")

	s = session{t, nested(3)}
	s.send(1).yields(2)
	s.throw(errOops).fails("level 3: level 2: level 1: doubles: oops")

	deep := nested(1_000)
	session{t, deep}.send(1).yields(2)
	session{t, deep}.send(7).yields(14)
	if err := deep.Close(); err != nil {
		t.Error(err)
	}
}

// An error that the innermost does not catch may be caught by the one that delegated.
func TestDelegateCatches(t *testing.T) {
	s := session{t, NewCoroutine("outer", func(y *Yielder[int, int], n int) (string, error) {
		_, err := Delegate(y, NewCoroutine("doubles", doubles), n)
		if !errors.Is(err, errOops) {
			return "", err
		}
		if _, err := y.Yield(-1); err != nil {
			return "", err
		}
		return "caught " + err.Error(), nil
	})}
	s.send(1).yields(2)
	s.throw(errOops).yields(-1)
	s.send(0).returns("caught doubles: oops")
}

// The first classic failure. A crawl in callbacks starts a page, which starts a read; each
// registers a callback and returns. When the read fails, whoever started it is no longer on the
// stack: the loop called back, and a trace shows no more.
func TestCallbacksForgetWhereTheyCameFrom(t *testing.T) {
	var loop chainLoop
	var trace string
	crawlByCallbacks(&loop, func(err error) {
		trace = err.Error() + "\n" + string(debug.Stack())
	})
	loop.run()
	for _, name := range []string{"unexpected EOF", "chainLoop).run"} {
		if !strings.Contains(trace, name) {
			t.Errorf("the trace does not name %q:\n%s", name, trace)
		}
	}
	for _, name := range []string{"crawlByCallbacks(", "fetchByCallbacks(", "readByCallbacks("} {
		if strings.Contains(trace, name) {
			t.Errorf("the trace names %q, which had long returned:\n%s", name, trace)
		}
	}
}

// chainLoop calls back, as a loop on a selector does.
type chainLoop []func()

func (l *chainLoop) run() {
	for len(*l) > 0 {
		call := (*l)[0]
		*l = (*l)[1:]
		call()
	}
}

func crawlByCallbacks(l *chainLoop, failed func(error)) {
	*l = append(*l, func() { fetchByCallbacks(l, failed) })
}

func fetchByCallbacks(l *chainLoop, failed func(error)) {
	*l = append(*l, func() { readByCallbacks(l, failed) })
}

func readByCallbacks(l *chainLoop, failed func(error)) {
	*l = append(*l, func() { failed(io.ErrUnexpectedEOF) })
}

// The coroutine does not forget. The crawl still waits for the page, and that for the read, so the
// error passes through both, and each adds its name. And where functions call each other within one
// coroutine, as those of aio do, its stack has them all.
func TestCoroutinesKnowWhereTheyCameFrom(t *testing.T) {
	read := NewCoroutine("read", func(y *Yielder[int, int], _ int) (string, error) {
		if _, err := y.Yield(0); err != nil { // until the socket is readable
			return "", err
		}
		return "", io.ErrUnexpectedEOF
	})
	fetch := NewCoroutine("fetch", func(y *Yielder[int, int], _ int) (string, error) { return Delegate(y, read, 0) })
	crawl := NewCoroutine("crawl", func(y *Yielder[int, int], _ int) (string, error) { return Delegate(y, fetch, 0) })
	for yielded := true; yielded; {
		_, yielded = crawl.Send(0)
	}
	if _, err := crawl.Result(); err.Error() != "crawl: fetch: read: unexpected EOF" {
		t.Errorf("the error is %q", err)
	}

	called := NewCoroutine("crawl", func(y *Yielder[int, int], _ int) (string, error) { return fetchByCall(y), nil })
	for yielded := true; yielded; {
		_, yielded = called.Send(0)
	}
	trace, _ := called.Result()
	for _, name := range []string{"fetchByCall(", "readByCall("} {
		if !strings.Contains(trace, name) {
			t.Errorf("the trace does not name %q:\n%s", name, trace)
		}
	}
}

func fetchByCall(y *Yielder[int, int]) string { return readByCall(y) }

func readByCall(y *Yielder[int, int]) string {
	_, _ = y.Yield(0)
	return string(debug.Stack())
}

func BenchmarkSend(b *testing.B) {
	for _, depth := range []int{0, 3} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			c := nested(depth)
			b.ReportAllocs()
			for b.Loop() {
				c.Send(1)
			}
			c.Close()
		})
	}
}
