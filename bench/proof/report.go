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
	"unicode/utf8"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/webtest"
)

// Failures lists what a crawl did wrong, a line each. Its duration is not judged: it depends on the
// machine.
func (r *Result) Failures() (wrong []string) {
	if !r.Records.Good() {
		wrong = append(wrong, fmt.Sprintf("records: %d duplicate, %d missing, %d wrong, %d of unknown URLs",
			r.Records.Twice, r.Records.Missing, r.Records.Wrong, r.Records.Unknown))
		wrong = append(wrong, r.Records.Samples[:min(10, len(r.Records.Samples))]...)
	}
	if most := r.traps * (r.Variants + r.Kills*max(forgetsVariants, r.Variants/8)); r.Records.Trapped > most {
		wrong = append(wrong, fmt.Sprintf("%d URLs of endless calendars, expected at most %d", r.Records.Trapped, most))
	}
	for _, s := range r.Samples {
		if most := r.maxRSS(); s.RSS > most {
			wrong = append(wrong, fmt.Sprintf("%d MiB of memory after %v, expected at most %d", s.RSS>>20, s.At.Round(time.Second), most>>20))
			break
		}
	}
	return append(wrong, impolite(r.Verdict)...)
}

// maxRSS is the memory that the command may take at any size of a crawl, in bytes: 1.5 times
// --memory, 768 MiB by default.
func (r *Result) maxRSS() int { return cmp.Or(r.Memory, weft.DefaultMemory) / 2 * 3 }

// Flat reports whether memory stopped growing, or stayed within --memory, up to which the garbage
// collector need not work.
func (r *Result) Flat() bool {
	middle, last := r.Thirds()
	return last <= cmp.Or(r.Memory, weft.DefaultMemory) || float64(last) <= 1.1*float64(middle)
}

func impolite(v webtest.Verdict) (wrong []string) {
	for u, t := range v.Units {
		if t.Violations > 0 {
			wrong = append(wrong, fmt.Sprintf("%d requests too early or concurrent with others, by %v", t.Violations, webtest.Unit(u)))
		}
	}
	if v.Astray > 0 {
		wrong = append(wrong, fmt.Sprintf("%d requests went to an address of another host", v.Astray))
	}
	listed := make(map[webtest.Unit]int)
	for _, violation := range v.Violations {
		if listed[violation.Unit]++; listed[violation.Unit] <= 10 {
			wrong = append(wrong, violation.String())
		}
	}
	return wrong
}

// Ratio is the duration of the crawl divided by its bound.
func (r *Result) Ratio() float64 { return r.Wall().Seconds() / r.Bound.Longest().Seconds() }

// conclusion is the first paragraph of the page.
func (r *Result) conclusion() string {
	if len(r.Failures()) > 0 {
		return "This crawl failed its proof: see the section Wrong at the end."
	}
	memory := "keeps its memory flat"
	if !r.Flat() {
		memory = "stays within its bound of memory"
	}
	return fmt.Sprintf(`A crawl of %d hosts, killed %d times on the way, is polite to every host, domain and address,
records every URL exactly once, and %s. It takes %.2f times the time that politeness itself
demands.`, r.Web.Hosts, r.Kills, memory, r.Ratio())
}

