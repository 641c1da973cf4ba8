package engine

import "time"

// rateOver is the number of whole seconds over which a rate is measured, without the current one.
const rateOver = 5

// rate is the work of a crawl in its last seconds.
type rate struct {
	seconds [rateOver + 1]second // by time, modulo their number
	first   int64                // time of the first count; 0: there was none
}

// second is one second of it.
type second struct {
	unix  int64
	urls  int
	bytes int64
}

func (r *rate) count(now time.Time, urls int, bytes int64) {
	unix := now.Unix()
	s := &r.seconds[unix%int64(len(r.seconds))]
	if s.unix != unix {
		*s = second{unix: unix}
	}
	s.urls += urls
	s.bytes += bytes
	if r.first == 0 {
		r.first = unix
	}
}

// perSecond returns URLs and bytes per second.
func (r *rate) perSecond(now time.Time) (urls, bytes float64) {
	from := max(r.first, now.Unix()-rateOver)
	for _, s := range r.seconds {
		if s.unix >= from {
			urls += float64(s.urls)
			bytes += float64(s.bytes)
		}
	}
	over := max(1, now.Sub(time.Unix(from, 0)).Seconds())
	return urls / over, bytes / over
}
