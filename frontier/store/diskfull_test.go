package store_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/frontier/store"
	"github.com/weftcrawl/weft/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/long"
)

// TestFull: whichever write it is that finds the disk full, the job waits, says so, and
// goes on by itself as soon as there is room, with nothing lost or torn.
func TestFull(t *testing.T) {
	h := newHistory(t)
	var taking []storetest.Point
	for _, p := range h.points {
		if takesRoom(p.Op, p.File) {
			taking = append(taking, p)
		}
	}
	full, waited := 0, 0
	for _, at := range storetest.Sample(taking, long.Or(20, 1)) {
		met, told := testFull(t, h, at)
		full += met
		waited += told
	}
	t.Logf("full at %d of %d operations, told of %d", full, len(taking), waited)
	if full < 10 || waited < full-1 { // one may be a write that Pebble tries for want of a better one
		t.Errorf("told of %d waits, want %d", waited, full)
	}
}

func takesRoom(op storetest.Op, path string) bool {
	return op != storetest.Sync && op != storetest.Remove && op != storetest.Truncate && !strings.HasSuffix(path, "LOCK")
}

// testFull plays a history in which an operation, and those after it on the same file, find no room three times.
func testFull(t *testing.T, h *history, point storetest.Point) (met, waited int) {
	fs, points := newFS(t), storetest.Points{}
	var refused atomic.Int32
	var at atomic.Pointer[string] // the file that there is no room for
	fs.Before(func(op storetest.Op, path string) error {
		if points.Next(op, path) == point {
			at.Store(&path)
		}
		if p := at.Load(); p == nil || *p != path || !takesRoom(op, path) || refused.Load() == 3 {
			return nil
		}
		refused.Add(1)
		if op == storetest.Write {
			return &storetest.Partial{N: 3, Err: syscall.ENOSPC}
		}
		return syscall.EDQUOT
	})
	var told []error
	waiting := func(err error) { told = append(told, err) }
	var committed int
	var err error
	within(t, "full", func() { committed, err = h.play(fs, store.Options{Retry: time.Microsecond, Waiting: waiting}, nil) })
	if at.Load() == nil { // it was one of Pebble's own accord
		return 0, 0
	}
	if err != nil || committed != len(h.sizes) {
		t.Fatalf("no room for %v: %v after %d batches", point, err, committed)
	}
	if len(told) > 0 {
		waited = 1
		if len(told)%2 != 0 || told[0] == nil || told[len(told)-1] != nil {
			t.Errorf("no room for %v: told %v", point, told)
		}
	}
	fs.Before(nil)
	if err := h.check(fs.Crash(0, rand.New(rand.NewPCG(1, 1))), committed); err != nil {
		t.Errorf("no room for %v: %v", point, err)
	}
	return 1, waited
}

// fill makes the disk so full that no more than a byte at a time can be written to files
// of a name, and returns how to make room.
func fill(fs *storetest.FS, part string) (makeRoom func()) {
	fs.Before(func(op storetest.Op, path string) error {
		if op == storetest.Write && strings.Contains(path, part) {
			return &storetest.Partial{N: 1, Err: syscall.ENOSPC}
		}
		return nil
	})
	return func() { fs.Before(nil) }
}

// TestWaiting: a commit waits as long as it takes.
func TestWaiting(t *testing.T) {
	for _, part := range []string{"pages.jsonl", ".log"} {
		t.Run(part, func(t *testing.T) {
			fs := newFS(t)
			told := make(chan error, 10)
			s := open(t, store.Options{FS: fs, Retry: time.Millisecond, Waiting: func(err error) { told <- err }})
			commit(t, s, pages(s, "a\n"))
			makeRoom := fill(fs, part)
			done := make(chan error)
			g := pages(s, "a long line that takes more than one attempt\n")
			go func() { done <- s.Commit(g) }()
			if err := <-told; !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("told %v, want ENOSPC", err)
			}
			select {
			case err := <-done:
				t.Fatalf("the commit has returned: %v", err)
			default:
			}
			makeRoom()
			if err := <-done; err != nil {
				t.Error(err)
			}
			if err := <-told; err != nil {
				t.Errorf("told %v, want nil", err)
			}
			shut(t, s)
			want := "a\na long line that takes more than one attempt\n"
			if lines, err := fs.ReadFile("/job/pages.jsonl"); err != nil || string(lines) != want {
				t.Errorf("%q, %v; want %q", lines, err, want)
			}
		})
	}
}

// TestAbandon: who does not want to wait gets the error, and a job that goes on later from
// where the last commit was.
func TestAbandon(t *testing.T) {
	for _, part := range []string{"pages.jsonl", ".log"} {
		for _, how := range []string{"Abandon", "Close"} {
			t.Run(how+" "+part, func(t *testing.T) {
				fs := newFS(t)
				told := make(chan error, 10)
				s := open(t, store.Options{FS: fs, Retry: time.Hour, Waiting: func(err error) { told <- err }})
				commit(t, s, pages(s, "a\n"))
				makeRoom := fill(fs, part)
				done := make(chan error)
				g := pages(s, "b\n")
				go func() { done <- s.Commit(g) }()
				<-told
				if how == "Abandon" {
					s.Abandon()
				} else {
					go s.Close()
				}
				if err := <-done; !errors.Is(err, syscall.ENOSPC) {
					t.Errorf("%v, want ENOSPC", err)
				}
				if part == "pages.jsonl" {
					if lines, err := fs.ReadFile("/job/pages.jsonl"); err != nil || string(lines) != "a\n" {
						t.Errorf("%q, %v: want whole lines", lines, err)
					}
				}
				shut(t, s)
				makeRoom()
				s = open(t, store.Options{FS: fs})
				commit(t, s, pages(s, "c\n"))
				shut(t, s)
				if lines, err := fs.ReadFile("/job/pages.jsonl"); err != nil || string(lines) != "a\nc\n" {
					t.Errorf("%q, %v", lines, err)
				}
			})
		}
	}
}
