package durability_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/netip"
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
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/torture"
	"github.com/weftcrawl/weft/internal/webtest"
)

// few keeps concurrency low, so that the store commits many small batches.
var few = weft.Options{Pace: weft.Pace{Concurrency: 3}}

// crashWorld returns a small web with a little of everything. In the short form only what passes
// soon fails, as waiting for retries costs more than all pages: TestBrokenOff has the rest.
func crashWorld(t *testing.T) *world {
	// Loops are redirects, too.
	short := webtest.Rates{Redirect: -1, Stalled: -1, Broken: -1, Failing: -1, Flaky: 0.3}
	return newWorld(t, webtest.Config{
		Seed: 9, Hosts: long.Or(3, 5), Pages: 4, Links: 4, SlowDelay: 50 * time.Millisecond, CrawlDelay: 20 * time.Millisecond,
		Rates: long.Or(short, webtest.Rates{}),
	})
}

// twoRuns starts a crawl, drains it after a while and resumes it, so that an existing state is
// opened too. It returns at the first error.
func (w *world) twoRuns(disk *storetest.FS, clock *aiotest.Clock) (weft.Summary, error) {
	server := webtest.NewServer(w.web, nil)
	sum, err := w.crawl(disk, few, schedule{clock: clock, server: server, drain: 2 * time.Second})
	if err == nil || errors.Is(err, syscall.ENOSPC) {
		// A crawl that drains does not wait long for room.
		sum, err = w.crawl(disk, few, schedule{clock: clock, server: server})
	}
	return sum, err
}

// resume checks what is left of a job, of whose pages.jsonl at least so many bytes were committed,
// and then finishes the crawl, starting at the given time. It returns how much was committed.
func (w *world) resume(disk *storetest.FS, at time.Duration, least int) (committed int, err error) {
	var before torture.Left
	if _, err := disk.Stat("/job/state"); err == nil {
		if before, err = w.recovered(disk, least); err != nil {
			return 0, err
		}
	} else if least > 0 {
		return 0, err
	}
	sum, err := w.crawl(disk, few, schedule{begin: at})
	if err != nil {
		return 0, err
	}
	if err := w.checkWhole(disk); err != nil {
		return 0, err
	}
	after, err := torture.Read(disk, "/job")
	if err != nil {
		return 0, err
	}
	if !strings.HasPrefix(after.Pages, before.Pages) {
		return 0, errors.New("a committed record has changed")
	}
	if sum.Recorded() != len(after.Records) || !sum.Finished {
		return 0, fmt.Errorf("%d records, summary %+v", len(after.Records), sum)
	}
	return len(before.Pages), nil
}

// operations returns the disk operations of two runs. Their number varies a little, because Pebble
// compacts in the background.
func (w *world) operations(t *testing.T) []storetest.Point {
	t.Helper()
	var points storetest.Points
	disk := storetest.New()
	disk.Before(func(op storetest.Op, path string) error { points.Next(op, path); return nil })
	if _, err := w.twoRuns(disk, aiotest.NewClock()); err != nil {
		t.Fatal(err)
	}
	return points.All()
}

// some returns the first operation of each kind and n others, evenly spread; in a long run, all of
// them.
func some(n int, points []storetest.Point) []storetest.Point {
	return storetest.Sample(points, long.Or(len(points)/n, 1))
}

// forAll calls fn with each number below n, at most atOnce calls at a time.
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

// TestCrash crashes the machine before any disk operation, and loses any part of what was not
// synced. Committed data survives, and the resumed crawl finds what an undisturbed crawl finds. It
// runs with all fingerprints in memory, with all of them on disk, and with an archive.
func TestCrash(t *testing.T) {
	t.Run("archive", func(t *testing.T) {
		w := beyondWorld(t)
		w.archive = true
		testCrash(t, w)
	})
	for _, seenBytes := range []int{0, 1} {
		t.Run(fmt.Sprintf("fingerprints in %d bytes", seenBytes), func(t *testing.T) {
			w := crashWorld(t)
			w.seenBytes = seenBytes
			testCrash(t, w)
		})
	}
}

