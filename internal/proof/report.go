package proof

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/webtest"
)

// Failures says what a crawl has done wrong: nothing, or a line each. The time that it took is
// not among them: it depends on the machine.
func (r *Result) Failures() (wrong []string) {
	if !r.Records.Good() {
		wrong = append(wrong, fmt.Sprintf("records: %d twice, %d missing, %d wrong, %d of no URL that there is",
			r.Records.Twice, r.Records.Missing, r.Records.Wrong, r.Records.Unknown))
		wrong = append(wrong, r.Records.Samples[:min(10, len(r.Records.Samples))]...)
	}
	if most := r.traps * (r.Variants + r.Kills*max(forgetsVariants, r.Variants/8)); r.Records.Trapped > most {
		wrong = append(wrong, fmt.Sprintf("%d URLs of calendars without end, expected at most %d", r.Records.Trapped, most))
	}
	for _, s := range r.Samples {
		if most := r.maxRSS(); s.RSS > most {
			wrong = append(wrong, fmt.Sprintf("%d MiB of memory after %v, expected at most %d", s.RSS>>20, s.At.Round(time.Second), most>>20))
			break
		}
	}
	return append(wrong, impolite(r.Verdict)...)
}

// maxRSS is what the command may have of memory at any size of a crawl: half as much again as
// --memory, 768 MiB by default.
func (r *Result) maxRSS() int { return cmp.Or(r.Memory, weft.DefaultMemory) / 2 * 3 }

// Flat reports whether memory grew no more when most was done; or has not come to what --memory
// says, up to which the collector need not work.
func (r *Result) Flat() bool {
	middle, last := r.Thirds()
	return last <= cmp.Or(r.Memory, weft.DefaultMemory) || float64(last) <= 1.1*float64(middle)
}

func impolite(v webtest.Verdict) (wrong []string) {
	for u, t := range v.Units {
		if t.Violations > 0 {
			wrong = append(wrong, fmt.Sprintf("%d requests too early or beside others, by %v", t.Violations, webtest.Unit(u)))
		}
	}
	if v.Astray > 0 {
		wrong = append(wrong, fmt.Sprintf("%d requests went to an address that is not the host's", v.Astray))
	}
	told := make(map[webtest.Unit]int)
	for _, violation := range v.Violations {
		if told[violation.Unit]++; told[violation.Unit] <= 10 {
			wrong = append(wrong, violation.String())
		}
	}
	return wrong
}

// Ratio is the time of the crawl by its bound.
func (r *Result) Ratio() float64 { return r.Wall().Seconds() / r.Bound.Longest().Seconds() }

// Write writes the page of a crawl, which was made by a command.
func (r *Result) Write(w io.Writer, command string) error {
	p := &page{w: w}
	p.line("# A broad crawl\n")
	p.line("Written by `%s` on %d cores, %s.\n", command, runtime.GOMAXPROCS(0), runtime.Version())
	p.line("%d hosts, %d URLs. The command was killed %d times on the way.\n", r.Web.Hosts, r.Bound.URLs, r.Kills)
	p.line("| | |\n|---|---:|")
	p.row("requests that the truth asks for", r.Bound.Requests)
	p.row("requests that came", r.Verdict.Requests)
	p.row("time of all runs", r.Wall().Round(100*time.Millisecond))
	p.row("bound that politeness sets", r.Bound.Longest().Round(100*time.Millisecond))
	p.row("time ÷ bound", fmt.Sprintf("%.2f", r.Ratio()))
	p.row("CPU time of the command, µs a request", fmt.Sprintf("%v, %.0f", r.CPU().Round(time.Second), perRequest(r.CPU(), r.Verdict.Requests)))
	p.row("CPU time of the servers, µs a request", fmt.Sprintf("%v, %.0f", r.Servers.Round(time.Second), perRequest(r.Servers, r.Verdict.Requests)))
	p.row("CPU bound: both, by the cores", ((r.CPU() + r.Servers) / time.Duration(runtime.GOMAXPROCS(0))).Round(100*time.Millisecond))
	p.row("longest that a request waited within a turn of the servers' loop", r.Lag.Round(time.Millisecond/10))
	p.chains(r.Bound)
	p.politeness(r.Verdict, r.Delay)
	p.line("\n## Records\n")
	p.line("%d right, %d twice, %d missing, %d wrong, %d of no URL that there is, %d in traps.\n",
		r.Records.Right, r.Records.Twice, r.Records.Missing, r.Records.Wrong, r.Records.Unknown, r.Records.Trapped)
	p.counts(r.Records.Kinds)
	p.line("\n## Memory\n\nOf each tenth of the requests, the most.\n")
	p.line("| requests | time | RSS MiB | descriptors |\n|---:|---:|---:|---:|")
	for _, s := range r.Tenths() {
		if s.RSS == 0 {
			continue // it was over within a second
		}
		p.line("| %d | %v | %.0f | %d |", s.Requests, s.At.Round(time.Second), float64(s.RSS)/(1<<20), s.Descriptors)
	}
	highest := 0
	for _, s := range r.Samples {
		highest = max(highest, s.Highest)
	}
	p.line("\nThe highest RSS at any time: %.0f MiB.", float64(highest)/(1<<20))
	middle, last := r.Thirds()
	verdict := "flat"
	if !r.Flat() {
		verdict = "not flat"
	}
	p.line("Of the last third of the requests it was %.2f times that of the middle one, expected at most 1.1, or no more than --memory: %s.", float64(last)/float64(max(1, middle)), verdict)
	p.line("\n## Runs\n\n| run | time | CPU | requests by its end | |\n|---:|---:|---:|---:|---|")
	for i, run := range r.Runs {
		how := "ended"
		if run.Killed {
			how = "killed"
		}
		p.line("| %d | %v | %v | %d | %s |", i+1, run.Took.Round(100*time.Millisecond), run.CPU.Round(100*time.Millisecond), run.Requests, how)
	}
	p.failures(r.Failures())
	return p.err
}

