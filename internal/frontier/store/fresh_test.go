package store_test

import (
	"errors"
	"fmt"
	iofs "io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/long"
)

// fresh returns options that start a job anew.
func fresh(fs store.FS) store.Options {
	return store.Options{FS: fs, Outputs: outputs, Clear: []string{"bodies", "other.jsonl"}, Fresh: true}
}

// old returns a job with everything that a job may have: a table, a log, bodies, an unrelated file.
func old(t *testing.T) *storetest.FS {
	t.Helper()
	fs := newFS(t)
	s := open(t, store.Options{FS: fs})
	g := pages(s, "a\n")
	g.Set("note", []byte("old"))
	commit(t, s, g)
	shut(t, s)
	s = open(t, store.Options{FS: fs}) // turns the log into a table
	if err := s.WriteFile("bodies/ab/abcd", []byte("body"), false); err != nil {
		t.Fatal(err)
	}
	g = pages(s, "b\n")
	g.SyncDir("bodies/ab")
	commit(t, s, g)
	shut(t, s)
	for _, name := range []string{"/job/other.jsonl", "/job/mine.txt"} {
		if err := fs.WriteFile(name, []byte("kept\n")); err != nil {
			t.Fatal(err)
		}
	}
	return fs
}

// checkFresh fails if anything of the old job is left.
func checkFresh(t *testing.T, fs *storetest.FS, s *store.Store) {
	t.Helper()
	if got, err := dumped(s); err != nil || got != newModel().dump() {
		t.Errorf("%v, contents:\n%s", err, diff(got, newModel().dump()))
	}
	for _, name := range outputs {
		if lines, err := fs.ReadFile("/job/" + name); err != nil || len(lines) > 0 {
			t.Errorf("%s: %q, %v", name, lines, err)
		}
	}
	names, err := fs.List("/job")
	if err != nil || slices.Contains(names, "bodies") || slices.Contains(names, "other.jsonl") {
		t.Errorf("%v, %v", names, err)
	}
}

// TestFresh checks that any job, also a damaged one, starts anew, and that unrelated files stay.
func TestFresh(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(t *testing.T, fs *storetest.FS)
	}{
		{"a job", func(*testing.T, *storetest.FS) {}},
		{"no manifest", func(t *testing.T, fs *storetest.FS) { remove(t, fs, find(t, fs, "/MANIFEST")) }},
		{"a table of zeros", func(t *testing.T, fs *storetest.FS) { edit(t, fs, find(t, fs, ".sst"), zero) }},
		{"no output", func(t *testing.T, fs *storetest.FS) { remove(t, fs, "/job/pages.jsonl") }},
		{"lost batches", func(t *testing.T, fs *storetest.FS) { edit(t, fs, find(t, fs, ".log"), half) }},
		{"no state", func(t *testing.T, fs *storetest.FS) {
			if err := fs.RemoveAll("/job/state"); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			fs := old(t)
			test.edit(t, fs)
			s, err := store.Open("/job", fresh(fs))
			if err != nil {
				t.Fatal(err)
			}
			checkFresh(t, fs, s)
			commit(t, s, pages(s, "c\n"))
			shut(t, s)
			s = open(t, store.Options{FS: fs})
			shut(t, s)
			for name, want := range map[string]string{"pages.jsonl": "c\n", "mine.txt": "kept\n"} {
				if got, err := fs.ReadFile("/job/" + name); err != nil || string(got) != want {
					t.Errorf("%s: %q, %v; want %q", name, got, err, want)
				}
			}
		})
	}
}