func testCrash(t *testing.T, w *world) {
	all := w.operations(t)
	tried := some(4, all)
	if !long.Enabled() && (w.seenBytes > 0 || w.archive) {
		// The unlimited run covers every kind of operation.
		tried = nil
		for i := 0; i < len(all); i += len(all) / 4 {
			tried = append(tried, all[i])
		}
		for _, point := range all { // the beginning of some files
			if w.archive && strings.Contains(point.File, "/archive") && point.N == 1 {
				tried = append(tried, point)
			}
		}
	}
	type crash struct {
		what  string
		time  time.Duration
		disks map[int]*storetest.FS // by percentage of unsynced data that survives
		kept  int                   // committed bytes of pages.jsonl; 0: unknown
	}
	var crashes []crash
	disk, clock := storetest.New(), aiotest.NewClock()
	var points storetest.Points
	disk.Before(func(op storetest.Op, path string) error {
		point := points.Next(op, path)
		if !slices.Contains(tried, point) {
			return nil
		}
		c := crash{what: fmt.Sprintf("crash before %v of %s", point, path), time: clock.Now().Sub(aiotest.Epoch), disks: make(map[int]*storetest.FS)}
		for _, percent := range long.Or([]int{len(crashes) % 3 * 50}, []int{0, 50, 100}) {
			c.disks[percent] = disk.Crash(percent, rand.New(rand.NewPCG(uint64(len(crashes)), uint64(percent))))
		}
		crashes = append(crashes, c)
		return nil
	})
	if _, err := w.twoRuns(disk, clock); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d URLs: crashes before %d of %d operations, %d each", len(w.truth), len(crashes), len(all), len(crashes[0].disks))
	forAll(len(crashes), runtime.GOMAXPROCS(0), func(i int) {
		c := &crashes[i]
		for _, percent := range slices.Sorted(maps.Keys(c.disks)) {
			kept, err := w.resume(c.disks[percent], c.time, c.kept)
			if err != nil {
				t.Errorf("%s, %d %% of unsynced data survives: %v", c.what, percent, err)
			}
			if percent == 0 {
				c.kept = kept
			}
			c.disks[percent] = nil // thousands of disks would take gigabytes
		}
	})
	var was crash // the last crash whose committed length is known
	for _, is := range crashes {
		if _, lost := is.disks[0]; !lost {
			continue
		}
		if was.kept > is.kept {
			t.Errorf("%d bytes of records after a %s, but %d after the earlier %s", is.kept, is.what, was.kept, was.what)
		}
		was = is
	}
	if end, err := w.recovered(disk.Crash(0, nil), 0); err != nil || len(end.Records) != len(w.truth) {
		t.Errorf("crash after the crawl has finished: %d records, error %v", len(end.Records), err)
	}
}

// TestDiskFails fails a disk operation, once or from then on. The crawl ends with an error that
// names the file; everything it counts as done is on disk, even if the machine crashes; and a
// resumed crawl finds what an undisturbed crawl finds.
func TestDiskFails(t *testing.T) {
	w := crashWorld(t)
	all := w.operations(t)
	tried := some(4, all)
	var failed atomic.Int32
	forAll(len(tried), runtime.GOMAXPROCS(0), func(i int) {
		for _, seenBytes := range long.Or([]int{i % 2}, []int{0, 1}) {
			for _, lasting := range long.Or([]bool{i/2%2 == 0}, []bool{false, true}) {
				w := *w // the original is shared
				w.seenBytes = seenBytes
				if w.diskFails(t, tried[i], lasting, long.Or([]int{i % 3 * 50}, []int{0, 50, 100})) {
					failed.Add(1)
				}
			}
		}
	})
	t.Logf("an input/output error at %d of %d operations (the others only remove what is obsolete, or write a hint), once or from then on, and crashes", failed.Load(), len(all))
	if int(failed.Load()) < len(tried)/2 {
		t.Error("most operations did not fail the crawl")
	}
}

