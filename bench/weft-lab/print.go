package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/bench/measure"
)

// mostDisagreements is the most that a table lists.
const mostDisagreements = 20

// where identifies the machine of a measurement.
type where struct {
	CPU    string `json:"cpu"`
	CPUs   int    `json:"cpus"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

func here() where {
	return where{machine.CPU(), runtime.NumCPU(), machine.Kernel(), runtime.Version()}
}

func (m where) String() string {
	return printable(fmt.Sprintf("%s, %s, %s, %s", m.CPU, plural(m.CPUs, "CPU"), m.Kernel, m.Go))
}

// print writes a result to standard output, as JSON or as a table.
func print(asJSON bool, result any, table func(io.Writer)) error {
	out := bufio.NewWriter(os.Stdout)
	var err error
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		err = enc.Encode(result)
	} else {
		table(out)
	}
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("standard output: %w", fileReason(err))
	}
	return nil
}

func (r *waysRun) printCompared(found *measure.Compared) error {
	return print(r.json, struct {
		Machine where `json:"machine"`
		*measure.Compared
	}{here(), found}, func(out io.Writer) { r.writeCompared(out, found, here()) })
}

func (r *waysRun) writeCompared(out io.Writer, found *measure.Compared, m where) {
	const line = "%-12s %9s %9s %9s %8s %9s %9s\n"
	fmt.Fprintf(out, line, "WAY", "WALL", "CPU", "MEMORY", "THREADS", "SWITCHES", "FASTER")
	for _, w := range found.Ways {
		if w.Error != "" {
			fmt.Fprintf(out, "%-12s %s\n", w.Name, printable(w.Error))
			continue
		}
		faster := "-"
		if w.Faster != nil {
			faster = fmt.Sprintf("%.1f x", *w.Faster)
		}
		fmt.Fprintf(out, line, w.Name, brief(w.WallMS*1e6), brief(w.CPUMS*1e6), volume(w.Memory),
			count(w.Threads), count(int(w.Switches)), faster)
	}
	from := fmt.Sprintf("a server that waits %v, reads the request, waits %v and responds",
		r.connectDelay, r.responseDelay)
	if !r.url.IsZero() {
		from = printable(weft.WithoutSecrets(r.url.String()))
	}
	fmt.Fprintf(out, "\n%s from %s\n%s per way: medians; memory and threads are maxima\n%s\n",
		plural(found.Pages, "page"), from, plural(found.Rounds, "round"), m)
	for _, w := range found.Ways {
		if w.Bound != "" && w.AtOnce > 1 { // not of blocking, which is about one at a time
			fmt.Fprintf(out, "%s: %s at once: %s\n", w.Name, count(w.AtOnce), w.Bound)
		}
	}
	if found.Agree {
		fmt.Fprintln(out, "all ways fetched the same pages")
		return
	}
	fmt.Fprintln(out, "the ways DISAGREE on the pages:")
	for i, d := range found.Disagreements {
		if i == mostDisagreements {
			fmt.Fprintf(out, "  and %d more\n", len(found.Disagreements)-i)
			break
		}
		fmt.Fprintf(out, "  %s\n", printable(d))
	}
}

func (r *waysRun) printHeld(held []measure.Held) error {
	return print(r.json, struct {
		Machine     where          `json:"machine"`
		Connections int            `json:"connections"`
		Ways        []measure.Held `json:"ways"`
	}{here(), r.connections, held}, func(out io.Writer) { writeHeld(out, r.connections, held, here()) })
}

func writeHeld(out io.Writer, n int, held []measure.Held, m where) {
	const line = "%-12s %8s %9s %11s %9s %9s %8s  %s\n"
	fmt.Fprintf(out, line, "WAY", "HELD", "MEMORY", "MEMORY EACH", "CPU EACH", "CPU IDLE", "THREADS",
		"STOPPED BY")
	for _, h := range held {
		each, cpu, idle, stopped := "-", "-", "-", "-"
		if h.Held > 0 {
			each, cpu = volume(int64(h.PerConnection)), brief(h.CPUPer*1e3)
			idle = fmt.Sprintf("%.0f %%", h.Idle)
		}
		if h.Stopped != "" {
			stopped = printable(h.Stopped)
		}
		fmt.Fprintf(out, line, h.Name, count(h.Held), volume(h.Memory), each, cpu, idle,
			count(h.Threads), stopped)
	}
	fmt.Fprintf(out, "\n%s requested at once; memory is resident, of all processes of a way\n%s\n",
		plural(n, "connection"), m)
}

func (r *waysRun) drawCompared(found *measure.Compared) error {
	var bars []measure.Bar
	for _, w := range found.Ways {
		if w.Error == "" {
			bars = append(bars, measure.Bar{Name: w.Name, Value: w.WallMS, Label: brief(w.WallMS * 1e6)})
		}
	}
	subtitle := fmt.Sprintf("wall time, median of %s; less is better", plural(found.Rounds, "round"))
	return r.draw(plural(found.Pages, "page")+", fetched by each way", subtitle, bars)
}

func (r *waysRun) drawHeld(held []measure.Held) error {
	var bars []measure.Bar
	for _, h := range held {
		name := h.Name
		if h.Held < r.connections {
			name += ": " + count(h.Held)
		}
		if h.Held > 0 {
			bars = append(bars, measure.Bar{
				Name: name, Value: max(0, h.PerConnection), Label: volume(int64(h.PerConnection)),
			})
		}
	}
	return r.draw("Memory per connection, "+plural(r.connections, "connection")+" held at once",
		"growth of resident memory; a number after the name: it held only so many", bars)
}

// draw writes the chart, if one is wanted. Nothing touches the file before.
func (r *waysRun) draw(title, subtitle string, bars []measure.Bar) error {
	if r.chart == "" {
		return nil
	}
	svg, err := measure.Chart(title, subtitle, bars)
	if err == nil {
		err = os.WriteFile(r.chart, svg, 0o666)
	}
	if err != nil {
		return fmt.Errorf("--chart %.128q: %w", r.chart, fileReason(err))
	}
	return nil
}

// brief is a time in ns with two or three digits and its unit.
func brief(ns float64) string {
	for _, unit := range []struct {
		ns   float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}, {1, "ns"}} {
		if n := ns / unit.ns; n >= 1 || unit.ns == 1 {
			digits := 2
			switch {
			case n >= 100:
				digits = 0
			case n >= 10:
				digits = 1
			}
			return fmt.Sprintf("%.*f %s", digits, n, unit.name)
		}
	}
	return ""
}
