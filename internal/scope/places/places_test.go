package places_test

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/internal/scope/places"
)

// TestSet checks that a set has what was added and nothing else, and what it takes.
func TestSet(t *testing.T) {
	const n = 100_000
	s := places.New()
	for i := range n {
		if !s.Add(fmt.Sprint("host", i)) || s.Add(fmt.Sprint("host", i)) {
			t.Fatalf("host%d is not new, or new again", i)
		}
	}
	for i := range 2 * n {
		if has := s.Has(fmt.Sprint("host", i)); has != (i < n) {
			t.Fatalf("host%d: %v", i, has)
		}
	}
	if s.Bytes() > 16*n {
		t.Errorf("%d places take %d bytes", n, s.Bytes())
	}
}

// TestReaders checks that others find what was added before they were asked, while the set grows.
func TestReaders(t *testing.T) {
	const n = 20_000
	s, added := places.New(), make(chan string, 100)
	missing := make(chan int)
	for range 3 {
		go func() {
			count := 0
			for place := range added {
				if !s.Has(place) {
					count++
				}
			}
			missing <- count
		}()
	}
	for i := range n {
		place := fmt.Sprint("host", i)
		s.Add(place)
		added <- place
	}
	close(added)
	for range 3 {
		if count := <-missing; count > 0 {
			t.Errorf("%d of %d places were missing", count, n)
		}
	}
}

func BenchmarkHas(b *testing.B) {
	s := places.New()
	for i := range 100_000 {
		s.Add(fmt.Sprint("host", i))
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Has("host4711")
	}
}
