package frontier

import "time"

// Longest returns the origin in memory whose pending URLs take longest, by its delay, its response
// time and its concurrency, and how long; 0: unknown. Like Slowest it looks at some of the origins
// if there are many.
func (v View) Longest() (name string, longest time.Duration) {
	f := v.f
	for o := range f.looked {
		if left := time.Duration(o.pending+o.leased) * f.interval(o); left > longest {
			name, longest = o.name, left
		}
	}
	return name, longest
}

// interval returns how much time a URL of o takes on average, if nothing else does; 0: unknown.
func (f *Frontier) interval(o *origin) time.Duration {
	took := o.host.pace.took.duration()
	if delay := f.politeness.delay(o.host); delay > 0 {
		return delay + took
	}
	if pace := f.politeness.pace(o.host); pace < anyPace {
		return took / time.Duration(max(1, pace))
	}
	return 0
}
