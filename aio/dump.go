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
	Parent string // name of the task whose group it is in; empty for the first task
	State  string // new, ready, running, parked
	Waits  string // what for
	Since  time.Time
}

// Tasks returns all tasks that have not ended, oldest first. It is called on the
// loop; from elsewhere, through a Handle.
func (l *Loop) Tasks() []TaskInfo {
	infos := make([]TaskInfo, 0, l.tasks.count)
	for t := l.tasks.newest; t != nil; t = t.older {
		info := TaskInfo{ID: t.id, Name: t.name, State: t.state.String(), Waits: t.waits, Since: l.timeOf(t.since)}
		if t.parent != nil {
			info.Parent = t.parent.name
		}
		if t.state == taskRunning {
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
		fmt.Fprintf(tw, "%d\t%s\t%s\t%s\t%s\t%v\n", t.ID, t.Name, t.Parent, t.State, t.Waits, l.timeOf(now).Sub(t.Since))
	}
	return tw.Flush()
}

// Stats are figures of a loop since it began.
type Stats struct {
	Turns       uint64
	Tasks       int           // that have not ended
	Descriptors int           // open, of this loop
	Timers      int           // pending, cancelled ones that are not swept out among them
	Lag         time.Duration // how late timers fire: a mean in which the last ten or so count
	MaxLag      time.Duration
}

// Stats returns the loop's figures. It is called on the loop.
func (l *Loop) Stats() Stats {
	s := l.stats
	s.Turns, s.Tasks, s.Descriptors, s.Timers = l.turns, l.tasks.count, l.fds.n, len(l.timers.heap)
	return s
}

func (s *Stats) lag(late time.Duration) {
	s.Lag += (late - s.Lag) / 8
	s.MaxLag = max(s.MaxLag, late)
}

// ReportKind says what a Report is about.
type ReportKind uint8

const (
	// ReportSlowTurn: a turn has held the loop for longer than Options.SlowTurn.
	// It comes twice: from the watchdog while the turn lasts (Ongoing), and from
	// the loop when it has ended.
	ReportSlowTurn ReportKind = iota
	// ReportIgnoresCancel: a task has gone on through 1,000 cancelled waits in a row.
	ReportIgnoresCancel
	// ReportLeak: a connection or listener was still open when the loop ended.
	ReportLeak
)

// Report is something about a loop that a maintainer should know.
type Report struct {
	Kind    ReportKind
	Task    string        // its name, if one is to blame
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

// TraceKind is a step in the life of a task.
type TraceKind uint8

const (
	TraceStart TraceKind = iota // made ready for its first step
	TraceWait                   // suspended; What says what for
	TraceWake                   // made ready again; What says what it waited for
	TraceEnd                    // its result is there
)

func (k TraceKind) String() string { return [...]string{"start", "wait", "wake", "end"}[k] }

// TraceEvent is what Options.Trace is called with.
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
