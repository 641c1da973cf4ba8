package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/weftcrawl/weft"
)

// console prints on standard error. Any goroutine may call it. Text that cannot be written,
// because the reader has left, is dropped: the crawl does not depend on it.
type console struct {
	voice
	screen  *screen // nil: no terminal, or --quiet
	quiet   bool
	verbose bool          // a line for each URL
	every   time.Duration // between two lines of progress; 0: printEvery, negative: there are none
	job     naming
	signals chan os.Signal // end the crawl: see start
	monitor *monitor       // nil: nobody else watches

	forCheck  bool // no report, and a seed that fails is no error: weft check reports it
	forOthers bool // a caller of weft serve reads the messages
}

// voice is the form of the messages: text or JSON.
type voice interface {
	warn(text string)
	say(text string) // of no problem
	// event is say of something that a log names, with keys and values.
	event(text, name string, keys ...any)
	failed(err error) // ends the process
	record(r *weft.Record)
	progress(s sample)
	report(r report)
}

// newConsole draws progress if standard error is a terminal that shows no records.
func newConsole(f consoleFlags, output string) *console {
	c := &console{quiet: f.quiet, verbose: f.verbose, every: f.interval}
	if f.format == "json" {
		c.voice = jsonVoice{slog.New(slog.NewJSONHandler(terminal(os.Stderr), nil))}
		return c
	}
	var w io.Writer = os.Stderr
	shared := output == "-" && term.IsTerminal(os.Stdout.Fd())
	if !f.quiet && !shared && drawable(os.Stderr) {
		c.screen = newScreen(os.Stderr)
		w = c.screen
	}
	c.voice = textVoice{w}
	return c
}

// drawable reports whether f is a terminal whose cursor can be moved.
func drawable(f *os.File) bool {
	kind := os.Getenv("TERM")
	return kind != "" && kind != "dumb" && term.IsTerminal(f.Fd())
}

// warn prints a message that does not end the crawl.
func (c *console) warn(text string) {
	if !c.quiet {
		c.voice.warn(text)
	}
}

// say prints a message that is no problem.
func (c *console) say(text string) {
	if !c.quiet {
		c.voice.say(text)
	}
}

// event prints a message that is no problem, which a log names.
func (c *console) event(text, name string, keys ...any) {
	if !c.quiet {
		c.voice.event(text, name, keys...)
	}
}

// hooks makes the crawl print its warnings, and with --verbose each URL.
func (c *console) hooks() weft.Hooks {
	hooks := weft.Hooks{OnWarning: func(err error) {
		if e, named := err.(interface{ Event() (string, []any) }); named {
			name, keys := e.Event()
			c.event(err.Error(), name, keys...)
			return
		}
		if _, fine := err.(interface{ Notice() }); fine {
			c.say(err.Error())
			return
		}
		c.warn(err.Error())
	}}
	if c.verbose {
		hooks.OnRecord = c.record
	}
	return hooks
}

// textVoice writes lines for people, one Write each.
type textVoice struct{ w io.Writer }

func (v textVoice) warn(text string) { fmt.Fprintf(v.w, "weft: %s\n", printable(text)) }

func (v textVoice) say(text string) { v.warn(text) }

func (v textVoice) event(text, _ string, _ ...any) { v.warn(text) }

func (v textVoice) failed(err error) { v.warn(err.Error()) }

// recordTable is outcome, time, bytes and URL of a record.
var recordTable = table{{"", -12}, {"", 9}, {"", 8}, {"", 0}}

func (v textVoice) record(r *weft.Record) {
	outcome := r.ErrorKind
	if outcome == "" {
		outcome = fmt.Sprint(r.Status)
	}
	more := ""
	switch {
	case r.Redirect != "":
		more = " → " + r.Redirect
	case r.Error != "":
		more = ": " + r.Error
	}
	recordTable.row(v.w, outcome, seconds(r.TotalMS/1000), volume(r.Bytes), r.URL+more)
}

func (v textVoice) progress(s sample) { fmt.Fprintln(v.w, s) }

func (v textVoice) report(r report) { _, _ = io.WriteString(v.w, elided(r.String(), os.Stderr)) }

