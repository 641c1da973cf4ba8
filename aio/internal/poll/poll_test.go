//go:build unix

package poll_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio/internal/poll"
	"golang.org/x/sys/unix"
)

// each runs test once for every selector of this system.
func each(t *testing.T, test func(t *testing.T, s poll.Selector)) {
	t.Helper()
	for _, name := range poll.Names() {
		t.Run(name, func(t *testing.T) {
			s, err := poll.New(name)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			test(t, s)
		})
	}
}

// pipe holds two ends of something, non-blocking and closed with the test.
type pipe struct{ r, w int }

func newPipe(t *testing.T) pipe {
	t.Helper()
	var p [2]int
	must(t, unix.Pipe(p[:]))
	return ends(t, p)
}

// newSockets returns a pair whose ends both read and write.
func newSockets(t *testing.T) pipe {
	t.Helper()
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	must(t, err)
	return ends(t, p)
}

func ends(t *testing.T, p [2]int) pipe {
	t.Helper()
	for _, fd := range p {
		must(t, unix.SetNonblock(fd, true))
		t.Cleanup(func() { unix.Close(fd) }) // fails if the test has closed it
	}
	return pipe{r: p[0], w: p[1]}
}

func (p pipe) write(t *testing.T, n int) {
	t.Helper()
	if m, err := unix.Write(p.w, make([]byte, n)); err != nil || m != n {
		t.Fatalf("wrote %d bytes of %d: %v", m, n, err)
	}
}

func (p pipe) drain(t *testing.T) {
	t.Helper()
	var buf [64 << 10]byte
	for {
		n, err := unix.Read(p.r, buf[:])
		if err == unix.EAGAIN || err == nil && n == 0 {
			return
		}
		must(t, err)
	}
}