// diskFails runs a crawl in which one operation fails, crashes its machine and resumes. It reports
// whether the operation failed; harmless operations are left to succeed.
func (w *world) diskFails(t *testing.T, at storetest.Point, lasting bool, percents []int) bool {
	disk, clock := storetest.New(), aiotest.NewClock()
	var points storetest.Points
	reached := false
	what, file := "", ""
	disk.Before(func(op storetest.Op, path string) error {
		point := points.Next(op, path)
		// The state does not need it.
		harmless := op == storetest.Remove || op == storetest.Write && path == "/job/state/last"
		if point != at && !(reached && lasting) {
			return nil
		}
		if reached = true; harmless {
			return nil
		}
		if what == "" {
			what, file = fmt.Sprintf("%v of %s, lasting %t, %d bytes of fingerprints", point, path, lasting, w.seenBytes), path
		}
		return &fs.PathError{Op: string(op), Path: path, Err: syscall.EIO}
	})
	sum, err := w.twoRuns(disk, clock)
	disk.Before(nil)
	if what == "" {
		return false
	}
	if !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "store: store: ") || sum.Finished && sum.Recorded() < len(w.truth) {
		t.Errorf("%s: error %v after %d URLs", what, err, sum.Done)
	}
	end := clock.Now().Sub(aiotest.Epoch)
	for _, percent := range percents {
		left := disk.Crash(percent, rand.New(rand.NewPCG(1, 2)))
		if _, err := left.Stat("/job/state"); err == nil || sum.Done > 0 {
			if got, err := w.recovered(left, 0); err != nil || len(got.Records) < sum.Recorded() {
				t.Errorf("%s: %d records, but the summary counts %d; error %v", what, len(got.Records), sum.Recorded(), err)
			}
		}
		if _, err := w.resume(left, end, 0); err != nil {
			t.Errorf("%s, then a crash, %d %% of unsynced data survives: %v", what, percent, err)
		}
	}
	// A failed store lives until the process ends, and its disk with it.
	if err := disk.RemoveAll("/job"); err != nil {
		t.Error(err)
	}
	return true
}

// TestDiskFull fails one disk operation for lack of space. The crawl waits, continues, and finds
// what an undisturbed crawl finds.
func TestDiskFull(t *testing.T) {
	w := crashWorld(t)
	var taking []storetest.Point
	for _, p := range w.operations(t) {
		if takesRoom(p.Op) {
			taking = append(taking, p)
		}
	}
	tried := some(4, taking)
	var waited atomic.Int32
	forAll(len(tried), 8, func(i int) { // each one waits for a second
		disk := storetest.New()
		var points storetest.Points
		what := ""
		disk.Before(func(op storetest.Op, path string) error {
			if points.Next(op, path) != tried[i] {
				return nil
			}
			what = fmt.Sprintf("%v of %s", tried[i], path)
			return noRoom(op, path)
		})
		sum, err := w.twoRuns(disk, aiotest.NewClock())
		if err == nil {
			err = w.checkWhole(disk)
		}
		if err != nil || !sum.Finished {
			t.Errorf("%s: error %v, summary %+v", what, err, sum)
		}
		if what != "" {
			waited.Add(1)
		}
	})
	t.Logf("no room at %d of %d operations, for a second", waited.Load(), len(taking))
	if int(waited.Load()) < len(tried)/2 {
		t.Error("most operations found space")
	}
}

func takesRoom(op storetest.Op) bool {
	return op == storetest.Create || op == storetest.Link || op == storetest.Mkdir || op == storetest.Rename || op == storetest.Write
}

// noRoom returns the error of an operation on a full disk. A write is partly done.
func noRoom(op storetest.Op, path string) error {
	err := &fs.PathError{Op: string(op), Path: path, Err: syscall.ENOSPC}
	if op == storetest.Write {
		return &storetest.Partial{N: 10, Err: err}
	}
	return err
}

