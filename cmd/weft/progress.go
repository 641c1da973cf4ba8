package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/frontier"
)

// smoothed is the time over which rates are taken.
const smoothed = 5 * time.Second

// sample is the crawl at a moment.
type sample struct {
	weft.Stats
	at                          time.Time
	urlRate, pageRate, byteRate float64       // a second
	left                        time.Duration // to finish what is known by now, at that rate; 0: it can't be said
}

// meter takes samples. Owner: one goroutine.
type meter struct {
	past []weft.Stats // the oldest first: one from before the time that counts, and those within it
}

func (m *meter) sample(now weft.Stats) sample {
	m.past = append(m.past, now)
	for len(m.past) > 2 && now.Elapsed-m.past[1].Elapsed >= smoothed {
		m.past = m.past[1:]
	}
	s := sample{Stats: now, at: time.Now()}
	then := m.past[0]
	if secs := (now.Elapsed - then.Elapsed).Seconds(); secs > 0 {
		s.urlRate = float64(now.Recorded()-then.Recorded()) / secs
		s.pageRate = float64(now.Pages-then.Pages) / secs
		s.byteRate = float64(now.Bytes-then.Bytes) / secs
	}
	if s.urlRate > 0 {
		// A rate of a few a day leaves longer than a Duration can say.
		s.left = time.Duration(min(math.Ceil(float64(now.Pending+now.InFlight)/s.urlRate), 1e9) * float64(time.Second))
	}
	return s
}

// String is a line that tells of it.
func (s sample) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s/s), %s (%s/s), %s/s, %s, %s waiting, %s in flight", clock(s.Elapsed), plural(s.Recorded(), "URL"), perSecond(s.urlRate),
		plural(s.Pages, "page"), perSecond(s.pageRate), volume(int64(s.byteRate)), plural(s.Failed+s.Refused, "error"), count(s.Pending), count(s.InFlight))
	if len(s.Paused) > 0 {
		fmt.Fprintf(&b, ", paused: %s", printable(strings.Join(s.Paused, ", ")))
	} else if s.left > 0 {
		fmt.Fprintf(&b, ", at least %s left", clock(s.left))
	}
	slow, held := s.hosts()
	if len(slow) > 0 {
		fmt.Fprintf(&b, "; slowest %s %s", printable(slow[0].Host), seconds(slow[0].Took.Seconds()))
	}
	for _, h := range held {
		fmt.Fprintf(&b, "; %s %s", printable(h.Host), waits(s.held(h)))
	}
	return b.String()
}

// held is how long a host is still let alone, because it asked for it or was
// overloaded; 0 if it is not.
func (s sample) held(h frontier.HostStat) time.Duration { return max(0, h.BackOff.Sub(s.at)) }

// hosts are those under way that have answered, the slowest first, and those that are
// held, the longest first.
func (s sample) hosts() (slow, held []frontier.HostStat) {
	for _, h := range s.Slowest {
		switch {
		case s.held(h) > 0:
			held = append(held, h)
		case h.Took > 0:
			slow = append(slow, h)
		}
	}
	slices.SortStableFunc(slow, func(a, b frontier.HostStat) int { return cmp.Compare(b.Took, a.Took) })
	return slow, held
}

func waits(held time.Duration) string { return "waits " + clock(roundUp(held)) }

// roundUp goes to the next second: no wait is over before it is.
func roundUp(d time.Duration) time.Duration { return d + time.Second - 1 }

// count is 1,234.
func count(n int) string { return humanize.Comma(int64(n)) }

// volume is 83 MB.
func volume(n int64) string { return humanize.Bytes(uint64(max(n, 0))) }

// perSecond is 0.4, 7.3 or 1,234.
func perSecond(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.1f", n)
	}
	return count(int(n))
}

// seconds is 3 ms or 1.25 s.
func seconds(s float64) string {
	switch {
	case s < 1:
		return fmt.Sprintf("%.0f ms", s*1000)
	case s < 100:
		return fmt.Sprintf("%.2f s", s)
	}
	return fmt.Sprintf("%.0f s", s)
}

// clock is 42s, 7m05s or 26h00m.
func clock(d time.Duration) string {
	s := int(d.Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	}
	return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
}
