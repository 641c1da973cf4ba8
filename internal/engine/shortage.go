package engine

import (
	"time"

	"github.com/weftcrawl/weft/weburl"
)

const (
	// maxPostponed is the time for which a URL is postponed, while no other gets through either,
	// before a shortage of this machine becomes its error. A shortage that does not pass, such as of
	// descriptors that another process holds, would keep the crawl from ending.
	maxPostponed = time.Minute

	// maxShort bounds the URLs whose wait is measured. Others are postponed meanwhile.
	maxShort = 10_000
)

// shortage is since when URLs are postponed, because this machine lacks something for them.
type shortage struct {
	since map[weburl.URL]time.Time
	none  time.Time // when a URL last lacked nothing
}

// postpones reports whether to postpone a URL once more; short says whether its try ended for want
// of something.
func (s *shortage) postpones(now time.Time, u weburl.URL, short bool) bool {
	since, known := s.since[u]
	switch {
	case !short:
		s.none = now
		delete(s.since, u)
		return false
	case known && min(now.Sub(since), now.Sub(s.none)) >= maxPostponed:
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
