package results

import (
	"bytes"
	"encoding/json"
	"math"
	"time"
)

// Rate is the speed of a crawl around a moment.
type Rate struct {
	At             time.Time `json:"at"`
	URLsPerSecond  float64   `json:"urls_per_second"`
	BytesPerSecond float64   `json:"bytes_per_second"`
}

// Speed returns the speed of a job's last visit over time, at equal distances of a second or more,
// at most so many. It is estimated from a few records at as many places of the file, whatever the
// size of the job.
func Speed(dir string, most int) ([]Rate, error) {
	f, err := openFile(dir, Pages)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	marks, err := f.marks(most)
	if err != nil || len(marks) == 0 {
		return nil, err
	}
	last := marks[len(marks)-1].at
	step := max(time.Second, last.Sub(marks[0].at)/time.Duration(most)+1)
	var rates []Rate
	before, i := marks[0], 1
	for at := before.at; at.Before(last); {
		at = at.Add(step)
		for i < len(marks)-1 && marks[i].at.Before(at) {
			i++
		}
		now := between(marks[i-1], marks[i], at)
		rates = append(rates, Rate{at, (now.urls - before.urls) / step.Seconds(), (now.bytes - before.bytes) / step.Seconds()})
		before = now
	}
	return rates, nil
}

// mark is a moment of a visit, with what it had by then.
type mark struct {
	at          time.Time
	urls, bytes float64
}

// between returns the mark at a moment between two, or the second if that is earlier.
func between(a, b mark, at time.Time) mark {
	share := 1.0
	if d := b.at.Sub(a.at); d > 0 {
		share = min(1, at.Sub(a.at).Seconds()/d.Seconds())
	}
	return mark{at, a.urls + share*(b.urls-a.urls), a.bytes + share*(b.bytes-a.bytes)}
}

const (
	sampleBytes = 16 << 10 // read at each place
	sampleLines = 4        // of these; at the end of the file all
)

// marks returns marks of the last visit, in order.
func (f *file) marks(most int) (marks []mark, err error) {
	visit, end := 0, int64(0) // of the last sample
	for i := range most + 1 {
		at, lines := max(end, f.size*int64(i)/int64(most)), sampleLines
		if i == most {
			at, lines = max(end, f.size-sampleBytes), math.MaxInt
		}
		if at > 0 {
			at-- // so that a line that begins there is whole
		}
		text, from, err := f.window(at, sampleBytes)
		if err != nil {
			return nil, err
		}
		s, err := sampled(text, lines)
		if err != nil {
			return nil, err
		}
		if s.n == 0 {
			continue
		}
		from += int64(s.skipped)
		if s.visit != visit || len(marks) == 0 {
			visit, end, marks = s.visit, from, []mark{{at: s.began}}
		}
		now := marks[len(marks)-1]
		n := 1 + float64(from-end)/float64(s.size) // such samples since the last one, as lines are alike
		now.urls += n * float64(s.n)
		now.bytes += n * float64(s.bytes)
		if s.ended.After(now.at) {
			now.at = s.ended
		}
		marks, end = append(marks, now), from+int64(s.size)
	}
	return marks, nil
}

// sample is some records in a row, of one visit.
type sample struct {
	skipped      int // bytes of those of another visit before
	n, size      int // lines, and their bytes
	visit        int
	bytes        int64
	began, ended time.Time
}

// sampled returns a sample of the first lines.
func sampled(text []byte, most int) (s sample, err error) {
	for line := range bytes.Lines(text) {
		var r struct {
			Started time.Time `json:"started"`
			TotalMS float64   `json:"total_ms"`
			Bytes   int64     `json:"bytes"`
			Visit   int       `json:"visit"`
		}
		if s.n == most {
			break
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return s, err
		}
		if s.n == 0 || r.Visit != s.visit { // what is before belongs to another
			s = sample{visit: r.Visit, began: r.Started, skipped: s.skipped + s.size}
		}
		if ended := r.Started.Add(time.Duration(r.TotalMS * float64(time.Millisecond))); ended.After(s.ended) {
			s.ended = ended
		}
		s.n, s.size, s.bytes = s.n+1, s.size+len(line), s.bytes+r.Bytes
	}
	return s, nil
}