// fill writes until the other end has to read.
func (p pipe) fill(t *testing.T) {
	t.Helper()
	var buf [64 << 10]byte
	for {
		if _, err := unix.Write(p.w, buf[:]); err == unix.EAGAIN {
			return
		} else {
			must(t, err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// late returns a time far enough off for everything that has to happen before it on a busy
// machine.
func late() time.Time { return time.Now().Add(30 * time.Second) }

// ready returns the events of added descriptors, without the selector's own, by token; nil if
// there are none now.
func ready(t *testing.T, s poll.Selector) map[uint64]poll.Event {
	t.Helper()
	events := make([]poll.Event, 16)
	n, err := s.Poll(events)
	must(t, err)
	return byToken(events[:n])
}

func byToken(events []poll.Event) map[uint64]poll.Event {
	var got map[uint64]poll.Event
	for _, ev := range events {
		if ev.Token == ^uint64(0) {
			continue
		}
		if got == nil {
			got = make(map[uint64]poll.Event)
		}
		got[ev.Token] = ev
	}
	return got
}

// waitReady is ready that waits.
func waitReady(t *testing.T, s poll.Selector) map[uint64]poll.Event {
	t.Helper()
	events, limit := make([]poll.Event, 16), late()
	for time.Now().Before(limit) {
		n, err := s.Wait(events, limit)
		must(t, err)
		if got := byToken(events[:n]); got != nil {
			return got
		}
	}
	t.Fatal("no event came")
	return nil
}

func TestReadiness(t *testing.T) {
	const rw = poll.Read | poll.Write
	for _, c := range []struct {
		name string
		open func(*testing.T) pipe
		do   func(*testing.T, pipe)
		end  func(pipe) int // the end that is watched
		in   poll.Interest
		want poll.Interest
	}{
		{"empty pipe is not readable", newPipe, nothing, reader, poll.Read, 0},
		{"pipe with a byte is readable", newPipe, oneByte, reader, poll.Read, poll.Read},
		{"pipe is writable", newPipe, nothing, writer, poll.Write, poll.Write},
		{"full pipe is not writable", newPipe, full, writer, poll.Write, 0},
		{"drained pipe is writable again", newPipe, fullThenDrained, writer, poll.Write, poll.Write},
		{"fresh socket is writable only", newSockets, nothing, reader, rw, poll.Write},
		{"socket with a byte is both", newSockets, oneByte, reader, rw, rw},
		{"full socket is not writable", newSockets, full, writer, rw, 0},
		{"unrequested events are not reported", newSockets, oneByte, reader, poll.Write, poll.Write},
		{"no interest, no events", newSockets, oneByte, reader, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s poll.Selector) {
				p := c.open(t)
				must(t, s.Add(c.end(p), 7, c.in))
				c.do(t, p)
				if got := ready(t, s)[7]; got.Ready != c.want || got.Hup {
					t.Errorf("ready = %b, hup = %v, want %b and no hang-up", got.Ready, got.Hup, c.want)
				}
			})
		})
	}
}

func nothing(*testing.T, pipe)             {}
func oneByte(t *testing.T, p pipe)         { p.write(t, 1) }
func full(t *testing.T, p pipe)            { p.fill(t) }
func reader(p pipe) int                    { return p.r }
func writer(p pipe) int                    { return p.w }
func closeWriter(t *testing.T, p pipe)     { must(t, unix.Close(p.w)) }
func closeReader(t *testing.T, p pipe)     { must(t, unix.Close(p.r)) }
func shutWriter(t *testing.T, p pipe)      { must(t, unix.Shutdown(p.w, unix.SHUT_WR)) }
func lastByte(t *testing.T, p pipe)        { p.write(t, 1); closeWriter(t, p) }
func fullThenDrained(t *testing.T, p pipe) { p.fill(t); p.drain(t) }

func TestHangUp(t *testing.T) {
	const rw = poll.Read | poll.Write
	for _, c := range []struct {
		name string
		open func(*testing.T) pipe
		do   func(*testing.T, pipe)
		end  func(pipe) int
		in   poll.Interest
		want poll.Interest // at least
		hup  bool
	}{
		{"pipe without a writer", newPipe, closeWriter, reader, poll.Read, poll.Read, true},
		{"pipe without a writer, with a byte", newPipe, lastByte, reader, poll.Read, poll.Read, true},
		{"pipe without a reader", newPipe, closeReader, writer, poll.Write, poll.Write, true},
		{"socket whose peer is gone", newSockets, closeWriter, reader, rw, rw, true},
		// poll(2) cannot tell a half-closed socket from one with bytes: Hup is not guaranteed.
		{"socket whose peer sends no more", newSockets, shutWriter, reader, poll.Read, poll.Read, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s poll.Selector) {
				p := c.open(t)
				must(t, s.Add(c.end(p), 7, c.in))
				c.do(t, p)
				got := ready(t, s)[7]
				if got.Ready&c.want != c.want {
					t.Errorf("ready = %b, want at least %b", got.Ready, c.want)
				}
				if c.hup && !got.Hup {
					t.Error("no hang-up was reported")
				}
			})
		})
	}
}

// A descriptor that nobody waits for must not end a Wait, whatever happens to it: a loop that
// polls level-triggered would spin on a peer's hang-up.
func TestHangUpOfUnwatchedIsQuiet(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		if s.Edge() {
			return // reported once: an edge does not spin
		}
		p := newSockets(t)
		must(t, s.Add(p.r, 7, poll.Read))
		must(t, s.Modify(p.r, 7, 0))
		closeWriter(t, p)
		if got := ready(t, s); got != nil {
			t.Errorf("events %v, want none", got)
		}
		must(t, s.Modify(p.r, 7, poll.Read))
		if got := ready(t, s)[7]; got.Ready&poll.Read == 0 {
			t.Error("the hang-up was forgotten while nobody waited")
		}
	})
}

