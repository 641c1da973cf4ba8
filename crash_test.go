package weft_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/torture"
	"github.com/weftcrawl/weft/internal/webtest"
)

// few at once make many groups.
var few = weft.Options{Concurrency: 3}

// crashWorld is small, and has a bit of everything.
func crashWorld(t *testing.T) *world {
	return newWorld(t, webtest.Config{Seed: 11, Hosts: 6, Pages: 4, Links: 4, SlowDelay: 50 * time.Millisecond, CrawlDelay: 20 * time.Millisecond})
}

// twoRuns is a crawl that is drained after a while and goes on: so a state that was there
// is opened too. It ends with the first error.
func (w *world) twoRuns(disk *storetest.FS, clock *aiotest.Clock) (weft.Summary, error) {
	server := webtest.NewServer(w.web, nil)
	sum, err := w.crawl(disk, few, life{clock: clock, server: server, drain: 2 * time.Second})
	if err == nil {
		sum, err = w.crawl(disk, few, life{clock: clock, server: server})
	}
	return sum, err
}

// goesOn looks at what is left of a job, of whose pages.jsonl so much was committed, and
// finishes the crawl, which begins at a time. It returns how much was committed.
func (w *world) goesOn(disk *storetest.FS, at time.Duration, least int) (committed int, err error) {
	var before torture.Left
	if _, err := disk.Stat("/job/state"); err == nil {
		if before, err = w.recovered(disk, least); err != nil {
			return 0, err
		}
	} else if least > 0 {
		return 0, err
	}
	sum, err := w.crawl(disk, few, life{begin: at})
	if err != nil {
		return 0, err
	}
	if err := w.whole(disk); err != nil {
		return 0, err
	}
	after, err := torture.Read(disk, "/job")
	if err != nil {
		return 0, err
	}
	if !strings.HasPrefix(after.Pages, before.Pages) {
		return 0, errors.New("a committed record is not what it was")
	}
	if sum.Recorded() != len(after.Records) || !sum.Finished {
		return 0, fmt.Errorf("%d records, summary %+v", len(after.Records), sum)
	}
	return len(before.Pages), nil
}

// operations counts those that two runs ask of the disk: a few more or less each time, as
// Pebble tidies up beside them.
func (w *world) operations(t *testing.T) int {
	t.Helper()
	n := 0
	disk := storetest.New()
	disk.Before(func(storetest.Op, string) error { n++; return nil })
	if _, err := w.twoRuns(disk, aiotest.NewClock()); err != nil {
		t.Fatal(err)
	}
	return n
}

// some are n of the numbers from 1 to total, evenly spread; all of them with
// WEFT_TORTURE=all, as make torture has it.
func some(n, total int) []int {
	if os.Getenv("WEFT_TORTURE") == "all" || n > total {
		n = total
	}
	var all []int
	for i := range n {
		all = append(all, 1+i*total/n)
	}
	return all
}

