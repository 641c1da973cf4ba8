package proof

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/weftcrawl/weft/cluster"
	"github.com/weftcrawl/weft/internal/webtest"
)

// Marks of a crawl by three nodes, beside one by one node.
const (
	leastFaster = 2.8 // times the requests a second, where latency binds
	mostCPU     = 1.3 // times the CPU time of a node for a request
)

// Failures lists what a crawl by several nodes did wrong, a line each.
func (r *NodesResult) Failures() (wrong []string) {
	if !r.Records.Good() {
		wrong = append(wrong, fmt.Sprintf("records: %d missing, %d wrong, %d of unknown URLs",
			r.Records.Missing, r.Records.Wrong, r.Records.Unknown))
	}
	if r.Again.Others > 0 {
		wrong = append(wrong, fmt.Sprintf("%d records of URLs that were fetched again for no reason", r.Again.Others))
	}
	if len(wrong) > 0 {
		wrong = append(wrong, r.Records.Samples[:min(10, len(r.Records.Samples))]...)
	}
	if most := r.traps * (r.Variants + (len(r.Blows)+r.Nodes)*max(forgetsVariants, r.Variants/8)); r.Records.Trapped > most {
		wrong = append(wrong, fmt.Sprintf("%d URLs of endless calendars, expected at most %d", r.Records.Trapped, most))
	}
	if len(r.Struck) < len(r.Blows) {
		wrong = append(wrong, fmt.Sprintf("the crawl ended after %d of %d faults", len(r.Struck), len(r.Blows)))
	}
	return append(wrong, impolite(r.Verdict)...)
}

// Scaling is the same crawl by one node without a cluster and by several.
type Scaling struct {
	One, Several *NodesResult
}

// Scale crawls a web of slow responses with one node, then with all nodes of a task. No fault
// strikes them, and each has few requests in flight.
func Scale(ctx context.Context, task NodesTask, hosts int) (s Scaling, err error) {
	task.Web, task.Seeds = LatencyWeb(hosts), hosts/4
	task.Delay, task.Concurrency, task.Blows = 10*time.Millisecond, 30, nil
	one := task
	one.Nodes, one.Servers = 1, 0
	if s.One, err = CrawlByNodes(ctx, one); err == nil {
		s.Several, err = CrawlByNodes(ctx, task)
	}
	return s, err
}

// Faster is the requests a second of several nodes, by those of one.
func (s *Scaling) Faster() float64 { return s.Several.Rate / s.One.Rate }

// Whole is Faster for whole crawls, from start to end.
func (s *Scaling) Whole() float64 { return wholeRate(s.Several) / wholeRate(s.One) }

func wholeRate(r *NodesResult) float64 { return float64(r.Verdict.Requests) / r.Took.Seconds() }

// fixed is the time of the crawl beyond that of all its requests at the steady rate.
func (r *NodesResult) fixed() time.Duration {
	return r.Took - time.Duration(float64(r.Verdict.Requests)/r.Rate*float64(time.Second))
}

// Dearer is the CPU time for a request of several nodes, by that of one.
func (s *Scaling) Dearer() float64 { return cpuPerRequest(s.Several) / cpuPerRequest(s.One) }

func cpuPerRequest(r *NodesResult) float64 { return perRequest(r.NodeCPU(), r.Verdict.Requests) }

// Failures lists the marks that are missed.
func (s *Scaling) Failures() (wrong []string) {
	if f := s.Faster(); f < leastFaster {
		wrong = append(wrong, fmt.Sprintf("%.2f times the requests a second of one node, expected at least %.1f", f, leastFaster))
	}
	if d := s.Dearer(); d > mostCPU {
		wrong = append(wrong, fmt.Sprintf("%.2f times the CPU time of one node for a request, expected at most %.1f", d, mostCPU))
	}
	return wrong
}

