package metrics

import (
	"maps"
	"slices"
	"time"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/record"
)

// Type is the type of a series.
type Type string

// Types. Counters count from the start of the process.
const (
	Counter   Type = "counter"
	Gauge     Type = "gauge"
	Histogram Type = "histogram"
)

// Series is a row of the table.
type Series struct {
	Name, Help string
	Type       Type
	Label      string // besides crawl; "": none

	read   func(*inspect.Figures, writer)
	server bool // the process of a server has it, too
}

// Table returns all series in order.
func Table() []Series { return slices.Clone(table) }

var table = slices.Concat(ofState, ofURLs, ofWork, ofMemory, ofSaving, ofLoops, ofBrowser, ofNode, ofTraces, ofProcess)

var ofState = []Series{
	labelled("weft_build_info", "Version of Weft; the value is 1.", Gauge, "version", func(f *inspect.Figures, w writer) { w.by(f.Version, 1) }),
	labelled("weft_state", "1 for the current stage of the crawl, 0 for the others.", Gauge, "state", func(f *inspect.Figures, w writer) {
		for _, s := range []inspect.JobState{inspect.JobStarting, inspect.JobRunning, inspect.JobPaused, inspect.JobEnding} {
			w.by(string(s), truth(f.State == s))
		}
	}),
	labelled("weft_paused", "1 for each reason why no fetch starts, 0 for the others.", Gauge, "reason", func(f *inspect.Figures, w writer) {
		for _, r := range []string{"hand", "disk", "free-space", "descriptors", "memory", "network", "login", "outbox", "other"} {
			w.by(r, truth(slices.Contains(f.Paused, r)))
		}
	}),
	plain("weft_remaining_seconds", "Estimated time until the crawl ends; absent while unknown.", Gauge, func(f *inspect.Figures, w writer) {
		if f.Left > 0 {
			w.put(f.Left.Seconds())
		}
	}),
	value("weft_new_urls_per_url", "New URLs found per URL, averaged over the latest URLs.", Gauge, func(f *inspect.Figures) float64 { return f.NewPerURL }),
}