// TestDiskStaysFull checks that a crawl on a full disk reports that it is paused, starts no fetch,
// continues when there is space again, and ends when it is canceled while the disk is still full.
func TestDiskStaysFull(t *testing.T) {
	for _, freed := range []bool{true, false} {
		t.Run(fmt.Sprintf("space freed %t", freed), func(t *testing.T) {
			t.Parallel()
			served := webtest.Start(t, webtest.Config{Seed: 1, Hosts: 3, Pages: 30, Clean: true})
			truth := maps.Collect(served.Web.Truth(torture.Policy(0)))
			disk := storetest.New()
			var full, filled atomic.Bool
			disk.Before(func(op storetest.Op, path string) error {
				if strings.HasSuffix(path, ".jsonl") && op == storetest.Write {
					full.Store(full.Load() || !filled.Swap(true))
				}
				if full.Load() && takesRoom(op) {
					return noRoom(op, path)
				}
				return nil
			})
			crawler := func() *crawl.Crawl {
				cfg, err := weft.Options{
					Seeds: []string{served.Web.Home(0)}, Reach: weft.Reach{Scope: weft.ScopeAny}, Job: "/job", Keep: weft.Keep{KeepLinks: true, KeepBodies: true}, HTTP: weft.HTTP{DNS: []netip.AddrPort{netip.MustParseAddrPort(served.DNS.Addr())}},
				}.Config()
				if err != nil {
					t.Fatal(err)
				}
				cfg.Job.Files = disk
				c, err := crawl.New(cfg)
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
					t.Fatal("the disk is full, but the crawl does not report a pause")
				case e := <-ended:
					t.Fatalf("the crawl ended on a full disk: %+v", e)
				case <-tick.C:
				}
			}
			if p := c.Stats().Paused; !slices.Equal(p, []string{"the disk is full"}) {
				t.Errorf("pause reasons %q", p)
			}
			if !freed {
				stop()
				e := <-ended
				if !errors.Is(e.err, context.Canceled) && !errors.Is(e.err, syscall.ENOSPC) || e.sum.Finished {
					t.Errorf("canceled on a full disk: %+v", e)
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
				t.Errorf("with space again, expected %d URLs: %+v", len(truth), e)
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

// crashAgain crawls a job on a disk a second time, from a time on, and crashes the machine before
// its disk operations: one in some of the first ones, which move URLs back to pending, and some of
// all. It loses any part of what was not synced. Whether it crashed or not, the crawl ends as check
// expects.
func (w *world) crashAgain(t *testing.T, crawled *storetest.FS, o weft.Options, begin time.Duration, first, oneIn int, check func(*storetest.FS, weft.Summary) error, changes ...func(*crawl.Config)) {
	finish := func(disk *storetest.FS) error {
		sum, err := w.crawl(disk, o, schedule{begin: begin}, changes...)
		disk.Before(nil)
		if err == nil {
			err = check(disk, sum)
		}
		if err == nil && !sum.Finished {
			err = fmt.Errorf("not finished: %+v", sum)
		}
		return err
	}
	again := func(before func(point storetest.Point, disk *storetest.FS, what string)) []storetest.Point {
		disk, points := crawled.Crash(100, rand.New(rand.NewPCG(1, 2))), storetest.Points{}
		disk.Before(func(op storetest.Op, path string) error {
			point := points.Next(op, path)
			before(point, disk, fmt.Sprintf("%v of %s", point, path))
			return nil
		})
		if err := finish(disk); err != nil {
			t.Fatal(err)
		}
		return points.All()
	}
	all := again(func(storetest.Point, *storetest.FS, string) {})
	tried := storetest.Sample(all[:first], oneIn)
	for i := 0; i < len(all); i += long.Or(60, 16) {
		tried = append(tried, all[i])
	}
	type crash struct {
		what string
		disk *storetest.FS
	}
	var crashes []crash
	again(func(point storetest.Point, disk *storetest.FS, what string) {
		if n := len(crashes); slices.Contains(tried, point) {
			crashes = append(crashes, crash{what, disk.Crash(n%3*50, rand.New(rand.NewPCG(uint64(n), 3)))})
		}
	})
	forAll(len(crashes), 2, func(i int) {
		if err := finish(crashes[i].disk); err != nil {
			t.Errorf("crash before %s: %v", crashes[i].what, err)
		}
	})
	t.Logf("crashes before %d of %d operations", len(crashes), len(all))
}
