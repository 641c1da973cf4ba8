package crawls

import (
	"context"
	"time"

	"github.com/weftcrawl/weft/internal/schedule"
)

// Schedule is a rule for a crawl's visits, with the next of them.
type Schedule struct {
	schedule.Rule
	Since   time.Time `json:"since"`   // it holds
	Planned time.Time `json:"planned"` // time of the next visit
	Next    time.Time `json:"next"`    // when that is due: Planned and a jitter
}

// Retry asks once more for URLs that have failed; the zero value for what weft crawl --retry-failed
// chooses.
type Retry struct {
	Error  string `json:"error,omitempty"`  // an error kind; "": any
	Status string `json:"status,omitempty"` // statuses, as 404,5xx; "": any
}

// Run is the work of a process.
type Run struct {
	Plan, Job string // a file of options; the folder of the job
	Next      bool   // the visit behind that of the job
	Retry     *Retry // nil: none
}

// Visits counts the visits of a crawl. The first is the crawl itself, any other one a recrawl.
type Visits struct {
	Begun int `json:"begun"` // the last one that has begun or is to begin
	Ended int `json:"ended"` // the last one that is whole

	Compared int `json:"compared"` // the last one whose changes are known, or given up
	Noticed  int `json:"noticed"`  // the last one of which the operator's command has had notice
}

// Visited is the progress of a job.
type Visited struct {
	Visit int  // the last one that has begun, from 1
	Whole bool // it has ended, at its last URL or its limit
}

// reached takes in how far the job of a crawl is whose process has ended.
func (v *Visits) reached(at Visited) {
	if at.Visit > 0 {
		v.Begun = at.Visit // it may have gone on with the one before that which was to begin
	}
	if at.Whole {
		v.Ended = at.Visit
	}
	if v.Ended == 1 { // there is none before
		v.Compared, v.Noticed = 1, 1
	}
}

// entry is a crawl with its process.
type entry struct {
	Crawl
	process process
	table   *schedule.Timetable // of Schedule; nil: none
	then    following
}

// rests reports whether nothing writes to the files of a crawl.
func (e *entry) rests() bool {
	return e.State.Ended() && !e.then.compares.busy && e.Visits.Compared >= e.Visits.Ended
}

// queue has the crawl wait for its turn, whatever became of it before.
func (e *entry) queue() {
	e.State, e.Stopping, e.Status, e.Message, e.Ended, e.Crashes = Queued, false, 0, "", time.Time{}, 0
}

// following is the state of things that follow the visits of a crawl.
type following struct {
	notify            schedule.Notice // the operator's
	compares, notices attempts
	size              size
	removed           bool // its files are, or will be soon
}

// mustCompare reports whether a visit is to be compared with the one before, and may be now.
func (w *following) mustCompare(v Visits, now time.Time) bool {
	return v.Compared < v.Ended && w.compares.may(now)
}

// compared takes in that a visit was compared with the one before. The operator's command, if there
// is one, has notice of it if they differ, or if an earlier visit waits for its notice.
func (w *following) compared(v *Visits, visit int, differ bool) {
	v.Compared = visit
	if w.notify.Command == nil || v.Noticed == visit-1 && !differ {
		v.Noticed = visit
	}
}

// mustNotice reports whether the operator's command is to have notice of a visit, and may now.
func (w *following) mustNotice(v Visits, now time.Time) bool {
	return v.Noticed < v.Compared && w.notify.Command != nil && w.notices.may(now)
}

// breakOff ends an attempt that is made, and reports whether there is one.
func (w *following) breakOff() bool {
	for _, a := range []*attempts{&w.compares, &w.notices} {
		if a.busy {
			a.quit()
			return true
		}
	}
	return false
}

// size is that of the files of a crawl.
type size struct {
	bytes int64 // as far as they were measured
	rests bool  // they are the same since
}

// attempts are those at something that follows a visit.
type attempts struct {
	busy  bool      // one is made
	quit  func()    // ends it
	tries int       // that have failed, in a row
	since time.Time // of these
	again time.Time // the next is made no earlier
}

func (a *attempts) may(now time.Time) bool { return !a.busy && !now.Before(a.again) }

// begin begins an attempt, which lasts as long as what is returned, and at most for a time.
func (a *attempts) begin(now time.Time, life context.Context, most time.Duration) context.Context {
	if a.busy = true; a.tries == 0 {
		a.since = now
	}
	life, a.quit = context.WithTimeout(life, most)
	return life
}

// follows reports whether a crawl follows a rule; nil: none.
func (e *entry) follows(r *schedule.Rule) bool {
	if r == nil || e.Schedule == nil {
		return r == nil && e.Schedule == nil
	}
	return *r == e.Schedule.Rule
}

// follow has a crawl follow a rule from now on; nil: none. Errors: those of the rule.
func (e *entry) follow(r *schedule.Rule, now time.Time) error {
	if r == nil {
		e.Schedule, e.table = nil, nil
		return nil
	}
	now = now.Round(0).UTC()
	table, err := r.Compile(e.Name, now)
	if err != nil {
		return err
	}
	e.table = table
	e.plan(&Schedule{Rule: *r, Since: now}, table.Next(now))
	return nil
}

// reschedule has a crawl follow its schedule again, as it was saved. Errors: those of the rule.
func (e *entry) reschedule(now time.Time) error {
	s := e.Schedule
	if s == nil {
		return nil
	}
	table, err := s.Compile(e.Name, s.Since)
	if err != nil {
		return err
	}
	e.table = table
	e.plan(s, table.Mend(s.Planned, now))
	return nil
}

// plan notes the time of the next visit. A Schedule is not changed, as others may have it.
func (e *entry) plan(s *Schedule, next time.Time) {
	after := *s
	after.Planned, after.Next = next, e.table.Due(next)
	e.Schedule = &after
}
