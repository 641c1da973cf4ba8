package store_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/long"
)

// TestFull fills the disk at various writes. The job reports that it waits, and continues by itself
// as soon as there is space, with nothing lost or torn.
func TestFull(t *testing.T) {
	h := newHistory(t)
	var taking []storetest.Point
	for _, p := range h.points {
		if takesRoom(p.Op, p.File) {
			taking = append(taking, p)
		}
	}
	full, reported := 0, 0
	for _, at := range storetest.Sample(taking, long.Or(50, 1)) {
		met, waited := testFull(t, h, at)
		full += met
		reported += waited
	}
	t.Logf("full at %d of %d operations, %d waits reported", full, len(taking), reported)
	if full < 10 || reported < full-1 { // Pebble may do without one of the writes
		t.Errorf("%d waits reported, want %d", reported, full)
	}
}

func takesRoom(op storetest.Op, path string) bool {
	return op != storetest.Sync && op != storetest.Remove && op != storetest.Truncate && !strings.HasSuffix(path, "LOCK")
}

// testFull replays a history in which the disk is full for an operation, and for later ones on the
// same file: three times in all.
func testFull(t *testing.T, h *history, point storetest.Point) (met, waited int) {
	fs, points := newFS(t), storetest.Points{}
	var refused atomic.Int32
	var at atomic.Pointer[string] // the file that does not fit
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
	var reports []error
	waiting := func(err error) { reports = append(reports, err) }
	var committed int
	var err error
	within(t, "full", func() { committed, err = h.play(fs, store.Options{Retry: time.Microsecond, Waiting: waiting}, nil) })
	if at.Load() == nil { // the operation depends on Pebble's timing, and did not occur this time
		return 0, 0
	}
	if err != nil || committed != len(h.sizes) {
		t.Fatalf("no room for %v: %v after %d batches", point, err, committed)
	}
	if len(reports) > 0 {
		waited = 1
		if len(reports)%2 != 0 || reports[0] == nil || reports[len(reports)-1] != nil {
			t.Errorf("no room for %v: reported %v", point, reports)
		}
	}
	fs.Before(nil)
	if err := h.check(fs.Crash(0, rand.New(rand.NewPCG(1, 1))), committed); err != nil {
		t.Errorf("no room for %v: %v", point, err)
	}
	return 1, waited
}

// fill makes the disk so full that a write to files whose path contains part writes a single byte.
// The returned function makes room.
func fill(fs *storetest.FS, part string) (makeRoom func()) {
	fs.Before(func(op storetest.Op, path string) error {
		if op == storetest.Write && strings.Contains(path, part) {
			return &storetest.Partial{N: 1, Err: syscall.ENOSPC}
		}
		return nil
	})
	return func() { fs.Before(nil) }
}

// TestWaiting checks that a commit waits until the disk has space.
func TestWaiting(t *testing.T) {
	for _, part := range []string{"pages.jsonl", ".log"} {
		t.Run(part, func(t *testing.T) {
			fs := newFS(t)
			reports := make(chan error, 10)
			s := open(t, store.Options{FS: fs, Retry: time.Millisecond, Waiting: func(err error) { reports <- err }})
			commit(t, s, pages(s, "a\n"))
			makeRoom := fill(fs, part)
			done := make(chan error)
			g := pages(s, "a long line that takes more than one attempt\n")
			go func() { done <- s.Commit(g) }()
			if err := <-reports; !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("reported %v, want ENOSPC", err)
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
			if err := <-reports; err != nil {
				t.Errorf("reported %v, want nil", err)
			}
			shut(t, s)
			want := "a\na long line that takes more than one attempt\n"
			if lines, err := fs.ReadFile("/job/pages.jsonl"); err != nil || string(lines) != want {
				t.Errorf("%q, %v; want %q", lines, err, want)
			}
		})
	}
}

// TestAbandon checks that Abandon and Close make a waiting commit return its error, and that the
// job later continues from its last commit.
func TestAbandon(t *testing.T) {
	for _, part := range []string{"pages.jsonl", ".log"} {
		for _, how := range []string{"Abandon", "Close"} {
			t.Run(how+" "+part, func(t *testing.T) {
				fs := newFS(t)
				reports := make(chan error, 10)
				s := open(t, store.Options{FS: fs, Retry: time.Hour, Waiting: func(err error) { reports <- err }})
				commit(t, s, pages(s, "a\n"))
				makeRoom := fill(fs, part)
				done := make(chan error)
				g := pages(s, "b\n")
				go func() { done <- s.Commit(g) }()
				<-reports
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
