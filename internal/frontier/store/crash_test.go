package store_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"weak"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/long"
)

// history is the short life of a job: batches, small ones and ones so large that Pebble writes
// tables, and two openings. Every replay is the same.
type history struct {
	sizes  []int    // changes per batch; -n: n large pending URLs
	models []*model // by number of committed batches
	dumps  []string // of models
	points []storetest.Point
}

const (
	buffer   = 4 << 10 // small, to force tables and compactions
	bodies   = 3       // batches before the first body file
	reopened = 4       // batches before the job is closed and opened again
)

func newHistory(t *testing.T) *history {
	h := &history{sizes: []int{5, 30, -60, -60, 20, -60, -60, 10, -60, -60, 40}}
	m := newModel()
	h.models = append(h.models, m.clone())
	fs, points := newFS(t), storetest.Points{}
	fs.Before(func(op storetest.Op, path string) error {
		points.Next(op, path)
		return nil
	})
	played, err := h.play(fs, store.Options{}, func(m *model) { h.models = append(h.models, m.clone()) })
	h.points = points.All()
	if err != nil || played != len(h.sizes) {
		t.Fatalf("%d batches: %v", played, err)
	}
	for _, m := range h.models {
		h.dumps = append(h.dumps, m.dump())
	}
	return h
}

// play replays the history until an error, and returns the number of committed batches. It calls
// after, if not nil, after each of them.
func (h *history) play(fs *storetest.FS, o store.Options, after func(*model)) (committed int, err error) {
	p := &player{rand.New(rand.NewPCG(1, 2)), newModel()}
	o.FS, o.Outputs, o.Buffer = fs, outputs, buffer
	s, err := store.Open("/job", o)
	if err != nil {
		return 0, err
	}
	for i, size := range h.sizes {
		if i == reopened {
			if err := s.Close(); err != nil {
				return committed, err
			}
			if s, err = store.Open("/job", o); err != nil {
				return committed, err
			}
		}
		g := s.Begin()
		for range size {
			p.step(g)
		}
		for range -size {
			u := p.url(p.rng.IntN(4))
			u.From += strings.Repeat("x", 500)
			g.Pending(u)
			p.seen[u.URL.Fingerprint()], p.pending[u.URL.String()] = true, u
		}
		if i >= bodies {
			if err := s.WriteFile(body(i), []byte(body(i)), false); err != nil {
				return committed, errors.Join(err, s.Close())
			}
			g.SyncDir(path.Dir(body(i)))
		}
		if err := s.Commit(g); err != nil {
			if again := s.Commit(s.Begin()); again == nil || again.Error() != err.Error() {
				err = fmt.Errorf("the next commit returns %w, after %w", again, err)
			}
			return committed, errors.Join(err, s.Close())
		}
		committed++
		if after != nil {
			after(p.model)
		}
	}
	return committed, s.Close()
}

// body returns both the name and the content of the body file of the ith batch.
func body(i int) string { return fmt.Sprintf("bodies/%d/body", i) }

// check opens the disk that a crash has left. It must hold a whole number of batches: all batches
// whose commit returned, and at most the one in flight besides.
func (h *history) check(fs *storetest.FS, committed int) error {
	s, err := store.Open("/job", store.Options{FS: fs, Outputs: outputs, Buffer: buffer})
	if err != nil {
		return err
	}
	defer s.Close()
	got, err := dumped(s)
	if err != nil {
		return err
	}
	for i := committed; i <= min(committed+1, len(h.sizes)); i++ {
		if got != h.dumps[i] {
			continue
		}
		for name, want := range h.models[i].outputs {
			if lines, err := fs.ReadFile("/job/" + name); err != nil || string(lines) != want {
				return fmt.Errorf("%s: %d bytes, want %d after %d batches; %w", name, len(lines), len(want), i, err)
			}
		}
		for j := bodies; j < i; j++ {
			if b, err := fs.ReadFile("/job/" + body(j)); err != nil || string(b) != body(j) {
				return fmt.Errorf("%s: %q after %d batches; %w", body(j), b, i, err)
			}
		}
		return nil
	}
	return fmt.Errorf("after %d commits the store holds:\n%s", committed, diff(got, h.dumps[committed]))
}

