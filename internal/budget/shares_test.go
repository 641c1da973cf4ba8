package budget_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/weftcrawl/weft/internal/budget"
)

// TestShares: the shares of all loops leave the third of a budget that requests, code and garbage
// need, and what serves a crawl no better beyond a size does not grow beyond it.
func TestShares(t *testing.T) {
	const most = math.MaxInt / 4
	bounds := map[string]int{"Cookies": 16 << 20, "Again": 16 << 20, "Batch": 16 << 20, "Buffer": 64 << 20}
	perLoop := map[string]bool{"Kept": true, "Idle": true, "Sessions": true, "Names": true, "Recent": true}
	for _, memory := range []int{budget.Least, budget.Default, 1 << 30, most} {
		for _, loops := range []int{1, 2, 16} {
			shares := reflect.ValueOf(budget.Split(memory, loops))
			sum := 0
			for i := range shares.NumField() {
				name, n := shares.Type().Field(i).Name, int(shares.Field(i).Int())
				if n <= 0 {
					t.Errorf("%d bytes, %d loops: nothing for %s", memory, loops, name)
				}
				if most, bounded := bounds[name]; bounded && n > most {
					t.Errorf("%d bytes: %d for %s, expected at most %d", memory, n, name, most)
				}
				switch {
				case perLoop[name]:
					n *= loops
				case name == "Batch", name == "Buffer":
					n *= 2 // one of each is being written
				case name == "Seen":
					n = 0
				}
				sum += n
			}
			if sum > memory/100*66 {
				t.Errorf("%d bytes, %d loops: shares of %d", memory, loops, sum)
			}
		}
	}
	if small, large := budget.Split(budget.Default, 1), budget.Split(2*budget.Default, 1); large.Seen <= 2*small.Seen {
		t.Errorf("the seen set has %d bytes of 512 MiB, %d of 1 GiB: expected more than twice as much", small.Seen, large.Seen)
	}
}
