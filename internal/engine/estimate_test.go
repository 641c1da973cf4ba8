package engine

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestGrowth: a site grows whose pages lead to more, in whatever order its responses come: months
// of a calendar, each of which leads to 30 days and the next month, and topics, which lead to ten
// others. A site that ends does not.
func TestGrowth(t *testing.T) {
	const day, month, topic = 0, 31, 10 // links of a page
	for seed := range uint64(200) {
		order := rand.New(rand.NewPCG(seed, 0))
		inFlight := 1 + order.IntN(24)
		queue := []int{month, month, topic}
		var g growth
		for done := range 600 {
			if n := g.perURL(); done >= 300 && n < 1 {
				t.Fatalf("seed %d, %d in flight: %.2f new URLs a URL after %d", seed, inFlight, n, done)
			}
			first := order.IntN(min(inFlight, len(queue))) // of those in flight, to respond
			page := queue[first]
			queue = slices.Delete(queue, first, first+1)
			switch page {
			case month:
				queue = append(append(queue, make([]int, month-1)...), month) // days first
			case topic:
				queue = append(queue, slices.Repeat([]int{topic}, topic)...)
			}
			g.add(page)
		}
		for range 600 {
			g.add(day)
		}
		if n := g.perURL(); n > 0 {
			t.Fatalf("seed %d: %.2f new URLs a URL after 600 that led to none", seed, n)
		}
	}
}