// perRequest is a time in µs.
func perRequest(d time.Duration, n int) float64 {
	return float64(d.Microseconds()) / float64(max(1, n))
}

// page writes Markdown, and keeps the first error.
type page struct {
	w   io.Writer
	err error
}

func (p *page) line(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format+"\n", args...); p.err == nil {
		p.err = err
	}
}

func (p *page) row(name string, value any) { p.line("| %s | %v |", name, value) }

func (p *page) chains(b webtest.Bound) {
	p.line("\n## The bound\n\nThe longest time that the URLs of one host, domain or address take one after the other, with the delay between two, from when the first of its hosts that count can have been found.\n")
	p.line("| of a | | hosts | requests | found | done |\n|---|---|---:|---:|---:|---:|")
	for u, c := range b.Chains {
		p.line("| %v | %s | %d | %d | %v | %v |", webtest.Unit(u), c.Name, c.Hosts, c.Requests, c.Found.Round(100*time.Millisecond), c.Time.Round(100*time.Millisecond))
	}
}

func (p *page) politeness(v webtest.Verdict, delay time.Duration) {
	p.line("\n## Politeness\n\nAs the servers saw it; the delay asked for is %v.\n", delay)
	p.line("| by | asked | of more than one host | most requests | smallest gap | most at once | violations |\n|---|---:|---:|---:|---:|---:|---:|")
	for u, t := range v.Units {
		p.line("| %v | %d | %d | %d | %v | %d | %d |", webtest.Unit(u), t.Asked, t.Shared, t.Requests, t.SmallGap.Round(time.Millisecond/10), t.MostAtOnce, t.Violations)
	}
	p.line("\nThe one of each that was asked the longest, from its first request to its last answer:\n")
	p.line("| | | asked for | of that busy | let alone longer than it had to be |\n|---|---|---:|---:|---:|")
	for u, t := range v.Units {
		p.line("| %v | %s | %v | %v | %v |", webtest.Unit(u), t.Longest, t.Span.Round(time.Millisecond), t.Busy.Round(time.Millisecond), t.Idle.Round(time.Millisecond))
	}
	p.line("\nNot judged, for they follow another request as they would with every client: %d requests, again after a kept connection had no answer.", v.Again)
}

func (p *page) counts(kinds map[string]int) {
	p.line("| status or error | URLs |\n|---|---:|")
	for _, k := range slices.SortedFunc(maps.Keys(kinds), func(a, b string) int { return kinds[b] - kinds[a] }) {
		p.line("| %s | %d |", k, kinds[k])
	}
}

func (p *page) failures(wrong []string) {
	if len(wrong) > 0 {
		p.line("\n## Wrong\n\n```\n%s\n```", strings.Join(wrong, "\n"))
	}
}
