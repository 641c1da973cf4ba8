//go:build linux

package main

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
)

// marks are Weft's figures beside the marks that it has to reach: the worst of all sites.
type marks struct {
	rendered, plain  float64 // ms of CPU time a page
	ratio, speed     float64 // CPU time of a page and pages a second, beside the best peer's
	first            time.Duration
	peak             int64
	drift            float64 // of PSS, between the second quarter of a run and the last one
	looks            int     // at PSS, of the longest run
	lost             int
	measured, failed bool
	slower           float64 // than the machine of the marks, which are of its time: 1 is as fast
}

func (m *marks) add(s site, rows []row) {
	i := slices.IndexFunc(rows, func(r row) bool { return r.tool.Name == "weft" })
	if i < 0 {
		return
	}
	r := rows[i]
	m.measured = true
	m.failed = m.failed || r.failed != nil
	m.lost = max(m.lost, r.Lost+r.Wrong)
	if !s.Rendered {
		m.plain = max(m.plain, perPage(r))
		return
	}
	m.rendered = max(m.rendered, perPage(r))
	if best := bestPeer(rows); best > 0 {
		m.ratio = max(m.ratio, perPage(r)/best)
	}
	if best := fastestPeer(rows); best > 0 {
		if speed := float64(r.Pages) / r.Took.Seconds() / best; m.speed == 0 || speed < m.speed {
			m.speed = speed
		}
	}
	m.first, m.peak, m.drift = max(m.first, r.First), max(m.peak, r.peak()), max(m.drift, drift(r.PSS))
	m.looks = max(m.looks, len(r.PSS))
}

// fastestPeer is the most pages a second of a peer that has lost none.
func fastestPeer(rows []row) (best float64) {
	for _, r := range rows {
		if r.tool.Peer && r.failed == nil && r.Lost == 0 {
			best = max(best, float64(r.Pages)/r.Took.Seconds())
		}
	}
	return best
}

// longRun is the least number of looks at memory, one every half second, for a figure of its
// growth.
const longRun = 60

// drift is the growth of memory, relative to before: the mean of the last quarter beside that of
// the second one.
func drift(pss []int64) float64 {
	n := len(pss)
	if n < longRun {
		return 0
	}
	before, after := mean(pss[n/4:n/2]), mean(pss[n-n/4:])
	if before == 0 {
		return 0
	}
	return after/before - 1
}

func mean(all []int64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += float64(v)
	}
	return sum / float64(len(all))
}

// write writes the marks, and whether they are reached.
func (m *marks) write(b *bytes.Buffer) {
	if !m.measured {
		return
	}
	says := "Of the headless shell: the worst of all sites."
	if m.slower != 1 {
		says += fmt.Sprintf(" The marks of time are of a machine that compiles the standard library's packages in %.0f s of CPU time. "+
			"This one takes %.2f times as long, by which times are divided here.", machine.MarkStandard.Seconds(), m.slower)
	}
	fmt.Fprintf(b, "\n## Marks\n\n%s\n\n| figure | mark | measured | |\n|---|---|---|---|\n", machine.Fill(says))
	line := func(name, mark, value string, reached bool) {
		says := "missed"
		if reached && !m.failed {
			says = "reached"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", name, mark, value, says)
	}
	line("CPU of a rendered page", "≤ 90 ms", fmt.Sprintf("%.0f ms", m.rendered/m.slower), m.rendered/m.slower <= 90)
	line("beside the best peer", "≤ 0.27 ×", fmt.Sprintf("%.2f ×", m.ratio), m.ratio <= 0.27)
	line("CPU of a page that needs none", "≤ 1 ms", fmt.Sprintf("%.1f ms", m.plain/m.slower), m.plain/m.slower <= 1)
	line("pages a second beside the fastest peer", "≥ 3 ×", fmt.Sprintf("%.1f ×", m.speed), m.speed >= 3)
	line("pages lost or wrong", "0", fmt.Sprint(m.lost), m.lost == 0)
	first := m.first.Seconds() / m.slower
	line("first page", "≤ 1 s", fmt.Sprintf("%.2f s", first), first <= 1)
	line("PSS of the browser", "≤ 400 MB", fmt.Sprintf("%d MB", m.peak>>20), m.peak <= 400<<20)
	if m.looks >= longRun {
		line("growth of its PSS", "± 10 %", fmt.Sprintf("%+.0f %%", 100*m.drift), m.drift <= 0.1)
	}
}