// Write writes the page of a crawl that a command made.
func (r *Result) Write(w io.Writer, command string) error {
	p := &page{w: w}
	p.line("# A broad crawl\n")
	p.line("%s\n\n## How it was measured\n", r.conclusion())
	p.line("`%s`, on %d cores, %s:", command, runtime.GOMAXPROCS(0), runtime.Version())
	p.line("the real command crawls %d URLs of %d synthetic hosts over real sockets, and is killed %d times.", r.Bound.URLs, r.Web.Hosts, r.Kills)
	p.line("The servers judge politeness; the ground truth of the synthetic web judges the records.\n")
	p.line("| | |\n|---|---:|")
	p.row("requests that the ground truth demands", r.Bound.Requests)
	p.row("requests received", r.Verdict.Requests)
	p.row("time of all runs", r.Wall().Round(100*time.Millisecond))
	p.row("lower bound that politeness sets", r.Bound.Longest().Round(100*time.Millisecond))
	p.row("time ÷ bound", fmt.Sprintf("%.2f", r.Ratio()))
	p.row("CPU time of the command, µs per request", fmt.Sprintf("%v, %.0f", r.CPU().Round(time.Second), perRequest(r.CPU(), r.Verdict.Requests)))
	p.row("CPU time of the servers, µs per request", fmt.Sprintf("%v, %.0f", r.Servers.Round(time.Second), perRequest(r.Servers, r.Verdict.Requests)))
	p.row("CPU bound: both, divided by the cores", ((r.CPU() + r.Servers) / time.Duration(runtime.GOMAXPROCS(0))).Round(100*time.Millisecond))
	p.row("longest wait of a request in the servers' loop", r.Lag.Round(time.Millisecond/10))
	p.chains(r.Bound)
	p.politeness(r.Verdict, r.Delay)
	p.line("\n## Records\n")
	p.line("%d right, %d duplicate, %d missing, %d wrong, %d of unknown URLs, %d in traps.\n",
		r.Records.Right, r.Records.Twice, r.Records.Missing, r.Records.Wrong, r.Records.Unknown, r.Records.Trapped)
	p.counts(r.Records.Kinds)
	p.line("\n## Memory\n\nThe maximum in each tenth of the requests.\n")
	p.line("| requests | time | RSS MiB | descriptors |\n|---:|---:|---:|---:|")
	for _, s := range r.Tenths() {
		if s.RSS == 0 {
			continue // the crawl took less than a second
		}
		p.line("| %d | %v | %.0f | %d |", s.Requests, s.At.Round(time.Second), float64(s.RSS)/(1<<20), s.Descriptors)
	}
	highest := 0
	for _, s := range r.Samples {
		highest = max(highest, s.Highest)
	}
	middle, last := r.Thirds()
	verdict := "flat"
	if !r.Flat() {
		verdict = "not flat"
	}
	p.line("\nThe peak RSS is %.0f MiB. In the last third of the requests it is %.2f times that of the middle third;", float64(highest)/(1<<20), float64(last)/float64(max(1, middle)))
	p.line("expected at most 1.1, or within --memory: %s.", verdict)
	p.line("\n## Runs\n\n| run | time | CPU | requests so far | |\n|---:|---:|---:|---:|---|")
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

// perRequest is a time per request in µs.
func perRequest(d time.Duration, n int) float64 {
	return float64(d.Microseconds()) / float64(max(1, n))
}

// page writes Markdown and keeps the first error.
type page struct {
	w   io.Writer
	err error
}

func (p *page) line(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format+"\n", args...); p.err == nil {
		p.err = err
	}
}

// prose writes a paragraph in lines of at most 100 columns.
func (p *page) prose(format string, args ...any) {
	line := ""
	for word := range strings.FieldsSeq(fmt.Sprintf(format, args...)) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= 100:
			line += " " + word
		default:
			p.line("%s", line)
			line = word
		}
	}
	p.line("%s", line)
}

func (p *page) row(name string, value any) { p.line("| %s | %v |", name, value) }

func (p *page) chains(b webtest.Bound) {
	p.line("\n## The bound\n\nThe longest time that the URLs of one host, domain or address take one after the other, with the\ndelay between two, counted from the earliest time at which the crawl can have found its first host.\n")
	p.line("| unit | | hosts | requests | found | done |\n|---|---|---:|---:|---:|---:|")
	for u, c := range b.Chains {
		p.line("| %v | %s | %d | %d | %v | %v |", webtest.Unit(u), c.Name, c.Hosts, c.Requests, c.Found.Round(100*time.Millisecond), c.Time.Round(100*time.Millisecond))
	}
}

func (p *page) politeness(v webtest.Verdict, delay time.Duration) {
	p.line("\n## Politeness\n\nMeasured at the servers; the requested delay is %v. A gap counts from before the end of a\nresponse is written until the next request is read, so that none seems shorter than it was.\n", delay)
	p.line("| by | units | with several hosts | most requests | smallest gap | most at once | violations |\n|---|---:|---:|---:|---:|---:|---:|")
	for u, t := range v.Units {
		p.line("| %v | %d | %d | %d | %v | %d | %d |", webtest.Unit(u), t.Asked, t.Shared, t.Requests, t.SmallGap.Round(time.Millisecond/10), t.MostAtOnce, t.Violations)
	}
	p.line("\nThe unit of each kind that took longest, from its first request to its last response:\n")
	p.line("| | | duration | of that busy | idle beyond the delay |\n|---|---|---:|---:|---:|")
	for u, t := range v.Units {
		p.line("| %v | %s | %v | %v | %v |", webtest.Unit(u), t.Longest, t.Span.Round(time.Millisecond), t.Busy.Round(time.Millisecond), t.Idle.Round(time.Millisecond))
	}
	p.line("\nNot judged, because every client repeats them: %d requests, sent again after a kept connection\nended without a response.", v.Again)
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