func TestLevelTellsAgain(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		p := newPipe(t)
		must(t, s.Add(p.r, 7, poll.Read))
		p.write(t, 1)
		for i := range 3 {
			if ready(t, s)[7].Ready != poll.Read {
				t.Fatalf("poll %d: the unread byte is not reported", i)
			}
		}
		p.drain(t)
		if got := ready(t, s); got != nil {
			t.Errorf("events %v of an empty pipe", got)
		}
	})
}

func TestEdgeTellsOnce(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		if !s.Edge() {
			return // it has no edges
		}
		p := newPipe(t)
		must(t, s.Add(p.r, 7, poll.Read|poll.Edge))
		for i := range 3 {
			p.write(t, 1) // while earlier bytes are still unread: a new edge all the same
			if ready(t, s)[7].Ready != poll.Read {
				t.Fatalf("write %d: not reported", i)
			}
			if got := ready(t, s); got != nil {
				t.Fatalf("write %d: reported twice: %v", i, got)
			}
		}
	})
}

// What was ready before it was added is reported too: a connection may have bytes when it is
// accepted.
func TestAddTellsWhatIsThere(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		p := newPipe(t)
		p.write(t, 1)
		in := poll.Read
		if s.Edge() {
			in |= poll.Edge
		}
		must(t, s.Add(p.r, 7, in))
		if ready(t, s)[7].Ready != poll.Read {
			t.Error("the byte that came before Add is not reported")
		}
	})
}

func TestModify(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		p := newSockets(t)
		p.write(t, 1)
		must(t, s.Add(p.r, 7, 0))
		for _, step := range []struct {
			token    uint64
			in, want poll.Interest
		}{
			{7, poll.Read, poll.Read},
			{7, poll.Write, poll.Write},
			{7, poll.Read | poll.Write, poll.Read | poll.Write},
			{7, 0, 0},
			{8, poll.Read, poll.Read}, // the token may change too
		} {
			must(t, s.Modify(p.r, step.token, step.in))
			got := ready(t, s)
			if got[step.token].Ready != step.want || step.want != 0 && len(got) != 1 {
				t.Errorf("Modify(%d, %b): events %v, want %b", step.token, step.in, got, step.want)
			}
		}
	})
}

func TestRemove(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		var pipes []pipe
		for i := range 5 {
			p := newPipe(t)
			p.write(t, 1)
			pipes = append(pipes, p)
			must(t, s.Add(p.r, uint64(i), poll.Read))
		}
		left := map[uint64]bool{0: true, 1: true, 2: true, 3: true, 4: true}
		for _, i := range []int{1, 4, 0, 2, 3} { // from the middle, the end, the front
			must(t, s.Remove(pipes[i].r))
			delete(left, uint64(i))
			got := ready(t, s)
			if len(got) != len(left) {
				t.Errorf("after Remove of %d: events %v, want %v", i, got, left)
			}
			for token := range got {
				if !left[token] {
					t.Errorf("after Remove of %d: event of %d", i, token)
				}
			}
			// The others can still be changed, though their index may have moved.
			for token := range left {
				must(t, s.Modify(pipes[token].r, token, poll.Read))
			}
		}
		must(t, s.Add(pipes[0].r, 9, poll.Read))
		if got := ready(t, s); got[9].Ready != poll.Read || len(got) != 1 {
			t.Errorf("added again: events %v", got)
		}
	})
}

// Remove and Modify must find a descriptor that is watched for nothing, and is therefore missing
// from the set that poll(2) gets.
func TestRemoveOfUnwatchedMovesTheRight(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		a, b, c := newPipe(t), newPipe(t), newPipe(t)
		must(t, s.Add(a.r, 1, poll.Read))
		must(t, s.Add(b.r, 2, poll.Read))
		must(t, s.Add(c.r, 3, 0))
		must(t, s.Remove(a.r)) // c takes its index
		c.write(t, 1)
		if got := ready(t, s); got != nil {
			t.Errorf("events %v, want none", got)
		}
		must(t, s.Modify(c.r, 3, poll.Read))
		if got := ready(t, s); got[3].Ready != poll.Read || len(got) != 1 {
			t.Errorf("events %v, want that of 3", got)
		}
		must(t, s.Remove(c.r))
		must(t, s.Remove(b.r))
	})
}

