package job

import "time"

// Clock is the reading of two clocks at one moment of a run: that of the job, by which its frontier
// lives, and the calendar of the machine, which may be set at any time. The job's clock started as
// the calendar. It goes on while a crawl runs, and between two runs by what the calendar says, but
// never back: so every wait takes as long as it should, or less, whatever becomes of the calendar.
// The zero Clock is that of a job that has not run.
type Clock struct {
	Job      time.Time `json:"job"`
	Calendar time.Time `json:"calendar"`
}

// Resume returns the time of the job when a run starts.
func (c Clock) Resume(calendar time.Time) time.Time {
	if c.Job.IsZero() {
		return calendar
	}
	return c.Job.Add(max(0, calendar.Sub(c.Calendar)))
}

// Date returns the time of the calendar for a time of the job; zero for the zero time.
func (c Clock) Date(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(c.Calendar.Sub(c.Job))
}