var ofURLs = []Series{
	labelled("weft_urls", "URLs of the visit by state, over all its runs.", Gauge, "state", func(f *inspect.Figures, w writer) {
		w.by("pending", float64(f.Pending))
		w.by("in_flight", float64(f.InFlight))
		w.by("done", float64(f.Done))
		w.by("refused", float64(f.Refused))
		w.by("over_limit", float64(f.OverLimit))
		w.by("over_variants", float64(f.OverVariants))
	}),
	value("weft_pages", "Pages of the visit: HTML with status 200, over all its runs.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Pages) }),
	value("weft_failed_urls", "URLs of the visit that ended with an error, over all its runs.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Failed) }),
	value("weft_hosts", "Hosts that the crawl knows.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Hosts) }),
	value("weft_hosts_given_up", "Hosts given up because they did not respond.", Gauge, func(f *inspect.Figures) float64 { return float64(f.GivenUp) }),
	value("weft_traps", "Endless paths that the crawl has abandoned.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Traps) }),
	waiting("weft_waiting_hosts", "Hosts with waiting URLs, by what they wait for; of the first 4096 hosts in memory.", func(v *inspect.Waiting) int { return v.Hosts }),
	waiting("weft_waiting_urls", "Waiting URLs, by what their hosts wait for; of the first 4096 hosts in memory.", func(v *inspect.Waiting) int { return v.Pending }),
}

var ofWork = []Series{
	labelled("weft_records_total", "URLs with a result, by outcome.", Counter, "outcome", func(f *inspect.Figures, w writer) { counts(f.Work.URLs, w) }),
	labelled("weft_responses_total", "Responses, by class of status.", Counter, "class", func(f *inspect.Figures, w writer) { counts(f.Work.Statuses, w) }),
	labelled("weft_errors_total", "URLs that failed or were refused, by error kind.", Counter, "kind", func(f *inspect.Figures, w writer) { counts(f.Work.Errors, w) }),
	value("weft_received_bytes_total", "Bytes received: bodies as sent, header fields, robots.txt.", Counter, func(f *inspect.Figures) float64 { return float64(f.Work.Bytes) }),
	value("weft_decoded_bytes_total", "Bytes of bodies after decoding.", Counter, func(f *inspect.Figures) float64 { return float64(f.Work.Decoded) }),
	plain("weft_fetch_duration_seconds", "Duration of the last attempt at each requested URL.", Histogram, func(f *inspect.Figures, w writer) { w.times(f.Work.Took) }),
	value("weft_new_urls_total", "New URLs found on pages.", Counter, func(f *inspect.Figures) float64 { return float64(f.Work.Links) }),
	value("weft_retries_total", "Attempts at URLs after the first.", Counter, func(f *inspect.Figures) float64 { return float64(f.Work.Retries) }),
	value("weft_robots_total", "Requests for robots.txt that have a result.", Counter, func(f *inspect.Figures) float64 { return float64(f.Work.Robots) }),
}

var ofMemory = []Series{
	value("weft_memory_bytes", "Memory of the process: heap, stacks and tables.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Memory) }),
	value("weft_memory_max_bytes", "Memory budget of the crawl: --memory.", Gauge, func(f *inspect.Figures) float64 { return float64(f.MaxMemory) }),
	share("weft_memory_share_bytes", "Memory that a part of the crawl uses.", func(s record.Share) float64 { return float64(s.Used) }),
	share("weft_memory_share_max_bytes", "Memory that a part of the crawl may use.", func(s record.Share) float64 { return float64(s.Most) }),
}

var ofSaving = []Series{
	plain("weft_commit_duration_seconds", "Duration of commits to the job.", Histogram, func(f *inspect.Figures, w writer) {
		if f.Commits != nil {
			w.times(&f.Commits.Took)
		}
	}),
	ofCommits("weft_commit_running_seconds", "Duration of the running commit so far; 0 if none is running.", func(f *inspect.Figures) float64 { return f.Commits.Running }),
	ofCommits("weft_commit_last_timestamp_seconds", "Time at which the last commit ended; 0 if there was none.", func(f *inspect.Figures) float64 { return unix(f.Commits.Last) }),
	ofCommits("weft_commit_open_bytes", "Bytes waiting for the next commit.", func(f *inspect.Figures) float64 { return float64(f.Commits.Open) }),
	ofCommits("weft_commit_failed", "1 once a commit has failed, which ends the crawl; 0 before.", func(f *inspect.Figures) float64 { return truth(f.Commits.Failed) }),
	ofDisk("weft_disk_free_bytes", "Free space on the disk of the job.", func(f *inspect.Figures) float64 { return float64(f.Disk.Free) }),
	ofDisk("weft_disk_size_bytes", "Size of the disk of the job.", func(f *inspect.Figures) float64 { return float64(f.Disk.Size) }),
	labelled("weft_job_bytes", "Size of the files of the job, by part; saved bodies and pictures are not counted.", Gauge, "part", func(f *inspect.Figures, w writer) {
		if f.Disk != nil {
			counts(f.Disk.Parts, w)
		}
	}),
	value("weft_archive_records_total", "Requests with their responses added to the archive.", Counter, func(f *inspect.Figures) float64 { return float64(f.Work.Archived) }),
	value("weft_archive_bytes_total", "Bytes added to the archive, after compression.", Counter, func(f *inspect.Figures) float64 { return float64(f.Work.Compressed) }),
}

var ofLoops = []Series{
	loop("weft_loop_lag_seconds", "Mean delay of the latest timers of an event loop.", Gauge, func(l record.Loop) float64 { return l.Lag }),
	loop("weft_loop_answer_seconds", "Time that an event loop took to answer this scrape, or has left it without an answer so far.", Gauge, func(l record.Loop) float64 { return l.Answer }),
	loop("weft_loop_turns_total", "Turns that an event loop has taken.", Counter, func(l record.Loop) float64 { return float64(l.Turns) }),
	loop("weft_loop_tasks", "Tasks of an event loop.", Gauge, func(l record.Loop) float64 { return float64(l.Tasks) }),
	loop("weft_loop_descriptors", "File descriptors that an event loop has open.", Gauge, func(l record.Loop) float64 { return float64(l.Open) }),
}

var ofBrowser = []Series{
	rendering("weft_browser_tabs", "Pages that the browser renders at a time, at most.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Browser.Tabs) }),
	rendering("weft_browser_busy_tabs", "Pages that the browser is rendering.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Browser.Busy) }),
	rendering("weft_browser_starts_total", "Starts of the browser.", Counter, func(f *inspect.Figures) float64 { return float64(f.Browser.Starts) }),
	rendering("weft_browser_memory_bytes", "Memory of the browser when it last rendered.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Browser.Memory) }),
	rendering("weft_browser_memory_max_bytes", "Memory that the browser may use.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Browser.MaxMemory) }),
	rendering("weft_rendered_pages_total", "Pages that the browser has rendered.", Counter, func(f *inspect.Figures) float64 { return float64(f.Work.Rendered) }),
	rendering("weft_render_seconds_total", "Time spent on rendering pages.", Counter, func(f *inspect.Figures) float64 { return f.Work.RenderTook }),
	labelled("weft_render_failures_total", "Pages that the browser could not render, by error kind.", Counter, "kind", func(f *inspect.Figures, w writer) { counts(f.Work.Unrendered, w) }),
}

var ofNode = []Series{
	node("weft_cluster_outbox_messages", "Messages not yet delivered to other nodes.", func(f *inspect.Figures) float64 { return float64(f.Node.Outbox) }),
	node("weft_cluster_outbox_bytes", "Bytes of messages not yet delivered to other nodes.", func(f *inspect.Figures) float64 { return float64(f.Node.Bytes) }),
	node("weft_cluster_lag_seconds", "Age of the oldest commit whose messages have not reached the servers.", func(f *inspect.Figures) float64 { return f.Node.Lag }),
}

var ofTraces = []Series{
	labelled("weft_traces_total", "Traced fetches, by what became of their traces: sent or dropped.", Counter, "outcome", func(f *inspect.Figures, w writer) {
		if f.Traces != nil {
			w.by("sent", float64(f.Traces.Sent))
			w.by("dropped", float64(f.Traces.Dropped))
		}
	}),
	having("weft_traces_waiting", "Traces not yet sent.", Gauge, func(f *inspect.Figures) bool { return f.Traces != nil },
		func(f *inspect.Figures) float64 { return float64(f.Traces.Waiting) }),
}

var ofProcess = ofServers(
	value("process_start_time_seconds", "Time at which the process started.", Gauge, func(f *inspect.Figures) float64 { return unix(f.Started) }),
	value("process_cpu_seconds_total", "CPU time that the process has used.", Counter, func(f *inspect.Figures) float64 { return f.Process.CPU }),
	value("process_resident_memory_bytes", "Resident memory of the process.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Process.Resident) }),
	value("process_open_fds", "File descriptors that the process has open.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Process.Open) }),
	value("process_max_fds", "File descriptors that the process may have open.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Process.MaxOpen) }),
	value("go_goroutines", "Goroutines of the process.", Gauge, func(f *inspect.Figures) float64 { return float64(f.Process.Routines) }),
)

func ofServers(all ...Series) []Series {
	for i := range all {
		all[i].server = true
	}
	return all
}

// labelled is a series with a label of its own.
func labelled(name, help string, of Type, label string, read func(*inspect.Figures, writer)) Series {
	return Series{Name: name, Help: help, Type: of, Label: label, read: read}
}

// plain is a series without a label of its own.
func plain(name, help string, of Type, read func(*inspect.Figures, writer)) Series {
	return labelled(name, help, of, "", read)
}

// value is a series of one value.
func value(name, help string, of Type, read func(*inspect.Figures) float64) Series {
	return having(name, help, of, func(*inspect.Figures) bool { return true }, read)
}

func having(name, help string, of Type, has func(*inspect.Figures) bool, read func(*inspect.Figures) float64) Series {
	return plain(name, help, of, func(f *inspect.Figures, w writer) {
		if has(f) {
			w.put(read(f))
		}
	})
}

func ofCommits(name, help string, read func(*inspect.Figures) float64) Series {
	return having(name, help, Gauge, func(f *inspect.Figures) bool { return f.Commits != nil }, read)
}

func ofDisk(name, help string, read func(*inspect.Figures) float64) Series {
	return having(name, help, Gauge, func(f *inspect.Figures) bool { return f.Disk != nil }, read)
}

func rendering(name, help string, of Type, read func(*inspect.Figures) float64) Series {
	return having(name, help, of, func(f *inspect.Figures) bool { return f.Browser != nil }, read)
}

func loop(name, help string, of Type, read func(record.Loop) float64) Series {
	return labelled(name, help, of, "loop", func(f *inspect.Figures, w writer) {
		for _, l := range f.Loops {
			w.by(l.Name, read(l))
		}
	})
}

func share(name, help string, read func(record.Share) float64) Series {
	return labelled(name, help, Gauge, "share", func(f *inspect.Figures, w writer) {
		for _, s := range f.Shares {
			w.by(s.Of, read(s))
		}
	})
}

func node(name, help string, read func(*inspect.Figures) float64) Series {
	return having(name, help, Gauge, func(f *inspect.Figures) bool { return f.Node != nil }, read)
}

// counts writes values by name.
func counts(all map[string]int64, w writer) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		w.by(name, float64(all[name]))
	}
}

// waiting counts by what hosts wait for, with a 0 where none does: its value would stay as it was.
func waiting(name, help string, of func(*inspect.Waiting) int) Series {
	return labelled(name, help, Gauge, "reason", func(f *inspect.Figures, w writer) {
		n := make(map[inspect.Reason]int)
		for i := range f.Waits {
			n[f.Waits[i].For] = of(&f.Waits[i])
		}
		for _, r := range []inspect.Reason{
			inspect.ByNothing, inspect.ByRequests, inspect.ByPace, inspect.ByDomain, inspect.ByAddress, inspect.ByBackOff,
			inspect.BySilence, inspect.ByRobots, inspect.ByResolution, inspect.ByDepth, inspect.ByMemory, inspect.ByLimit,
		} {
			w.by(string(r), float64(n[r]))
		}
	})
}

func truth(is bool) float64 {
	if is {
		return 1
	}
	return 0
}

// unix is a time in seconds; zero: there is none.
func unix(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}