func TestErrors(t *testing.T) {
	dir := t.TempDir()
	regular, err := os.Create(filepath.Join(dir, "regular"))
	must(t, err)
	defer regular.Close()
	folder, err := os.Open(dir)
	must(t, err)
	defer folder.Close()

	for _, c := range []struct {
		name string
		call func(s poll.Selector, fd int) error
		want error
	}{
		{"add a regular file", func(s poll.Selector, _ int) error { return s.Add(int(regular.Fd()), 1, poll.Read) }, unix.EPERM},
		{"add a directory", func(s poll.Selector, _ int) error { return s.Add(int(folder.Fd()), 1, poll.Read) }, unix.EPERM},
		{"add a number that is no descriptor", func(s poll.Selector, _ int) error { return s.Add(1<<20, 1, poll.Read) }, unix.EBADF},
		{"add a negative number", func(s poll.Selector, _ int) error { return s.Add(-1, 1, poll.Read) }, unix.EBADF},
		{"add twice", func(s poll.Selector, fd int) error {
			return errors.Join(s.Add(fd, 1, poll.Read), s.Add(fd, 2, poll.Read))
		}, unix.EEXIST},
		{"modify what was not added", func(s poll.Selector, fd int) error { return s.Modify(fd, 1, poll.Read) }, unix.ENOENT},
		{"remove what was not added", func(s poll.Selector, fd int) error { return s.Remove(fd) }, unix.ENOENT},
		{"remove twice", func(s poll.Selector, fd int) error {
			return errors.Join(s.Add(fd, 1, poll.Read), s.Remove(fd), s.Remove(fd))
		}, unix.ENOENT},
	} {
		t.Run(c.name, func(t *testing.T) {
			each(t, func(t *testing.T, s poll.Selector) {
				if runtime.GOOS != "linux" && c.want == unix.EPERM {
					t.Skip("kqueue watches files")
				}
				p := newPipe(t)
				if err := c.call(s, p.r); !errors.Is(err, c.want) {
					t.Errorf("err = %v, want %v", err, c.want)
				}
				// The selector still works.
				q := newPipe(t)
				q.write(t, 1)
				must(t, s.Add(q.r, 5, poll.Read))
				if ready(t, s)[5].Ready != poll.Read {
					t.Error("afterwards, an event was not reported")
				}
			})
		})
	}
}

func TestNew(t *testing.T) {
	names := poll.Names()
	if runtime.GOOS == "linux" && !slices.Equal(names, []string{"epoll", "poll"}) {
		t.Errorf("selectors %v", names)
	}
	best, err := poll.New("")
	must(t, err)
	defer best.Close()
	first, err := poll.New(names[0])
	must(t, err)
	defer first.Close()
	if fmt.Sprintf("%T", best) != fmt.Sprintf("%T", first) {
		t.Errorf("default is a %T, want the first of Names, a %T", best, first)
	}
	_, err = poll.New("select")
	if err == nil || !strings.Contains(err.Error(), `"select"`) || !strings.Contains(err.Error(), strings.Join(names, ", ")) {
		t.Errorf("err = %v, want one that names the unknown and the known", err)
	}
}

// Wait may return early, with nothing; but only a few times, and it never claims a time that has
// not come.
func TestWaitDeadline(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		events := make([]poll.Event, 4)
		for _, d := range []time.Duration{-time.Second, 0, 100 * time.Microsecond, 1500 * time.Microsecond, 20 * time.Millisecond} {
			until := time.Now().Add(d)
			calls := 0
			for first := true; first || time.Now().Before(until); first = false {
				n, err := s.Wait(events, until)
				must(t, err)
				if n != 0 {
					t.Fatalf("wait of %v: %d events", d, n)
				}
				calls++
			}
			if calls > 3 { // one, except for interrupted calls
				t.Errorf("wait of %v: returned %d times before its end", d, calls)
			}
		}
	})
}

