package store_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/weburl"
)

// TestAgain: a URL that is asked again is pending on the disk, and only that, whether it ended in
// the same batch or before; then it is done once.
func TestAgain(t *testing.T) {
	for _, batches := range []int{1, 2} {
		disk := storetest.New()
		s, err := store.Open("/job", store.Options{FS: disk})
		if err != nil {
			t.Fatal(err)
		}
		to, err := weburl.Parse("http://a.test/")
		if err != nil {
			t.Fatal(err)
		}
		u := frontier.URL{URL: to, Seq: 1, Past: []frontier.Try{{Status: 302, Reason: "http://a.test/gate"}}}
		states := func(want store.State, entries [2]int) {
			t.Helper()
			e, found, err := s.Find(to)
			if err != nil || !found || e.State != want || len(e.URL.Past) != 1 {
				t.Errorf("in %d batches: %v, %t, %v, expected %v", batches, e, found, err, want)
			}
			for i, state := range []store.State{store.Pending, store.Done} {
				n := 0
				for _, err := range s.URLs(state, "") {
					if n++; err != nil {
						t.Fatal(err)
					}
				}
				if n != entries[i] {
					t.Errorf("in %d batches: %d URLs are %v, expected %d", batches, n, state, entries[i])
				}
			}
		}
		commit := func(b *store.Batch) *store.Batch {
			t.Helper()
			if err := s.Commit(b); err != nil {
				t.Fatal(err)
			}
			return s.Begin()
		}
		b := s.Begin()
		b.Pending(u)
		b.Done(u)
		if batches > 1 {
			b = commit(b)
			states(store.Done, [2]int{0, 1})
		}
		u.Tries++
		b.Pending(u)
		b = commit(b)
		states(store.Pending, [2]int{1, 0})
		b.Done(u)
		commit(b)
		states(store.Done, [2]int{0, 1})
		s.Close()
	}
}
