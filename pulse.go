package weft

import "time"

// pulse is how much a crawl has done in its last seconds. Owner: the desk.
type pulse struct {
	slots [pulseOver + 1]beat // by second, modulo their number
	first int64               // second of the first beat; 0: there was none
}

// beat is one second of it.
type beat struct {
	second int64 // since 1970
	urls   int
	bytes  int64
}

// pulseOver is the seconds that count, beside the one that is under way.
const pulseOver = 5

func (p *pulse) count(now time.Time, bytes int64) {
	second := now.Unix()
	b := &p.slots[second%int64(len(p.slots))]
	if b.second != second {
		*b = beat{second: second}
	}
	b.urls++
	b.bytes += bytes
	if p.first == 0 {
		p.first = second
	}
}

// rate returns URLs and bytes a second.
func (p *pulse) rate(now time.Time) (urls, bytes float64) {
	from := max(p.first, now.Unix()-pulseOver)
	for _, b := range p.slots {
		if b.second >= from {
			urls += float64(b.urls)
			bytes += float64(b.bytes)
		}
	}
	over := max(1, now.Sub(time.Unix(from, 0)).Seconds())
	return urls / over, bytes / over
}
