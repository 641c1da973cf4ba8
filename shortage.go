package weft

import (
	"time"

	"github.com/weftcrawl/weft/weburl"
)

const (
	// maxPostponed is how long a URL is postponed before that this machine is short of
	// something for it becomes its error: else a shortage that does not pass, such as of
	// descriptors that another process holds, would keep the crawl from ending.
	maxPostponed = time.Minute

	// maxShort bounds how many URLs that is measured of. Others are postponed meanwhile.
	maxShort = 10_000
)

// shortage is since when URLs are postponed, because this machine is short of something
// for them.
type shortage struct {
	since map[weburl.URL]time.Time
}

// postpones says whether a URL is to be postponed once more, whose try has just ended,
// short of something or not.
func (s *shortage) postpones(now time.Time, u weburl.URL, short bool) bool {
	since, known := s.since[u]
	switch {
	case !short || known && now.Sub(since) >= maxPostponed:
		delete(s.since, u)
		return false
	case !known && len(s.since) < maxShort:
		if s.since == nil {
			s.since = make(map[weburl.URL]time.Time)
		}
		s.since[u] = now
	}
	return true
}
