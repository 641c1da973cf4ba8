package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"time"

	"github.com/netresearch/go-cron"
)

// Timetable is a checked rule. Its methods are pure: the same arguments have the same results.
type Timetable struct {
	crawl    string
	since    time.Time     // a time of every
	every    time.Duration // 0: by cron
	cron     cron.Schedule // of the clock on the wall, as if that were UTC
	zone     *time.Location
	jitter   time.Duration
	shortest time.Duration
	skip     bool
}

// Shortest returns the shortest time between two visits, the first of which is late by the jitter.
func (t *Timetable) Shortest() time.Duration { return t.shortest - t.jitter }

// Next returns the first time of the rule after a moment; zero: there is none.
func (t *Timetable) Next(after time.Time) time.Time {
	if t.cron == nil {
		past := after.Sub(t.since)
		n := past / t.every
		if past < 0 && past%t.every != 0 {
			n-- // the clock was set back: division rounds towards zero
		}
		return t.since.Add((n + 1) * t.every)
	}
	for wall := wallOf(after.In(t.zone)); ; {
		if wall = t.cron.Next(wall); wall.IsZero() {
			return time.Time{}
		}
		if at := moment(wall, t.zone); at.After(after) {
			return at
		}
	}
}

// wallOf returns what the clock on the wall shows, as a time of UTC.
func wallOf(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
}

// moment returns when the clock of a zone shows a time first, or when it skips it.
func moment(wall time.Time, zone *time.Location) time.Time {
	at := time.Date(wall.Year(), wall.Month(), wall.Day(), wall.Hour(), wall.Minute(), wall.Second(), 0, zone)
	begin, end := at.ZoneBounds()
	switch shown := wallOf(at); {
	case shown.After(wall):
		return begin.UTC()
	case shown.Before(wall):
		return end.UTC()
	}
	if begin.IsZero() {
		return at.UTC()
	}
	_, before := begin.Add(-time.Second).Zone()
	if earlier := wall.Add(-time.Duration(before) * time.Second); earlier.Before(at) && wallOf(earlier.In(zone)).Equal(wall) {
		return earlier
	}
	return at.UTC()
}

// Due returns when a visit of a time begins: at that time, and a jitter.
func (t *Timetable) Due(at time.Time) time.Time {
	if t.jitter <= 0 || at.IsZero() {
		return at
	}
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(t.crawl), uint64(at.Unix())))
	return at.Add(time.Duration(binary.BigEndian.Uint64(sum[:]) % uint64(t.jitter)).Truncate(time.Second))
}

// Mend returns the time that is next, given what was planned before the clock was set back, or by
// another. What is planned stays if it is the next time or the one behind it, so that no visit is
// made again.
func (t *Timetable) Mend(planned, now time.Time) time.Time {
	next := t.Next(now)
	if planned.IsZero() || planned.After(t.Next(next)) {
		return next
	}
	return planned
}

// Look decides at a moment: whether a visit begins, and the time of the next one, given the time
// that was planned. While busy, no visit can begin. What was due before up, nobody saw.
func (t *Timetable) Look(planned, now, up time.Time, busy bool) (next time.Time, begins bool) {
	due := t.Due(planned)
	switch {
	case now.Before(due):
		return planned, false
	case t.skip && (busy || due.Before(up)):
		return t.Next(now), false
	case busy:
		return planned, false // it follows
	}
	if next = t.Next(planned); !t.Due(next).After(now) {
		next = t.Next(now)
	}
	return next, true
}

// shortest returns the shortest time between two times of an expression, in a few years; 0: it has
// none.
func shortest(c cron.Schedule, since time.Time) (least time.Duration) {
	const most = 1500 // more than a day has minutes
	at := c.Next(wallOf(since))
	last := since.AddDate(5, 0, 0)
	for range most {
		next := c.Next(at)
		if at.IsZero() || next.IsZero() {
			break
		}
		if gap := next.Sub(at); least == 0 || gap < least {
			least = gap
		}
		if at = next; at.After(last) {
			break
		}
	}
	return least
}