// WriteNodes writes the page of a crawl by several nodes.
func WriteNodes(w io.Writer, command string, r *NodesResult, s *Scaling) error {
	p := &page{w: w}
	wrong := r.Failures()
	if s != nil {
		wrong = append(wrong, s.Failures()...)
	}
	p.line("# A crawl by several nodes\n")
	if len(wrong) == 0 {
		p.prose("%d nodes crawl %d hosts. Although nodes are killed or cut off %d times, they fetch every URL, and are polite to "+
			"every host, domain and address. They fetch again only what the servers had not acknowledged before a fault. The "+
			"records and pages of %d URLs are lost with the disks that had them. These URLs stay done: no node fetches them again.",
			r.Nodes, r.Web.Hosts, len(r.Struck), r.Again.Gone)
	} else {
		p.line("This crawl failed its proof: see the section Wrong at the end.")
	}
	p.line("\n## How it was measured\n")
	p.prose("`%s`, on %d cores, %s: "+
		"%d nodes and %d NATS servers, each the real command in a network namespace of its own, crawl %d URLs of "+
		"%d synthetic hosts. A node has one line to the web and one to the servers. The web's servers judge "+
		"politeness. The web's ground truth judges the records of all nodes, also those on lost disks.",
		command, runtime.GOMAXPROCS(0), runtime.Version(), r.Nodes, r.Servers, r.Bound.URLs, r.Web.Hosts)
	p.line("")
	p.line("| | |\n|---|---:|")
	p.row("requests that the ground truth demands", r.Bound.Requests)
	p.row("requests received", r.Verdict.Requests)
	p.row("time", r.Took.Round(100*time.Millisecond))
	p.row("lower bound that politeness sets", r.Bound.Longest().Round(100*time.Millisecond))
	p.row("CPU time of the nodes, µs per request", fmt.Sprintf("%v, %.0f", r.NodeCPU().Round(time.Second), cpuPerRequest(r)))
	p.row("CPU time of the NATS servers, µs per request", fmt.Sprintf("%v, %.0f", r.ServerCPU.Round(time.Second), perRequest(r.ServerCPU, r.Verdict.Requests)))
	p.row("CPU time of the web and its judge, µs per request", fmt.Sprintf("%v, %.0f", r.WebCPU.Round(time.Second), perRequest(r.WebCPU, r.Verdict.Requests)))
	p.row("longest wait of a request in the web's loop", r.Lag.Round(time.Millisecond/10))
	p.faults(r)
	p.line("\n| node | ran for | CPU | peak RSS MiB | lag: median | 99%% | longest | end |\n|---:|---:|---:|---:|---:|---:|---:|---|")
	for _, t := range slices.SortedFunc(slices.Values(r.Stints), func(a, b *Stint) int { return a.Node - b.Node }) {
		how := "ended"
		switch {
		case t.Killed:
			how = "killed"
		case t.Fenced:
			how = "others had taken its partitions"
		case t.Waited:
			how = "no servers answered"
		}
		p.line("| %d | %v | %v | %d | %.2fs | %.2fs | %.2fs | %s |", t.Node+1, t.Took.Round(100*time.Millisecond), t.CPU.Round(100*time.Millisecond), t.Peak>>20,
			t.Status.Lag.P50, t.Status.Lag.P99, t.Status.Lag.Max, how)
	}
	p.logs(r)
	p.line("\n## Records\n")
	p.prose("%d records are right, %d missing, %d wrong, %d of unknown URLs, %d in traps.",
		r.Records.Right, r.Records.Missing, r.Records.Wrong, r.Records.Unknown, r.Records.Trapped)
	p.line("")
	p.prose("%d more are second records of URLs that were fetched again, %d of them in the same job. All but %d of these URLs were "+
		"done at most %v before the last fetch that their node began before a fault. A node starts no fetch while its work has "+
		"waited for %v to be acknowledged; a busy machine adds up to %v.",
		r.Again.N, r.Again.Same, r.Again.Others, r.Again.Within.Round(10*time.Millisecond), unacknowledged, mostWithin-unacknowledged)
	p.line("")
	p.prose("%d URLs have a record on a lost disk only. The logs say that they are done and what they have led to, so no node fetches "+
		"them again. But their records, pages and archives are lost, as they are when the disk of a single machine is.",
		r.Again.Gone)
	p.line("")
	p.counts(r.Records.Kinds)
	p.politeness(r.Verdict, r.Delay)
	p.line("")
	p.prose("Where hosts of one address belong to several nodes, these share its delay.")
	if s != nil {
		p.scaling(s)
	}
	p.failures(wrong)
	return p.err
}

// faults writes what happened to nodes, and how the others took over.
func (p *page) faults(r *NodesResult) {
	p.line("\n## Faults\n")
	p.line("| requests so far | node | fault | for | owners after | its partitions | fetched from again: half after | 99 %% | all | partitions read | URLs | URLs/s |")
	p.line("|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, b := range r.Struck {
		read := "| | |"
		if b.Read != nil && b.Read.Partitions > 0 {
			read = fmt.Sprintf("%d | %d | %.0f |", b.Read.Partitions, b.Read.URLs, float64(b.Read.URLs)/max(0.001, b.Read.Seconds))
		}
		p.line("| %d | %d | %v | %v | %s | %d | %s | %s | %s | %s", b.Requests, b.Node+1, b.Blow, b.Over.Sub(b.At).Round(100*time.Millisecond), after(b.Owned),
			b.Stood.Partitions, after(b.Stood.Half), after(b.Stood.Most), after(b.Stood.All), read)
	}
	p.line("")
	p.prose("*Owners after*: time from the fault until all partitions of the node have new owners. The proof asks the servers every %v. *Its "+
		"partitions*: those that the node fetched from within the last %v before the fault, and another process later. *Fetched from again*: "+
		"time from the fault until another process, or the same node once it is back, fetched from half of them, from 99 of 100, and from "+
		"all, by the records: with the turns of hosts, which a partition with few URLs waits for. *Partitions read*: those that nodes have "+
		"restored from the logs, until all partitions of the crawl are restored or the next fault comes; *URLs*: all that they found in "+
		"these logs; *URLs/s*: the rate of one node while it restores partitions. A node that starts without its disk reads the logs of its "+
		"share, too, a few partitions at a time.",
		closely, recently)
	p.line("")
	p.prose("Nodes count another as dead after 10 seconds without a sign of life. A killed node starts again after %v. With its disk, it takes "+
		"its partitions at once. Without, it is a new node, and the others give it partitions.",
		back)
}

