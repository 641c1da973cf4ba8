package frontier

import "time"

// Longest returns the origin in memory whose pending URLs take longest, by its delay, its response
// time and its concurrency, and how long; 0: unknown. Like Slowest it looks at some of the origins
// if there are many.
func (v View) Longest() (name string, longest time.Duration) {
	for o := range v.looked {
		if left := time.Duration(o.pending+o.leased) * v.interval(o); left > longest {
			name, longest = o.name, left
		}
	}
	return name, longest
}
