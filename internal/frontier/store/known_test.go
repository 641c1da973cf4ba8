package store_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/weburl"
)

// TestKnown checks that Known distinguishes committed URLs, in any state, from others, whether
// Pebble has written them to tables or not, on disk and in memory.
func TestKnown(t *testing.T) {
	url := func(n int) weburl.URL {
		u, err := weburl.Parse(fmt.Sprintf("http://h%d.test/%d", n%7, n))
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	for _, memory := range []bool{false, true} {
		t.Run(fmt.Sprintf("in memory %t", memory), func(t *testing.T) {
			disk := storetest.New()
			s, err := store.Open("/job", store.Options{FS: disk, Memory: memory, Buffer: 32 << 10})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			const n = 3000 // several times Buffer
			known := func(last int) {
				t.Helper()
				want := make(map[[16]byte]bool)
				var fps [][16]byte
				for i := range n {
					fp := url(i).Fingerprint()
					fps = append(fps, fp)
					want[fp] = i%2 == 0 && i < last
				}
				slices.SortFunc(fps, func(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) })
				got, err := s.Known(fps)
				if err != nil || len(got) != n {
					t.Fatalf("%d answers, %v", len(got), err)
				}
				for i, fp := range fps {
					if got[i] != want[fp] {
						t.Fatalf("after %d: %x is known: %t", last, fp, got[i])
					}
				}
			}
			known(0)
			for i := 0; i < n; i += 500 {
				g := s.Begin()
				for k := i; k < i+500; k += 2 {
					u := frontier.URL{URL: url(k), Seq: uint64(k + 1)}
					switch g.Pending(u); k % 6 {
					case 2:
						g.Done(u)
					case 4:
						g.Dropped(frontier.URL{URL: url(k), Seq: uint64(k + 1)}, frontier.DropHost)
					}
				}
				if err := s.Commit(g); err != nil {
					t.Fatal(err)
				}
				known(i + 500)
			}
			if got, err := s.Known(nil); err != nil || len(got) != 0 {
				t.Errorf("no fingerprints: %v, %v", got, err)
			}
			s.Close()
			if _, err := s.Known(make([][16]byte, 1)); err == nil {
				t.Error("Known of a closed store returns no error")
			}
		})
	}
}
