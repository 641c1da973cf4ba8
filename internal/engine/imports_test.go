package engine

import (
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/shard/changelog"
	"github.com/weftcrawl/weft/weburl"
)

// TestImports: of two partitions that are imported at once, one fails and is dropped. Nothing of it
// is left when the other is on the disk.
func TestImports(t *testing.T) {
	t.Parallel()
	s, err := store.Open("/job", store.Options{FS: storetest.New(), Partition: func(host string) int { return int(host[0] - '0') }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	block := func(url string) []byte {
		u, err := weburl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		e := changelog.NewEncoder(time.Time{}, time.Now())
		e.Origin(frontier.OriginState{Name: u.Origin(), Pending: 1})
		e.Pending(frontier.URL{URL: u})
		return e.Block()
	}
	unread := errors.New("unread")
	blocks := func(url string, after func() error) iter.Seq2[[]byte, error] {
		return func(yield func([]byte, error) bool) {
			if !yield(block(url), nil) {
				return
			}
			if err := after(); err != nil {
				yield(nil, err)
			}
		}
	}
	i := imports{store: s}
	if err := i.all(1, time.Now(), blocks("http://1.test/", func() error {
		if err := i.all(2, time.Now(), blocks("http://2.test/", func() error { return unread })); !errors.Is(err, unread) {
			t.Errorf("%v, expected %v", err, unread)
		}
		return s.Drop(t.Context(), 2, func([][16]byte) error { return nil })
	})); err != nil {
		t.Fatal(err)
	}
	states, err := s.Partitions()
	if err != nil || len(states) != 1 || states[1].State != store.Importing {
		t.Errorf("states %v, %v; expected that of partition 1", states, err)
	}
	for p, want := range map[int]int{1: 1, 2: 0} {
		found := 0
		if err := s.Settle(p, func(_ []frontier.OriginState, seen [][16]byte) error {
			found += len(seen)
			return nil
		}); err != nil || found != want {
			t.Errorf("partition %d has %d URLs, %v; expected %d", p, found, err, want)
		}
	}
}