// After a deadline has passed, the next Wait has its own, or none.
func TestWaitAfterDeadline(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		p := newPipe(t)
		must(t, s.Add(p.r, 7, poll.Read))
		events := make([]poll.Event, 4)
		for _, next := range []time.Time{{}, late()} {
			_, err := s.Wait(events, time.Now().Add(-time.Second))
			must(t, err)
			go func() { unix.Write(p.w, []byte{1}) }()
			for {
				n, err := s.Wait(events, next)
				must(t, err)
				if byToken(events[:n])[7].Ready == poll.Read {
					break
				}
			}
			p.drain(t)
		}
	})
}

// A trap of RawConn.Read: with an expired deadline it does not call its function. A loop whose
// next timer is due would never learn which descriptors are ready.
func TestExpiredDeadlineReturnsPending(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		p := newPipe(t)
		must(t, s.Add(p.r, 7, poll.Read))
		events := make([]poll.Event, 4)
		past := time.Now().Add(-time.Second)
		for i := range 3 { // the first sets the deadline, the others find it set
			p.write(t, 1)
			n, err := s.Wait(events, past)
			must(t, err)
			if got := byToken(events[:n])[7]; got.Ready != poll.Read {
				t.Errorf("wait %d: %d events, want that of the pipe", i, n)
			}
			p.drain(t)
		}
	})
}

// Go watches the epoll descriptor edge-triggered: what was ready before Wait, came between two
// waits, or did not fit into events must still be reported.
func TestNoLostEdge(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		const n = 100
		pipes := make([]pipe, n)
		in := poll.Read
		if s.Edge() {
			in |= poll.Edge
		}
		for i := range pipes {
			pipes[i] = newPipe(t)
			must(t, s.Add(pipes[i].r, uint64(i), in))
		}
		events := make([]poll.Event, 7) // far fewer than are ready at once
		for round := range 3 {
			for i := range pipes {
				if i%2 == 0 {
					pipes[i].write(t, 1)
				}
			}
			go func() { // the other half comes during a Wait, or between two
				for i := range pipes {
					if i%2 == 1 {
						unix.Write(pipes[i].w, []byte{1})
					}
				}
			}()
			reported := make(map[uint64]bool)
			for limit := late(); len(reported) < n; {
				m, err := s.Wait(events, limit)
				must(t, err)
				for token := range byToken(events[:m]) {
					reported[token] = true
					pipes[token].drain(t)
				}
				if !time.Now().Before(limit) {
					t.Fatalf("round %d: %d pipes reported, want %d", round, len(reported), n)
				}
			}
		}
	})
}

// More descriptors are ready, and stay ready, than fit into events: they take turns.
func TestReadyTakeTurns(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		const n, places = 20, 4
		for i := range n {
			p := newPipe(t)
			p.write(t, 1)
			must(t, s.Add(p.r, uint64(i), poll.Read))
		}
		reported := make(map[uint64]bool)
		events := make([]poll.Event, places)
		for range 2 * n / places {
			m, err := s.Poll(events)
			must(t, err)
			for token := range byToken(events[:m]) {
				reported[token] = true
			}
		}
		if len(reported) != n {
			t.Errorf("%d pipes reported, want %d", len(reported), n)
		}
	})
}

// The *os.File that ties the epoll descriptor to Go's poller closes it when it is collected.
func TestCollectionKeepsSelector(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		p := newPipe(t)
		must(t, s.Add(p.r, 7, poll.Read))
		for range 3 {
			collect() // between two waits
			go func() {
				collect() // most likely during the wait
				unix.Write(p.w, []byte{1})
			}()
			if waitReady(t, s)[7].Ready != poll.Read {
				t.Fatal("not reported")
			}
			p.drain(t)
		}
	})
}

