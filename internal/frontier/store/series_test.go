package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
)

// seriesOptions have a series with an index in its folder.
func seriesOptions(fs *storetest.FS) store.Options {
	return store.Options{FS: fs, Outputs: []string{"pages.jsonl", "archive/index"}, Series: "archive"}
}

const (
	seriesBatches = 7
	perOutput     = 3 // batches
)

// playSeries commits batches that each add a line to an output of the series, and its name to the
// index. It ends outputs in the batch that adds the first line to the next.
func playSeries(fs *storetest.FS, committed *int) error {
	s, err := store.Open("/job", seriesOptions(fs))
	if err != nil {
		return err
	}
	for i := range seriesBatches {
		g := s.Begin()
		name := fmt.Sprintf("archive/%d", i/perOutput)
		if i > 0 && i%perOutput == 0 {
			g.End(fmt.Sprintf("archive/%d", i/perOutput-1))
		}
		g.Append(name, fmt.Appendf(nil, "%d\n", i))
		g.Append("archive/index", fmt.Appendf(nil, "%s %d\n", name, i))
		if err := s.Commit(g); err != nil {
			return errors.Join(err, s.Close())
		}
		*committed++
	}
	return s.Close()
}

// checkSeries opens the disk that a crash has left after a number of commits.
func checkSeries(fs *storetest.FS, committed int) error {
	s, err := store.Open("/job", seriesOptions(fs))
	if err != nil {
		return err
	}
	all, err := s.Series()
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	var lines, index, paths []string
	for i, o := range all {
		text, err := fs.ReadFile("/job/" + o.Path())
		if err != nil || int64(len(text)) != o.Size || o.Ended != (i < len(all)-1) {
			return fmt.Errorf("%+v of %d: %q, %w", o, len(all), text, err)
		}
		paths = append(paths, strings.TrimPrefix(o.Path(), "archive/"))
		for line := range strings.Lines(string(text)) {
			lines = append(lines, line)
			index = append(index, o.Name+" "+line)
		}
	}
	if n := len(lines); n < committed || n > committed+1 {
		return fmt.Errorf("%d lines after %d commits", n, committed)
	}
	if text, err := fs.ReadFile("/job/archive/index"); err != nil || string(text) != strings.Join(index, "") {
		return fmt.Errorf("index %q, expected %q; %w", text, index, err)
	}
	names, err := fs.List("/job/archive")
	slices.Sort(names)
	if paths = append(paths, "index"); err != nil || !slices.Equal(names, paths) {
		return fmt.Errorf("files %q, expected %q; %w", names, paths, err)
	}
	return nil
}

// TestSeriesCrash crashes the machine before each operation. Each output of the series then has the
// lines of the committed batches, and its final name if a batch has ended it.
func TestSeriesCrash(t *testing.T) {
	crashed := 0
	for n := 0; ; n++ {
		fs := newFS(t)
		var disks []*storetest.FS
		ops, committed, before := 0, 0, 0
		fs.Before(func(storetest.Op, string) error {
			if ops++; ops-1 == n {
				for i, percent := range []int{0, 50, 100} {
					disks = append(disks, fs.Crash(percent, rand.New(rand.NewPCG(uint64(n), uint64(i)))))
				}
				before = committed
				return errors.New("crash")
			}
			return nil
		})
		_ = playSeries(fs, &committed) // it may do without the operation
		if ops <= n {
			break
		}
		for _, disk := range disks {
			crashed++
			if err := checkSeries(disk, before); err != nil {
				t.Fatalf("crash before operation %d, after %d commits: %v", n, before, err)
			}
		}
	}
	if crashed < 100 {
		t.Errorf("only %d crashes", crashed)
	}
}

// TestSeriesIsWhole: outputs that were shortened or removed are errors that name them.
func TestSeriesIsWhole(t *testing.T) {
	for _, name := range []string{"archive/0", "archive/2.open", "archive/index"} {
		fs := newFS(t)
		if err := playSeries(fs, new(int)); err != nil {
			t.Fatal(err)
		}
		if err := fs.Truncate("/job/"+name, 1); err != nil {
			t.Fatal(err)
		}
		var short *store.ShortError
		if _, err := store.Open("/job", seriesOptions(fs)); !errors.As(err, &short) || !strings.HasSuffix(short.Name, name) {
			t.Errorf("%s shortened: %v", name, err)
		}
		if err := fs.Remove("/job/" + name); err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open("/job", seriesOptions(fs)); !errors.As(err, &short) || !strings.HasSuffix(short.Name, name) {
			t.Errorf("%s removed: %v", name, err)
		}
	}
}
