package variants

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestError checks that the error of the counts keeps to its bound, and that no path is counted too
// low, among a million URLs of 100,000 paths, a few of which have most of the URLs.
func TestError(t *testing.T) {
	const paths, urls = 100_000, 1_000_000
	var c Counter
	truth := make([]int, paths)
	key := func(path int) (key [16]byte) {
		rng := rand.NewPCG(uint64(path), 1)
		binary.LittleEndian.PutUint64(key[:], rng.Uint64())
		binary.LittleEndian.PutUint64(key[8:], rng.Uint64())
		return key
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range urls {
		u := rng.Float64()
		path := int(u * u * u * paths)
		truth[path]++
		c.Add(key(path), urls)
	}
	beyond, most := 0, 0
	for path, want := range truth {
		got := c.Add(key(path), 1<<30) - 1
		if got < want {
			t.Fatalf("path %d: %d counted, and there were %d", path, got, want)
		}
		most = max(most, got-want)
		if float64(got-want) > 2.72*urls/columns {
			beyond++
		}
	}
	t.Logf("at most %d too many; %d of %d paths beyond N·e/2¹⁸", most, beyond, paths)
	if beyond > paths/50 {
		t.Errorf("%d of %d paths are counted too high by more than N·e/2¹⁸", beyond, paths)
	}
}
