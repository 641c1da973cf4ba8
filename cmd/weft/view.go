package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/dustin/go-humanize/english"
)

// view is how a sample is drawn on a terminal.
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
	mostHosts  = 3  // of the slowest hosts, beside those that are held
	narrow     = 60 // cells, below which less is told of a host
	longestBar = 60 // cells
)

// lines are at most as many and as wide as fit.
func (v view) lines(s sample) []string {
	lines := v.bar(s)
	lines = append(lines, v.flow(
		v.style(strong, count(s.Done))+" "+english.PluralWord(s.Done, "URL", ""),
		v.style(strong, perSecond(s.urlRate))+"/s",
		v.style(strong, volume(int64(s.byteRate)))+"/s",
		count(s.Pending)+" waiting",
		count(s.InFlight)+" in flight",
		plural(s.Errors, "error"),
		plural(s.Pages, "page"),
		plural(s.Redirects, "redirect"),
		plural(s.Hosts, "host"),
		volume(s.Bytes),
	)...)
	lines = append(lines, v.hosts(s)...)
	lines = lines[:min(len(lines), v.height)]
	for i, l := range lines {
		lines[i] = ansi.Truncate(l, v.width, "…")
	}
	return lines
}

// hosts tells of the slowest, and of those that are held.
func (v view) hosts(s sample) []string {
	var lines []string
	title := "slowest"
	for i, h := range s.Slowest {
		held := s.held(h)
		if i >= mostHosts && held == 0 {
			continue
		}
		took, wait := "-", ""
		if h.Took > 0 {
			took = seconds(h.Took.Seconds())
		}
		if held > 0 {
			wait = v.style(strong, waits(held)) + "  "
		}
		line := fmt.Sprintf("%-7s %8s  ", title, took) + wait +
			v.style(faint, fmt.Sprintf("%s in flight, %s waiting  ", count(h.Leased), count(h.Pending)))
		if v.width < narrow {
			line = cmp.Or(wait, fmt.Sprintf("%8s  ", took))
		}
		lines = append(lines, line+printable(h.Host))
		title = ""
	}
	return lines
}

// bar is the time, and how much of what is known by now is done.
func (v view) bar(s sample) []string {
	elapsed, left := clock(s.Elapsed), "time left unknown"
	if len(s.Paused) > 0 {
		left = v.style(strong, "paused: "+printable(strings.Join(s.Paused, ", ")))
	} else if s.left > 0 {
		left = "at least " + clock(s.left) + " left"
	}
	cells := min(v.width-len(elapsed)-len(" ")-len("  ")-ansi.StringWidth(left), longestBar)
	if cells < 10 {
		return v.flow(elapsed, left)
	}
	done := 0
	if all := s.Done + s.Pending + s.InFlight; all > 0 {
		done = s.Done * cells / all
	}
	return []string{elapsed + " " + v.style(green, strings.Repeat("━", done)) + v.style(faint, strings.Repeat("─", cells-done)) + "  " + left}
}

// flow puts parts on as few lines as they need.
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