// TestFreshLeftover checks that a state with nothing but its lock starts anew if no outputs exist.
func TestFreshLeftover(t *testing.T) {
	fs := newFS(t)
	if err := fs.MkdirAll("/job/state", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := fs.WriteFile("/job/state/LOCK", nil); err != nil {
		t.Fatal(err)
	}
	s := open(t, store.Options{FS: fs})
	checkFresh(t, fs, s)
	shut(t, s)
}

// notes returns a job whose outputs are empty, so that they cannot reveal lost batches.
func notes(t *testing.T) *storetest.FS {
	t.Helper()
	fs := newFS(t)
	for _, note := range []string{"first", "second", "third"} {
		s := open(t, store.Options{FS: fs})
		g := s.Begin()
		g.Set(note, nil)
		commit(t, s, g)
		shut(t, s)
	}
	return fs
}

// TestFreshInterrupted kills the process or crashes the machine while a job starts anew. It leaves
// the old job or an empty one, whose removal whoever opens it next finishes, and the job can start
// anew once more.
func TestFreshInterrupted(t *testing.T) {
	for _, test := range []struct {
		name string
		job  func(*testing.T) *storetest.FS
	}{
		{"a job with pages", old},
		{"a job with notes only", notes},
	} {
		t.Run(test.name, func(t *testing.T) {
			was, err := look(test.job(t))
			if err != nil {
				t.Fatal(err)
			}
			states := map[string]int{}
			check := func(what string, left *storetest.FS) {
				switch got, err := look(left); {
				case err == nil && got == was:
					states["old"]++
				case err == nil && got == newModel().dump():
					states["new"]++
				default:
					t.Errorf("%s: %v\n%s", what, err, got)
				}
				s, err := store.Open("/job", fresh(left))
				if err != nil {
					t.Errorf("%s, then fresh: %v", what, err)
					return
				}
				checkFresh(t, left, s)
				shut(t, s)
			}
			var all, points storetest.Points
			fs := test.job(t)
			fs.Before(func(op storetest.Op, path string) error { all.Next(op, path); return nil })
			s, err := store.Open("/job", fresh(fs))
			if err != nil {
				t.Fatal(err)
			}
			fs.Before(nil)
			shut(t, s)
			tried := storetest.Sample(all.All(), long.Or(20, 1))
			for _, at := range tried {
				fs, points, killed := test.job(t), storetest.Points{}, atomic.Bool{}
				fs.Before(func(op storetest.Op, path string) error {
					if points.Next(op, path) == at || killed.Load() {
						killed.Store(true)
						return syscall.EIO
					}
					return nil
				})
				s, err := store.Open("/job", fresh(fs))
				fs.Before(nil)
				if err == nil {
					shut(t, s)
				}
				check(fmt.Sprintf("killed before %v", at), fs)
			}
			crashes := uint64(0)
			fs = test.job(t)
			fs.Before(func(op storetest.Op, path string) error {
				if !slices.Contains(tried, points.Next(op, path)) {
					return nil
				}
				for _, percent := range long.Or([]int{int(crashes % 3 * 50)}, []int{0, 50, 100}) {
					crashes++
					left := fs.Crash(percent, rand.New(rand.NewPCG(crashes, 0)))
					if err := left.MkdirAll("/job", 0o777); err != nil {
						t.Error(err)
					}
					check(fmt.Sprintf("crash before %s %s, with %d %% of the unsynced data left", op, path, percent), left)
				}
				return nil
			})
			shut(t, open(t, fresh(fs)))
			t.Log(states)
			if states["old"] == 0 || states["new"] == 0 {
				t.Error("one of old and new never occurs")
			}
		})
	}
}

// TestFreshOrder checks the order of removal: first the outputs, then the state, and last the list
// of what goes. The lock stays.
func TestFreshOrder(t *testing.T) {
	fs := old(t)
	names, err := fs.List("/job/state")
	if err != nil {
		t.Fatal(err)
	}
	var removed []string
	fs.Before(func(op storetest.Op, path string) error {
		if op == storetest.Remove {
			removed = append(removed, path)
		}
		return nil
	})
	s := open(t, fresh(fs))
	fs.Before(nil)
	shut(t, s)
	end := slices.Index(removed, "/job/state/clearing")
	if end < 0 || slices.Contains(removed, "/job/state/LOCK") {
		t.Fatalf("removed: %q", removed)
	}
	for _, name := range names {
		if at := slices.Index(removed, "/job/state/"+name); name != "LOCK" && (at < 0 || at > end) {
			t.Errorf("%s is not removed before the list: %q", name, removed)
		}
	}
	first := []string{"/job/pages.jsonl", "/job/links.jsonl", "/job/bodies", "/job/other.jsonl"}
	if !slices.Equal(removed[:len(first)], first) {
		t.Errorf("removed first: %q, want %q", removed[:len(first)], first)
	}
}

// TestLookAtClearing checks that a job whose removal was interrupted is none to whoever only reads.
func TestLookAtClearing(t *testing.T) {
	fs := old(t)
	fs.Before(func(op storetest.Op, path string) error {
		if op == storetest.Remove {
			return syscall.EIO
		}
		return nil
	})
	if _, err := store.Open("/job", fresh(fs)); err == nil {
		t.Fatal("the removal was not interrupted")
	}
	fs.Before(nil)
	if s, err := store.Open("/job", store.Options{FS: fs, ReadOnly: true}); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("%v, want ErrNotExist", err)
		shut(t, s)
	}
	checkFresh(t, fs, open(t, store.Options{FS: fs}))
}