// jsonVoice writes one JSON object per message. docs/metrics.md lists the events and their keys.
type jsonVoice struct{ log *slog.Logger }

func (v jsonVoice) warn(text string) { v.log.Warn(text, "event", "warning") }

func (v jsonVoice) say(text string) { v.event(text, "notice") }

func (v jsonVoice) event(text, name string, keys ...any) {
	v.log.Info(text, append([]any{"event", name}, keys...)...)
}

func (v jsonVoice) failed(err error) { v.log.Error(err.Error(), "event", "failure") }

func (v jsonVoice) record(r *weft.Record) { v.event("url", "url", "record", r) }

func (v jsonVoice) progress(s sample) {
	args := []any{
		"seconds", s.stats.Elapsed.Seconds(),
		"urls", s.stats.Recorded(), "pages", s.stats.Pages, "redirects", s.stats.Redirects, "errors", s.stats.Failed + s.stats.Refused,
		"status_4xx", s.stats.Status4xx, "status_5xx", s.stats.Status5xx,
		"traps", len(s.stats.Traps) + s.stats.MoreTraps, "bytes", s.stats.Bytes, "pending", s.stats.Pending, "in_flight", s.stats.InFlight, "hosts", s.stats.Hosts,
		"new_per_url", s.stats.NewPerURL, "growing", s.stats.Growing, "urls_per_second", s.urlRate, "pages_per_second", s.pageRate, "bytes_per_second", s.byteRate,
	}
	if s.stats.Memory > 0 {
		args = append(args, "memory", s.stats.Memory, "max_memory", s.stats.MaxMemory)
	}
	if len(s.stats.Paused) > 0 {
		args = append(args, "paused", s.stats.Paused)
	}
	if s.stats.Ending {
		args = append(args, "ends_in", s.stats.EndsIn.Seconds())
	}
	if s.stats.Left > 0 {
		args = append(args, "left_seconds", s.stats.Left.Seconds(), "left_bound", s.stats.Bound)
	}
	if len(s.stats.Longest) > 0 {
		f := s.stats.Longest[0]
		args = append(args, "longest", map[string]any{"url": f.URL, "seconds": f.For.Seconds(), "try": f.Try})
	}
	if _, hosts := s.hosts(); len(hosts) > 0 {
		held := make(map[string]float64)
		for _, h := range hosts {
			held[h.Origin] = s.held(h).Seconds()
		}
		args = append(args, "held_seconds", held)
	}
	v.event("progress", "progress", args...)
}

func (v jsonVoice) report(r report) {
	args := []any{
		"started", r.summary.Started, "seconds", r.summary.Elapsed.Seconds(),
		"urls", r.summary.Recorded(), "pages", r.summary.Pages, "redirects", r.summary.Redirects,
		"duplicates", r.summary.Duplicates, "near_duplicates", r.summary.Near, "need_scripts", r.summary.NeedScripts,
		"robots", r.summary.Robots, "bytes", r.summary.Bytes,
		"urls_per_second", r.rate(r.summary.Recorded()), "pages_per_second", r.rate(r.summary.Pages),
		"statuses", r.summary.Statuses, "content_types", r.summary.ContentTypes, "errors", r.summary.Errors,
		"not_followed", r.summary.NotFollowed, "opened", r.summary.Opened, "given_up", r.summary.GivenUp, "traps", r.summary.Traps,
		"first_error", r.summary.FirstError, "broken", r.summary.Broken, "slowest", r.summary.Slowest,
		"pending", r.summary.Pending, "over_limit", r.summary.OverLimit, "over_variants", r.summary.OverVariants,
		"stopped", r.summary.Stopped, "interrupted", r.summary.Interrupted, "finished", r.summary.Finished,
		"runs", r.summary.Runs, "records", r.records,
	}
	if r.summary.Visit > 1 {
		args = append(args, "visit", r.summary.Visit, "unchanged", r.summary.Unchanged, "changed", r.summary.Changed,
			"gone", r.summary.Gone, "new", r.summary.New, "bytes_saved", r.summary.BytesSaved)
	}
	v.event("report", "report", args...)
}
