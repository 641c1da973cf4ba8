package store_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/weburl"
)

// done commits that the URLs with some numbers are done.
func done(t *testing.T, s *store.Store, from, to int) {
	t.Helper()
	b := s.Begin()
	for n := from; n < to; n++ {
		u, err := weburl.Parse(fmt.Sprintf("http://a.test/%04d", n))
		if err != nil {
			t.Fatal(err)
		}
		b.Pending(frontier.URL{URL: u, Seq: uint64(n)})
		b.Done(frontier.URL{URL: u, Seq: uint64(n)})
	}
	if err := s.Commit(b); err != nil {
		t.Fatal(err)
	}
}

// TestPageOfLongURLs: a page of pending URLs takes little memory, however long these are, and the
// next one goes on.
func TestPageOfLongURLs(t *testing.T) {
	s, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const all = 150
	from := strings.Repeat("x", 16<<10)
	b := s.Begin()
	for n := range uint64(all) {
		u, err := weburl.Parse(fmt.Sprintf("http://a.test/%04d", n))
		if err != nil {
			t.Fatal(err)
		}
		b.Pending(frontier.URL{URL: u, Seq: n, From: from})
	}
	if err := s.Commit(b); err != nil {
		t.Fatal(err)
	}
	read, after := 0, frontier.QueueKey{Tried: true, Priority: 127, Rank: 127} // before all
	for more := true; more; {
		var page []frontier.URL
		if page, more, err = s.Pending("http://a.test", after, all); err != nil {
			t.Fatal(err)
		}
		if read += len(page); len(page) > all/2 || len(page) == 0 {
			t.Fatalf("a page of %d URLs of 16 KiB", len(page))
		}
		after = page[len(page)-1].QueueKey()
	}
	if read != all {
		t.Errorf("%d URLs of %d", read, all)
	}
}

func urlsOf(t *testing.T, s *store.Store) (n int) {
	t.Helper()
	for _, err := range s.URLs(0, "") {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestSnapshot: a snapshot holds what was committed when it was made, whatever the store does
// later, and goes when nobody has it open any longer.
func TestSnapshot(t *testing.T) {
	dir := t.TempDir()
	s, err := store.Open(dir, store.Options{Buffer: 1 << 16}) // so small that there are tables
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		done(t, s, 20*i, 20*(i+1))
	}
	name, remove, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		done(t, s, 200+100*i, 300+100*i)
	}
	look := func(name string) *store.Store {
		t.Helper()
		l, err := store.Open(filepath.Join(dir, name), store.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	looks := func() []string {
		all, _ := filepath.Glob(filepath.Join(dir, "state/looks/*"))
		return all
	}
	l := look(name)
	if n := urlsOf(t, l); n != 200 {
		t.Errorf("%d URLs, expected 200", n)
	}
	if remove(); len(looks()) != 1 {
		t.Error("an open snapshot was removed")
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if remove(); len(looks()) != 0 {
		t.Errorf("left: %q", looks())
	}

	kept, _, err := s.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Snapshot(); err != nil {
		t.Fatal(err)
	}
	l = look(kept)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, err = store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if left := looks(); !slices.Equal(left, []string{filepath.Join(dir, kept)}) {
		t.Errorf("the next run left %q, expected the one that is open", left)
	}
	if n := urlsOf(t, l); n != 1200 {
		t.Errorf("%d URLs, expected 1200", n)
	}
	if err := errors.Join(l.Close(), s.Close()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, kept)); err != nil {
		t.Error(err)
	}
}

// TestSnapshotFails: a snapshot that cannot be written is an error of its own; the store goes on.
func TestSnapshotFails(t *testing.T) {
	for _, failure := range []error{syscall.ENOSPC, syscall.EIO} {
		fsys := storetest.New()
		s := open(t, store.Options{FS: fsys})
		done(t, s, 0, 1)
		fsys.Before(func(_ storetest.Op, path string) error {
			if filepath.Base(filepath.Dir(filepath.Dir(path))) == "1" {
				return failure
			}
			return nil
		})
		if _, _, err := s.Snapshot(); !errors.Is(err, failure) {
			t.Errorf("%v, expected %v", err, failure)
		}
		fsys.Before(nil)
		done(t, s, 1, 2)
		if n := urlsOf(t, s); n != 2 {
			t.Errorf("%d URLs, expected 2", n)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