// TestFreshLocked checks that only one of several concurrent openers starts a job anew, and that
// the others remove nothing from it.
func TestFreshLocked(t *testing.T) {
	check := func(t *testing.T, dir string) {
		t.Helper()
		s, err := store.Open(dir, store.Options{Outputs: outputs})
		if err != nil {
			t.Fatal(err)
		}
		shut(t, s)
		lines, err := os.ReadFile(filepath.Join(dir, "pages.jsonl"))
		if got := strings.Count(string(lines), "\n"); err != nil || got != killedBatches {
			t.Errorf("%d lines, want %d of one process; %v", got, killedBatches, err)
		}
	}
	t.Run("processes", func(t *testing.T) {
		dir := killed(t) // leaves much to remove
		for range long.Or(2, 5) {
			printed := map[string]int{}
			all := children(t, 3, dir, "fresh")
			for _, c := range all {
				printed[c.printed]++
			}
			if printed["committed"] != 1 || printed["locked"] != 2 {
				t.Errorf("%v, want one that has committed", printed)
			}
			_, err := store.Open(dir, store.Options{Outputs: outputs, Fresh: true})
			if !errors.Is(err, store.ErrLocked) {
				t.Errorf("%v, want ErrLocked", err)
			}
			for _, c := range all {
				c.kill()
			}
			check(t, dir)
		}
	})
	t.Run("one process", func(t *testing.T) {
		dir := killed(t)
		for range long.Or(8, 20) {
			var stores [4]*store.Store
			var errs [4]error
			var wg sync.WaitGroup
			for i := range stores {
				wg.Go(func() { stores[i], errs[i] = store.Open(dir, store.Options{Outputs: outputs, Fresh: true}) })
			}
			wg.Wait()
			opened := 0
			for i, s := range stores {
				if s != nil {
					opened++
					commit(t, s, pages(s, "a\n"))
					shut(t, s)
				} else if !errors.Is(errs[i], store.ErrLocked) {
					t.Errorf("%v, want ErrLocked", errs[i])
				}
			}
			if opened != 1 {
				t.Fatalf("%d stores are open, want 1", opened)
			}
		}
	})
}

// TestFreshNeedsAState checks that Fresh is an error for a store that is read-only or in memory.
func TestFreshNeedsAState(t *testing.T) {
	fs := old(t)
	for _, o := range []store.Options{{ReadOnly: true}, {Memory: true}} {
		o.FS, o.Fresh, o.Outputs = fs, true, outputs
		if s, err := store.Open("/job", o); err == nil {
			t.Errorf("read only %t, in memory %t: no error", o.ReadOnly, o.Memory)
			shut(t, s)
		}
	}
	if lines, err := fs.ReadFile("/job/pages.jsonl"); err != nil || string(lines) != "a\nb\n" {
		t.Errorf("%q, %v", lines, err)
	}
}