// collect returns when finalisers and cleanups of all garbage have run.
func collect() {
	for range 3 {
		done := make(chan struct{})
		sentinel := new([16]byte)
		runtime.SetFinalizer(sentinel, func(*[16]byte) { close(done) })
		sentinel = nil
		runtime.GC()
		<-done
	}
}

// An event must not be attributed to whatever has the number now.
func TestReusedNumberHasItsOwnToken(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		first, second := newPipe(t), newPipe(t)
		// Keeps the open file alive: closing alone would not remove it from epoll.
		alias, err := unix.Dup(first.r)
		must(t, err)
		defer unix.Close(alias)
		in := poll.Read
		if s.Edge() {
			in |= poll.Edge
		}
		must(t, s.Add(first.r, 1, in))
		first.write(t, 1)
		must(t, s.Remove(first.r))
		must(t, unix.Dup2(second.r, first.r)) // closes it and reuses its number
		must(t, s.Add(first.r, 2, in))
		first.write(t, 1)
		if got := ready(t, s); got != nil {
			t.Errorf("events %v, though what was written to is no longer watched", got)
		}
		second.write(t, 1)
		if got := ready(t, s); got[2].Ready != poll.Read || len(got) != 1 {
			t.Errorf("events %v, want that of token 2 only", got)
		}
	})
}

func TestWakeBeforeWait(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		events := make([]poll.Event, 4)
		limit := late()
		for _, until := range []time.Time{{}, limit} {
			s.Wake()
			s.Wake()
			_, err := s.Wait(events, until)
			must(t, err)
			if !time.Now().Before(limit) {
				t.Fatal("the wake-up was lost")
			}
		}
	})
}

// A wake-up is used up: the next Wait waits.
func TestWakeEndsOneWait(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		s.Wake()
		events := make([]poll.Event, 4)
		limit := late()
		_, err := s.Wait(events, limit)
		must(t, err)
		until := time.Now().Add(5 * time.Millisecond)
		calls := 0
		for ; time.Now().Before(until); calls++ {
			_, err := s.Wait(events, until)
			must(t, err)
		}
		if calls > 3 {
			t.Errorf("after a Wake, Wait returned %d times before its time", calls)
		}
	})
}

// Wake comes at every moment of a Wait, from many goroutines, and none may be lost: the last one
// acknowledges the last request, and nothing else would end that Wait.
func TestWakeFromManyGoroutines(t *testing.T) {
	each(t, func(t *testing.T, s poll.Selector) {
		const goroutines, rounds = 8, 200
		var asked, answered atomic.Int64
		asks := make(chan struct{})
		var wg sync.WaitGroup
		for range goroutines {
			wg.Go(func() {
				for range asks {
					answered.Add(1)
					s.Wake()
				}
			})
		}
		events := make([]poll.Event, 4)
		for range rounds {
			for range goroutines / 2 {
				asks <- struct{}{}
				asked.Add(1)
			}
			for limit := late(); answered.Load() < asked.Load(); {
				_, err := s.Wait(events, limit)
				must(t, err)
				if !time.Now().Before(limit) {
					t.Fatal("a wake-up was lost")
				}
			}
		}
		close(asks)
		wg.Wait()
	})
}

func TestCloseLeavesNoDescriptor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("counts /proc/self/fd")
	}
	for _, name := range poll.Names() {
		t.Run(name, func(t *testing.T) {
			before := openDescriptors(t)
			for range 10 {
				s, err := poll.New(name)
				must(t, err)
				_, err = s.Wait(make([]poll.Event, 1), time.Now())
				must(t, err)
				must(t, s.Close())
			}
			if after := openDescriptors(t); after != before {
				t.Errorf("%d descriptors open, %d before", after, before)
			}
		})
	}
}

func openDescriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	must(t, err)
	return len(entries)
}
