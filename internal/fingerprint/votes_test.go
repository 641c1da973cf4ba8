package fingerprint

import (
	"math/rand/v2"
	"testing"
)

// TestMajority: counting all bits at once gives the same as counting one by one.
func TestMajority(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 300 {
		var v votes
		var counts [64]int
		for range n {
			h := random.Uint64() | random.Uint64()&random.Uint64()
			if n%3 == 0 {
				h &= random.Uint64()
			}
			v.add(h)
			for i := range counts {
				counts[i] += int(h >> i & 1)
			}
		}
		want := uint64(0)
		for i, c := range counts {
			if 2*c > n {
				want |= 1 << i
			}
		}
		if got := v.majority(); got != want {
			t.Fatalf("of %d hashes: %064b, expected %064b", n, got, want)
		}
	}
}