// forAll calls fn with the numbers below n, so many at once.
func forAll(n, atOnce int, fn func(i int)) {
	var workers sync.WaitGroup
	next := make(chan int)
	for range atOnce {
		workers.Go(func() {
			for i := range next {
				fn(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}

// TestCrash: the machine crashes before an operation of the disk, whichever, and loses
// whatever it likes of what was not synced. What was committed is there, and the crawl
// goes on to the end that it would have come to; without a limit of memory for fingerprints,
// and with none but in the store.
func TestCrash(t *testing.T) {
	for _, seenBytes := range []int{0, 1} {
		t.Run(fmt.Sprintf("fingerprints in %d bytes", seenBytes), func(t *testing.T) {
			w := crashWorld(t)
			w.seenBytes = seenBytes
			testCrash(t, w)
		})
	}
}

func testCrash(t *testing.T, w *world) {
	total := w.operations(t)
	at := make(map[int]bool)
	for _, n := range some(24, total) {
		at[n] = true
	}
	type crash struct {
		what  string
		time  time.Duration
		disks [3]*storetest.FS // without anything that was not synced; with some of it; with all
		kept  int              // bytes of pages.jsonl that were committed
	}
	var crashes []crash
	disk, clock := storetest.New(), aiotest.NewClock()
	n := 0
	disk.Before(func(op storetest.Op, path string) error {
		if n++; !at[n] && n < total {
			return nil
		}
		c := crash{what: fmt.Sprintf("crash before operation %d, %s %s", n, op, path), time: clock.Now().Sub(aiotest.Epoch)}
		for i := range c.disks {
			c.disks[i] = disk.Crash(50*i, rand.New(rand.NewPCG(uint64(n), uint64(i))))
		}
		crashes = append(crashes, c)
		return nil
	})
	if _, err := w.twoRuns(disk, clock); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d URLs: crashes before %d of %d operations, three each", len(w.truth), len(crashes), n)
	forAll(len(crashes), runtime.GOMAXPROCS(0), func(i int) {
		c := &crashes[i]
		for percent, disk := range c.disks {
			kept, err := w.goesOn(disk, c.time, c.kept)
			if err != nil {
				t.Errorf("%s, with %d %% of what was not synced: %v", c.what, 50*percent, err)
			}
			if percent == 0 {
				c.kept = kept
			}
		}
	})
	for i := range crashes[1:] {
		if was, is := crashes[i], crashes[i+1]; was.kept > is.kept {
			t.Errorf("%d bytes of records after a %s; %d after a %s", is.kept, is.what, was.kept, was.what)
		}
	}
	if end, err := w.recovered(disk.Crash(0, nil), 0); err != nil || len(end.Records) != len(w.truth) {
		t.Errorf("crash after the end: %d records, %v", len(end.Records), err)
	}
}

// TestDiskFails: an operation of the disk fails, once or from then on: the crawl ends with an
// error that names the file; what it says it has done is there, even if the machine crashes;
// and a crawl that goes on comes to the end that this one would have come to.
func TestDiskFails(t *testing.T) {
	for _, seenBytes := range []int{0, 1} {
		t.Run(fmt.Sprintf("fingerprints in %d bytes", seenBytes), func(t *testing.T) {
			w := crashWorld(t)
			w.seenBytes = seenBytes
			testDiskFails(t, w)
		})
	}
}

func testDiskFails(t *testing.T, w *world) {
	total := w.operations(t)
	tried := some(40, total)
	var failed atomic.Int32
	forAll(len(tried), runtime.GOMAXPROCS(0), func(i int) {
		disk, clock := storetest.New(), aiotest.NewClock()
		lasting := i%2 == 1
		n := 0
		what, file := "", ""
		disk.Before(func(op storetest.Op, path string) error {
			harmless := op == storetest.Remove || op == storetest.Write && path == "/job/state/last" // the state is as good without
			if n++; n < tried[i] || n > tried[i] && !lasting || harmless {
				return nil
			}
			if what == "" {
				what, file = fmt.Sprintf("operation %d, %s %s, lasting %t", n, op, path, lasting), path
			}
			return &fs.PathError{Op: string(op), Path: path, Err: syscall.EIO}
		})
		sum, err := w.twoRuns(disk, clock)
		disk.Before(nil)
		if what == "" {
			return
		}
		failed.Add(1)
		if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "store: store: ") || sum.Finished && sum.Recorded() < len(w.truth) {
			t.Errorf("%s: %v after %d URLs", what, err, sum.Recorded())
		}
		at := clock.Now().Sub(aiotest.Epoch)
		for _, percent := range []int{0, 100} {
			left := disk.Crash(percent, rand.New(rand.NewPCG(1, 2)))
			if _, err := left.Stat("/job/state"); err == nil || sum.Recorded() > 0 {
				if got, err := w.recovered(left, 0); err != nil || len(got.Records) < sum.Recorded() {
					t.Errorf("%s: %d records, told of %d; %v", what, len(got.Records), sum.Recorded(), err)
				}
			}
			if _, err := w.goesOn(left, at, 0); err != nil {
				t.Errorf("%s, then a crash with %d %% of what was not synced: %v", what, percent, err)
			}
		}
	})
	t.Logf("an input/output error at %d of %d operations (the others only remove what is obsolete, or write a hint), once or from then on, and two crashes each", failed.Load(), total)
	if int(failed.Load()) < len(tried)/2 {
		t.Error("most did not")
	}
}

// TestDiskFull: an operation of the disk finds no room, once: the crawl waits, goes on, and
// comes to the same end.
func TestDiskFull(t *testing.T) {
	w := crashWorld(t)
	total := w.operations(t)
	tried := some(20, total)
	var waited atomic.Int32
	forAll(len(tried), 40, func(i int) { // each waits for a second
		disk := storetest.New()
		n := 0
		what := ""
		disk.Before(func(op storetest.Op, path string) error {
			n++
			if n < tried[i] || what != "" || !takesRoom(op) {
				return nil
			}
			what = fmt.Sprintf("operation %d, %s %s", n, op, path)
			return noRoom(op, path)
		})
		sum, err := w.twoRuns(disk, aiotest.NewClock())
		if err == nil {
			err = w.whole(disk)
		}
		if err != nil || !sum.Finished {
			t.Errorf("%s: %v, %+v", what, err, sum)
		}
		if what != "" {
			waited.Add(1)
		}
	})
	t.Logf("no room at %d of %d operations, for a second", waited.Load(), total)
	if int(waited.Load()) < len(tried)/2 {
		t.Error("at most there was")
	}
}

func takesRoom(op storetest.Op) bool {
	return op == storetest.Create || op == storetest.Link || op == storetest.Mkdir || op == storetest.Rename || op == storetest.Write
}

// noRoom is the error of an operation on a disk that is full: of a write, some of it is done.
func noRoom(op storetest.Op, path string) error {
	err := &fs.PathError{Op: string(op), Path: path, Err: syscall.ENOSPC}
	if op == storetest.Write {
		return &storetest.Partial{N: 10, Err: err}
	}
	return err
}

// TestDiskStaysFull: a crawl that waits for room says so and begins nothing; it goes on when
// there is, and ends when it is broken off, be there room or not.
func TestDiskStaysFull(t *testing.T) {
	for _, room := range []bool{true, false} {
		t.Run(fmt.Sprintf("room %t", room), func(t *testing.T) {
			t.Parallel()
			served := webtest.Start(t, webtest.Config{Seed: 1, Hosts: 3, Pages: 30, Clean: true})
			truth := maps.Collect(served.Web.Truth(torture.Policy(0)))
			disk := storetest.New()
			var full, asked atomic.Bool
			disk.Before(func(op storetest.Op, path string) error {
				if strings.HasSuffix(path, ".jsonl") && op == storetest.Write {
					full.Store(full.Load() || !asked.Swap(true))
				}
				if full.Load() && takesRoom(op) {
					return noRoom(op, path)
				}
				return nil
			})
			crawler := func() *weft.Crawler {
				c, err := weft.New(weft.OnFiles(weft.Options{
					Seeds: []string{served.Web.Home(0)}, Scope: weft.ScopeAny, Job: "/job", KeepLinks: true, KeepBodies: true, DNS: serverAt(served),
				}, disk))
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
			c := crawler()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			type end struct {
				sum weft.Summary
				err error
			}
			ended := make(chan end, 1)
			go func() {
				sum, err := c.Run(ctx)
				ended <- end{sum, err}
			}()
			tick := time.NewTicker(5 * time.Millisecond)
			defer tick.Stop()
			patience := time.NewTimer(10 * time.Second)
			defer patience.Stop()
			for len(c.Stats().Paused) == 0 {
				select {
				case <-patience.C:
					t.Fatal("the disk is full, and nobody says so")
				case e := <-ended:
					t.Fatalf("ended on a full disk: %+v", e)
				case <-tick.C:
				}
			}
			if p := c.Stats().Paused; !slices.Equal(p, []string{"the disk is full"}) {
				t.Errorf("paused because %q", p)
			}
			if !room {
				stop()
				e := <-ended
				if !errors.Is(e.err, context.Canceled) && !errors.Is(e.err, syscall.ENOSPC) || e.sum.Finished {
					t.Errorf("broken off: %+v", e)
				}
				full.Store(false)
				c = crawler()
				go func() {
					sum, err := c.Run(t.Context())
					ended <- end{sum, err}
				}()
			}
			full.Store(false)
			if e := <-ended; e.err != nil || !e.sum.Finished || e.sum.Recorded() != len(truth) {
				t.Errorf("with room, expected %d URLs: %+v", len(truth), e)
			}
			left, err := torture.Open(disk, "/job")
			if err == nil {
				err = left.Whole(truth, left.Links)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}