// after is a time after a blow.
func after(d time.Duration) string {
	if d == 0 {
		return "never"
	}
	return d.Round(100 * time.Millisecond).String()
}

// logs writes what the logs cost.
func (p *page) logs(r *NodesResult) {
	urls := float64(max(1, r.Records.Right+r.Records.Trapped))
	messages, bytes := r.logged()
	p.line("")
	p.prose("*Lag* is the time from a commit to the disk of a node until the servers have acknowledged all messages of the commit. Its done " +
		"URLs wait about a second for the next commit, to share its messages. If a node was cut off, its longest lag has the cut in it. What " +
		"a killed node wrote in its last 2 seconds is in no figure.")
	p.line("")
	p.line("| the logs of all partitions | |\n|---|---:|")
	p.row("messages for each URL", fmt.Sprintf("%.2f", float64(messages)/urls))
	p.row("bytes for each URL, with headers and snapshots", fmt.Sprintf("%.0f", float64(bytes)/urls))
	p.row("bytes for each URL on one server at the end, with what the server adds", fmt.Sprintf("%.0f", float64(r.LogLeft)/urls))
	p.row("most that one server had at a time, MiB", fmt.Sprintf("%.1f", float64(r.LogPeak)/(1<<20)))
}

// worst is the longest lag of any node, each figure by itself.
func (r *NodesResult) worst() (l cluster.Lag) {
	for _, s := range r.Stints {
		one := s.Status.Lag
		l = cluster.Lag{P50: max(l.P50, one.P50), P99: max(l.P99, one.P99), Max: max(l.Max, one.Max)}
	}
	return l
}

func (p *page) scaling(s *Scaling) {
	o := s.One
	p.line("\n## Throughput\n")
	p.prose("The same crawl, of %d hosts that respond within %v, by one node without a cluster and by %d, each with %d "+
		"requests in flight at most. The rate is that of the steady part, from the first fifth of the requests to the fourth.",
		o.Web.Hosts, o.Web.Latency, s.Several.Nodes, o.Concurrency)
	p.line("")
	p.line("| nodes | requests | time | until the first request | until the first fifth | of the last fifth | after the last request | steady requests/s | CPU of nodes, µs a request | of NATS servers |")
	p.line("|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	for _, r := range []*NodesResult{o, s.Several} {
		p.line("| %d | %d | %v | %v | %v | %v | %v | %.0f | %.0f | %.0f |", r.Nodes, r.Verdict.Requests, r.Took.Round(100*time.Millisecond), r.Start.Round(100*time.Millisecond),
			r.First.Round(100*time.Millisecond), r.Last.Round(100*time.Millisecond), r.End.Round(100*time.Millisecond), r.Rate, cpuPerRequest(r), perRequest(r.ServerCPU, r.Verdict.Requests))
	}
	p.line("")
	p.prose("In the steady part, %d nodes make %.2f times as many requests a second as one (mark: at least %.1f); over the whole crawl, %.2f times "+
		"as many. What is lost there does not grow with the crawl: the nodes join and share the partitions, the last hosts get one request "+
		"at a time, and the nodes agree on the end. It is %v: what the crawl takes longer than all its requests would at the steady rate. "+
		"A request takes %.2f times as much CPU time of the nodes (mark: at most %.1f), without that of the NATS servers.",
		s.Several.Nodes, s.Faster(), leastFaster, s.Whole(), s.Several.fixed().Round(100*time.Millisecond), s.Dearer(), mostCPU)
	p.line("")
	l := s.Several.worst()
	p.prose("No fault strikes these nodes. The lag of every node is at most %.2fs in the median, %.2fs for 99%% of its commits, "+
		"and %.2fs for any commit.",
		l.P50, l.P99, l.Max)
}

// LatencyWeb returns a web in which only responses take long: single hosts without faults, none of
// them large. A large host gets one request at a time, so it would take one node and many nodes
// equally long.
func LatencyWeb(hosts int) webtest.Config {
	return webtest.Config{Seed: 5, Hosts: hosts, Pages: 5, MostPages: 12, Links: 2, PageBytes: 4000, Latency: 200 * time.Millisecond, Clean: true,
		Rates: webtest.Rates{Across: 0.2}}
}
