package main

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize/english"
	"github.com/weftcrawl/weft/internal/frontier"
)

// view draws a sample for a terminal.
type view struct {
	width, height int // of the terminal, in cells; at least 1
	styled        bool
}

// Styles.
var (
	strong = ansi.Style{}.Bold()
	faint  = ansi.Style{}.Faint()
	green  = ansi.Style{}.ForegroundColor(ansi.Green)
)

const (
	mostHosts  = 3  // slowest hosts shown
	narrow     = 60 // cells; a narrower terminal shows less about a host
	longestBar = 60 // cells
)

// lines returns the lines that fit, cut to the width. The first is short: see screen.
func (v view) lines(s sample) []string {
	done := v.style(strong, count(s.stats.Recorded())) + " " + english.PluralWord(s.stats.Recorded(), "URL", "")
	lines := v.flow(clock(s.stats.Elapsed), done, v.style(strong, perSecond(s.urlRate))+"/s")
	lines = append(lines, v.bar(s)...)
	figures := []string{
		plural(s.stats.Pages, "page") + ", " + perSecond(s.pageRate) + "/s",
		volume(s.stats.Bytes) + ", " + volume(int64(s.byteRate)) + "/s",
		count(s.stats.Pending) + " waiting",
		count(s.stats.InFlight) + " in flight",
	}
	figures = append(figures, s.notes()...)
	figures = append(figures, plural(s.stats.Redirects, "redirect"), plural(s.stats.Hosts, "host"))
	if s.stats.Memory > 0 {
		figures = append(figures, volume(s.stats.Memory)+" memory")
	}
	lines = append(lines, v.flow(figures...)...)
	lines = append(lines, v.hosts(s)...)
	lines = lines[:min(len(lines), v.height)]
	for i, l := range lines {
		lines[i] = ansi.Truncate(l, v.width, "…")
	}
	return lines
}

// hosts shows the slowest hosts, what is in flight for longest, and the hosts that back off.
func (v view) hosts(s sample) []string {
	slow, held := s.hosts()
	var lines []string
	line := func(title, figure, alone, why string, h frontier.OriginStat) {
		if v.width < narrow {
			lines = append(lines, alone+"  "+printable(h.Origin))
			return
		}
		load := v.style(faint, fmt.Sprintf("%s, %s waiting", why, count(h.Pending)))
		lines = append(lines, fmt.Sprintf("%-7s %8s  ", title, figure)+load+"  "+printable(h.Origin))
	}
	title := "slowest"
	for _, h := range slow[:min(len(slow), mostHosts)] {
		took := seconds(h.Took.Seconds())
		line(title, took, took, count(h.Leased)+" in flight", h)
		title = ""
	}
	title = "longest"
	for _, f := range s.stats.Longest {
		if v.width < narrow {
			lines = append(lines, clock(f.For)+"  "+printable(f.URL))
			continue
		}
		lines = append(lines, fmt.Sprintf("%-7s %8s  ", title, clock(f.For))+v.style(faint, fmt.Sprintf("try %d", f.Try))+"  "+printable(f.URL))
		title = ""
	}
	title = "held"
	for _, h := range held {
		line(title, clock(roundUp(s.held(h))), waits(s.held(h)), printable(h.Why), h)
		title = ""
	}
	return lines
}

// bar shows the share of the known URLs that is done, and the time left.
func (v view) bar(s sample) []string {
	left := "time left unknown"
	if s.stats.Ending {
		left = v.style(strong, s.ends())
	} else if len(s.stats.Paused) > 0 {
		left = v.style(strong, "paused: "+printable(strings.Join(s.stats.Paused, ", ")))
	} else if words := inWords(s.stats.Estimate); words != "" {
		left = words
	}
	cells := min(v.width-len("  ")-ansi.StringWidth(left), longestBar)
	if cells < 10 {
		return []string{left}
	}
	done := 0
	if all := s.stats.Recorded() + s.stats.Pending + s.stats.InFlight; all > 0 {
		done = s.stats.Recorded() * cells / all
	}
	full, empty := strings.Repeat("━", done), strings.Repeat("─", cells-done)
	return []string{v.style(green, full) + v.style(faint, empty) + "  " + left}
}

// flow joins parts into as few lines as they need.
func (v view) flow(parts ...string) []string {
	lines := []string{parts[0]}
	for _, p := range parts[1:] {
		last := &lines[len(lines)-1]
		if longer := *last + "   " + p; ansi.StringWidth(longer) <= v.width {
			*last = longer
		} else {
			lines = append(lines, p)
		}
	}
	return lines
}

func (v view) style(s ansi.Style, text string) string {
	if !v.styled {
		return text
	}
	return s.Styled(text)
}