// TestCrash crashes the machine at many operations, with none, some or all of the unsynced data
// left. The store then holds the state of a commit, the last that returned or a later one, and the
// outputs hold the lines of that commit, each once.
func TestCrash(t *testing.T) {
	h := newHistory(t)
	fs, points := newFS(t), storetest.Points{}
	tried := storetest.Sample(h.points, long.Or(20, 1))
	var committed atomic.Int32
	// marker counts the operations left since a marker file changed.
	crashes, tables, merged, marker := 0, 0, 0, 0
	fs.Before(func(op storetest.Op, path string) error {
		if op == storetest.Create && strings.HasSuffix(path, ".sst") {
			tables++
		}
		if op == storetest.Remove && strings.HasSuffix(path, ".sst") {
			merged++
		}
		point := points.Next(op, path)
		percents := []int{0, 50, 100}
		if marker--; strings.Contains(path, "/marker.") {
			marker = 4
		}
		switch {
		case marker >= 0 && op == storetest.Sync && path == "/job/state":
			percents = slices.Repeat([]int{50}, long.Or(8, 16)) // which names survive is random
		case !slices.Contains(tried, point):
			return nil
		case point.N > 1:
			percents = long.Or(percents[crashes%3:][:1], percents)
		}
		for i, percent := range percents {
			crashes++
			left := fs.Crash(percent, rand.New(rand.NewPCG(uint64(crashes), uint64(i))))
			if err := left.MkdirAll("/job", 0o777); err != nil { // the folder is the caller's
				t.Error(err)
			}
			if err := h.check(left, int(committed.Load())); err != nil {
				t.Errorf("crash before %s %s, with %d %% of the unsynced data left: %v", op, path, percent, err)
			}
		}
		return nil
	})
	if _, err := h.play(fs, store.Options{}, func(*model) { committed.Add(1) }); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d crashes at %d of %d operations, %d tables, %d of them merged", crashes, len(tried), len(h.points), tables, merged)
	if crashes < 80 || tables < 4 || merged == 0 {
		t.Error("too few for a meaningful test")
	}
}

// within runs fn and fails if it hangs.
func within(t *testing.T, what string, fn func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		fn()
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	select {
	case <-done:
	case <-ctx.Done():
		t.Fatalf("%s: hangs", what)
	}
}

// TestFailure makes single disk operations fail, or all operations from one on. Open or Commit
// returns the error without waiting and without ending the process, and the store still holds the
// committed batches when it is opened again, even after a crash.
func TestFailure(t *testing.T) {
	h := newHistory(t)
	tried := storetest.Sample(h.points, long.Or(50, 1))
	for i, point := range tried {
		for _, lasting := range long.Or([]bool{i%2 == 1}, []bool{false, true}) {
			testFailure(t, h, point, lasting)
		}
	}
	t.Logf("an error at %d of %d operations", len(tried), len(h.points))
}

// TestFailedForgets: a store that has failed and is closed holds nothing of who was to be told that
// it waits, though its goroutines never end.
func TestFailedForgets(t *testing.T) {
	fs := newFS(t)
	var held weak.Pointer[[1 << 20]byte]
	waiting := func() func(error) {
		crawl := new([1 << 20]byte)
		held = weak.Make(crawl)
		return func(error) { crawl[0]++ }
	}
	s, err := store.Open("/job", store.Options{FS: fs, Waiting: waiting()})
	if err != nil {
		t.Fatal(err)
	}
	fs.Before(func(op storetest.Op, path string) error {
		if op == storetest.Write || op == storetest.Sync {
			return syscall.EIO
		}
		return nil
	})
	g, p := s.Begin(), &player{rand.New(rand.NewPCG(1, 2)), newModel()}
	for range 20 {
		p.step(g)
	}
	if err := s.Commit(g); !errors.Is(err, syscall.EIO) {
		t.Fatalf("%v, expected an error of input or output", err)
	}
	_ = s.Close()
	fs.Before(nil)
	runtime.GC()
	if held.Value() != nil {
		t.Error("the crawl is held")
	}
}

// testFailure replays a history in which the operation at fails, or all from it on if lasting.
func testFailure(t *testing.T, h *history, at storetest.Point, lasting bool) {
	fs, points := newFS(t), storetest.Points{}
	var failed atomic.Bool
	fs.Before(func(op storetest.Op, path string) error {
		if points.Next(op, path) == at || lasting && failed.Load() {
			failed.Store(true)
			return syscall.EIO
		}
		return nil
	})
	var committed int
	var err error
	name := fmt.Sprintf("%v, lasting %t", at, lasting)
	within(t, name, func() { committed, err = h.play(fs, store.Options{}, nil) })
	harmless := at.Op == storetest.Remove && !lasting // an obsolete file may stay
	switch {
	case !failed.Load(): // the operation depends on Pebble's timing, and did not occur this time
	case harmless && err != nil:
		t.Errorf("%s: %v", name, err)
	case err == nil && committed < len(h.sizes), err != nil && (!errors.Is(err, syscall.EIO) || !strings.HasPrefix(err.Error(), "store: ")):
		t.Errorf("%s: %v after %d batches", name, err, committed)
	}
	fs.Before(nil)
	for _, percent := range []int{0, 100} {
		left := fs.Crash(percent, rand.New(rand.NewPCG(uint64(at.N), 3)))
		if err := left.MkdirAll("/job", 0o777); err != nil {
			t.Fatal(err)
		}
		if err := h.check(left, committed); err != nil {
			t.Errorf("%s, then a crash with %d %% of the unsynced data left: %v", name, percent, err)
		}
	}
}
