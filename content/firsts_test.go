package content

import "testing"

// TestFirsts: a shingle is found where it stands first, and no page makes that take long.
func TestFirsts(t *testing.T) {
	const shingles = 2 * mostProbes
	f := newFirsts(shingles)
	place := func(i int) uint64 { return uint64(i)<<32 | 1 } // the same of all
	for i := range shingles {
		if got := f.add(shingle{hash: place(i), element: int32(i)}); got != int32(i) {
			t.Fatalf("shingle %d stands first in element %d", i, got)
		}
	}
	if got := f.add(shingle{hash: place(7), element: shingles}); got != 7 {
		t.Errorf("shingle 7 stands first in element %d", got)
	}
	if got := f.add(shingle{hash: place(shingles - 1), element: shingles}); got != shingles {
		t.Errorf("the last shingle was looked for until element %d", got)
	}
}
