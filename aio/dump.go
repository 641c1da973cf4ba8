package aio

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"
)

// TaskInfo is one line of a task dump.
type TaskInfo struct {
	ID     uint64 // in the order in which tasks were started
	Name   string
	Parent string // the task whose group it is in; empty for the first task
	State  string // new, ready, running, parked
	Waits  string // the reason, in words
	Since  time.Time
}

// Tasks returns all tasks that have not ended, oldest first. Call it on the loop; from elsewhere,
// through a Handle.
func (l *Loop) Tasks() []TaskInfo {
	infos := make([]TaskInfo, 0, l.tasks.count)
	for t := l.tasks.newest; t != nil; t = t.older {
		info := TaskInfo{ID: t.id, Name: t.name, State: t.status.state.String(), Waits: t.status.waits, Since: l.time.at(t.status.since)}
		if t.group != nil {
			info.Parent = t.group.task.name
		}
		if t.status.state == taskRunning {
			info.Waits = ""
		}
		infos = append(infos, info)
	}
	slices.Reverse(infos) // the list is newest first
	return infos
}

// Dump writes Tasks as a table.
func (l *Loop) Dump(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "id\ttask\tparent\tstate\twaits for\tsince")
	now := l.clock()
	for _, t := range l.Tasks() {
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\t%v\n", t.ID, t.Name, t.Parent, t.State, t.Waits, l.time.at(now).Sub(t.Since))
	}
	return tw.Flush()
}

// Stats holds figures of a loop since it started.
type Stats struct {
	Turns       uint64
	Tasks       int           // that have not ended
	Descriptors int           // open, of this loop
	Timers      int           // pending, including cancelled ones not yet swept out
	Lag         time.Duration // lateness of timers: a mean of roughly the last ten
	MaxLag      time.Duration
}

// Stats returns the loop's figures. Call it on the loop.
func (l *Loop) Stats() Stats {
	s := l.stats
	s.Turns, s.Tasks, s.Descriptors, s.Timers = l.turns, l.tasks.count, l.fds.n, len(l.timers.heap)
	return s
}

func (s *Stats) lag(late time.Duration) {
	s.Lag += (late - s.Lag) / 8
	s.MaxLag = max(s.MaxLag, late)
}

// ReportKind is the subject of a Report.
type ReportKind uint8

const (
	// ReportSlowTurn: a turn has held the loop for longer than Options.SlowTurn. It comes twice:
	// from the watchdog during the turn (Ongoing), and from the loop after it.
	ReportSlowTurn ReportKind = iota
	// ReportIgnoresCancel: a task has continued through 1,000 cancelled waits in a row.
	ReportIgnoresCancel
	// ReportLeak: a connection or listener was still open when the loop ended.
	ReportLeak
)

// Report is an event in a loop that a maintainer should know about.
type Report struct {
	Kind    ReportKind
	Task    string        // the responsible task, if there is one
	For     time.Duration // SlowTurn: how long so far, or in all
	Ongoing bool          // SlowTurn: it has not ended
	What    string        // Leak: the address
}

func (r Report) String() string {
	switch r.Kind {
	case ReportSlowTurn:
		if r.Ongoing {
			return fmt.Sprintf("aio: %s has held the loop for %v and still does", r.who(), r.For)
		}
		return fmt.Sprintf("aio: %s held the loop for %v", r.who(), r.For)
	case ReportIgnoresCancel:
		return fmt.Sprintf("aio: task %q is canceled and has ignored it in %d waits", r.Task, ignoreLimit)
	case ReportLeak:
		return fmt.Sprintf("aio: %s was not closed before its loop ended", r.What)
	}
	return "aio: report of unknown kind"
}

func (r Report) who() string {
	if r.Task == "" {
		return "a callback"
	}
	return fmt.Sprintf("task %q", r.Task)
}

func (l *Loop) report(r Report) {
	if l.opt.Report != nil {
		l.opt.Report(r)
	}
}

// TraceKind is the kind of a step in the life of a task.
type TraceKind uint8

const (
	TraceStart TraceKind = iota // made ready for its first step
	TraceWait                   // suspended; What is the reason
	TraceWake                   // made ready again; What is the reason it waited
	TraceEnd                    // it has its result
)

func (k TraceKind) String() string { return [...]string{"start", "wait", "wake", "end"}[k] }

// TraceEvent is the argument of Options.Trace.
type TraceEvent struct {
	Kind TraceKind
	At   time.Time
	Task string
	What string
}

func (l *Loop) trace(k TraceKind, t *Task, what string) {
	if l.opt.Trace != nil {
		l.opt.Trace(TraceEvent{Kind: k, At: l.Now(), Task: t.name, What: what})
	}
}
