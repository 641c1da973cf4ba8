package render

import "testing"

// TestExcessOfMemory: whatever the number of tabs, what has most is ended beyond the limit.
func TestExcessOfMemory(t *testing.T) {
	for _, c := range []struct {
		sum, outside, largest int64
		want                  error
	}{
		{1000, 900, 100, nil},
		{1001, 100, 900, errMemory},
		{1001, 700, 300, errMemory},
		{1001, 700, 200, errOutside},
		{1001, 200, 50, errMemory},  // sixteen tabs
		{1001, 450, 50, errOutside}, // it is none of the eleven
		{1001, 1001, 0, errOutside},
	} {
		if got := excess(1000, c.sum, c.outside, c.largest); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
