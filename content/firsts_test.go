package content

import "testing"

// TestFirsts: a row is found where it stands first, and no page makes that take long.
func TestFirsts(t *testing.T) {
	const rows = 2 * mostProbes
	f := newFirsts(rows)
	place := func(i int) uint64 { return uint64(i)<<32 | 1 } // the same of all
	for i := range rows {
		if got := f.add(row{hash: place(i), element: int32(i)}); got != int32(i) {
			t.Fatalf("row %d stands first in element %d", i, got)
		}
	}
	if got := f.add(row{hash: place(7), element: rows}); got != 7 {
		t.Errorf("row 7 stands first in element %d", got)
	}
	if got := f.add(row{hash: place(rows - 1), element: rows}); got != rows {
		t.Errorf("the last row was looked for until element %d", got)
	}
}
