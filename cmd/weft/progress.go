package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/frontier"
)

// smoothed is the time that rates are averaged over.
const smoothed = 5 * time.Second

// mostOfURL is the length of a URL in a line of progress, in cells.
const mostOfURL = 200

// sample is the crawl at a moment.
type sample struct {
	stats                       weft.Stats
	at                          time.Time
	urlRate, pageRate, byteRate float64 // a second
}

// meter takes samples. Owner: one goroutine.
type meter struct {
	past []weft.Stats // oldest first: one from before the averaged time, and those within it
}

func (m *meter) sample(now weft.Stats) sample {
	m.past = append(m.past, now)
	for len(m.past) > 2 && now.Elapsed-m.past[1].Elapsed >= smoothed {
		m.past = m.past[1:]
	}
	s := sample{stats: now, at: time.Now()}
	then := m.past[0]
	if secs := (now.Elapsed - then.Elapsed).Seconds(); secs > 0 {
		s.urlRate = float64(now.Recorded()-then.Recorded()) / secs
		s.pageRate = float64(now.Pages-then.Pages) / secs
		s.byteRate = float64(now.Bytes-then.Bytes) / secs
	}
	return s
}

// String is a line of progress.
func (s sample) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (%s/s), %s (%s/s), %s/s, %s, %s waiting, %s in flight", clock(s.stats.Elapsed),
		plural(s.stats.Recorded(), "URL"), perSecond(s.urlRate), plural(s.stats.Pages, "page"), perSecond(s.pageRate),
		volume(int64(s.byteRate)), strings.Join(s.notes(), ", "), count(s.stats.Pending), count(s.stats.InFlight))
	if s.stats.Ending {
		fmt.Fprintf(&b, ", %s", s.ends())
	} else if len(s.stats.Paused) > 0 {
		fmt.Fprintf(&b, ", paused: %s", printable(strings.Join(s.stats.Paused, ", ")))
	} else if left := inWords(s.stats.Estimate); left != "" {
		fmt.Fprintf(&b, ", %s", left)
	}
	slow, held := s.hosts()
	if len(slow) > 0 {
		fmt.Fprintf(&b, "; slowest %s %s", printable(slow[0].Origin), seconds(slow[0].Took.Seconds()))
	}
	if len(s.stats.Longest) > 0 {
		f := s.stats.Longest[0]
		fmt.Fprintf(&b, "; longest in flight %s %s, try %d", ansi.Truncate(printable(f.URL), mostOfURL, "…"), clock(f.For), f.Try)
	}
	for _, h := range held {
		fmt.Fprintf(&b, "; %s %s: %s", printable(h.Origin), waits(s.held(h)), printable(h.Why))
	}
	return b.String()
}

// ends says how long the end of the crawl may take, or what it waits for.
func (s sample) ends() string {
	switch {
	case s.stats.InFlight == 0 && len(s.stats.Paused) > 0:
		return "ending, paused: " + printable(strings.Join(s.stats.Paused, ", "))
	case s.stats.InFlight == 0:
		return "ending"
	}
	return fmt.Sprintf("ending: at most %s for what is in flight", clock(roundUp(s.stats.EndsIn)))
}

// notes counts errors and, if there are any, URLs beyond the scope, responses with an error status
// and traps.
func (s sample) notes() []string {
	all := []string{plural(s.stats.Failed+s.stats.Refused, "error")}
	if also := beyond(s.stats.Counters); also != "" {
		all = append(all, also)
	}
	if s.stats.Status4xx > 0 {
		all = append(all, "4xx: "+count(s.stats.Status4xx))
	}
	if s.stats.Status5xx > 0 {
		all = append(all, "5xx: "+count(s.stats.Status5xx))
	}
	if n := len(s.stats.Traps) + s.stats.MoreTraps; n > 0 {
		all = append(all, plural(n, "trap"))
	}
	return all
}

// held returns the time for which a host still backs off; 0 if it does not.
func (s sample) held(h frontier.OriginStat) time.Duration { return max(0, h.BackOff.Sub(s.at)) }

// hosts returns the active hosts that have responded, the slowest first, and the hosts that back
// off, the longest back-off first.
func (s sample) hosts() (slow, held []frontier.OriginStat) {
	for _, h := range s.stats.Slowest {
		switch {
		case s.held(h) > 0:
			held = append(held, h)
		case h.Took > 0:
			slow = append(slow, h)
		}
	}
	slices.SortStableFunc(slow, func(a, b frontier.OriginStat) int {
		return cmp.Compare(b.Took, a.Took)
	})
	return slow, held
}

func waits(held time.Duration) string { return "waits " + clock(roundUp(held)) }
