package main

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// plural is "1 URL" or "1,234 URLs".
func plural(n int, noun string) string { return english.Plural(n, noun, "") }

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

// fromSeconds is a Duration of s seconds, 32 years at most: a slow crawl has more left than
// a Duration holds.
func fromSeconds(s float64) time.Duration {
	return time.Duration(min(s, 1e9) * float64(time.Second))
}

// roundUp rounds up to whole seconds, so that no wait is shown as over before it is.
func roundUp(d time.Duration) time.Duration { return d + time.Second - 1 }

// moment is a time of fixed width; blank for the zero time.
func moment(t time.Time) string {
	if t.IsZero() {
		return fmt.Sprintf("%19s", "")
	}
	return t.Local().Format(time.DateTime)
}
