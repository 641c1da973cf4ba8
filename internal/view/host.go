package view

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/robots"
)

// hostStatus returns the status of a host. Of a crawl that does not run, Leased, Asking, Pace,
// Delay, Next, Resolving, BackOff and WaitsFor are zero.
func hostStatus(now time.Time, p job.Plan, h frontier.OriginInfo, rules robots.Rules) inspect.HostStatus {
	ms := record.Milliseconds
	s := inspect.HostStatus{
		Host: h.Name, Done: h.Answered - h.Tried, Errors: h.Errors, Pending: h.Pending - h.Leased, InFlight: h.Leased,
		TookMS: ms(h.Took), Pace: h.Pace, DelayMS: ms(h.Delay), Asked: h.Asked, RobotsUntil: h.Robots.Until,
	}
	if asks, _ := rules.CrawlDelay(); s.DelayMS == 0 && asks <= frontier.MaxCrawlDelay {
		s.DelayMS = ms(asks)
	}
	s.Robots = robotsState(now, p, h)
	_, s.Waits, s.WaitsUntil = heldBy(now, s.Robots, h)
	return s
}

func robotsState(now time.Time, p job.Plan, h frontier.OriginInfo) string {
	switch r := h.Robots; {
	case p.NoRobots:
		return "off"
	case h.Asking:
		return "asked"
	case r.Shut && r.Until.After(now):
		return "unreachable"
	case r.Have:
		return "known"
	}
	return "unknown"
}

// heldBy says what keeps a host from being requested, in words if the numbers do not say it, and
// until when, if that is known.
func heldBy(now time.Time, robots string, h frontier.OriginInfo) (reason inspect.Reason, words string, until time.Time) {
	never := time.Time{}
	switch r := h.Robots; {
	case h.Capped:
		return inspect.ByLimit, "it reached its limit", never
	case robots == "unreachable":
		return inspect.ByRobots, "no robots.txt, " + r.Kind, r.Until
	case h.Asking:
		return inspect.ByRobots, "its robots.txt is being fetched", never
	case h.Starved:
		return inspect.ByMemory, "memory for its robots.txt", never
	case r.Tries > 0 && !r.Have && r.Until.After(now) && !h.BackOffEnd.After(r.Until):
		return inspect.ByRobots, r.FailedWords(), r.Until
	}
	return waitsFor(now, h)
}

// waitsFor is heldBy but for limits and robots.txt: what keeps its server from being requested.
func waitsFor(now time.Time, h frontier.OriginInfo) (reason inspect.Reason, words string, until time.Time) {
	never := time.Time{}
	switch {
	case h.Trouble.GivenUp:
		return inspect.BySilence, fmt.Sprintf("given up, its URLs are refused: %s", h.Trouble.Reason), h.Trouble.Until
	case h.Trouble.Until.After(now):
		return inspect.BySilence, fmt.Sprintf("parked: no response %d times in a row, %s", h.Trouble.Failures, h.Trouble.Kind), h.Trouble.Until
	case h.BackOffEnd.After(now):
		return inspect.ByBackOff, cmp.Or(h.BackOff, "overloaded"), h.BackOffEnd
	case h.Resolving:
		return inspect.ByResolution, "its address is being resolved", never
	case h.Full:
		return inspect.ByRequests, "", never
	case h.WaitsFor == frontier.BlockedByDomain:
		return inspect.ByDomain, "a turn at its registrable domain", h.Next
	case h.WaitsFor == frontier.BlockedByAddress:
		return inspect.ByAddress, "a turn at its address", h.Next
	case h.Ahead:
		return inspect.ByDepth, "nearer URLs, which --depth takes first", never
	case h.Next.After(now):
		return inspect.ByPace, "delay", h.Next
	}
	return inspect.ByNothing, "", never
}

// waiting counts the hosts that wait, by what they wait for. Of a crawl that runs.
func waiting(d *engine.Coordinator, p job.Plan) []inspect.Waiting {
	now, clock := time.Now(), d.Clock()
	by := make(map[inspect.Reason]*inspect.Waiting)
	for h := range d.Frontier().Waiting(clock.Job) {
		dateInfo(clock, &h)
		reason, _, until := heldBy(now, robotsState(now, p, h), h)
		w := by[reason]
		if w == nil {
			w = &inspect.Waiting{For: reason, Example: h.Name, Until: until}
			by[reason] = w
		}
		w.Hosts++
		w.Pending += h.Pending - h.Leased
		if until.Before(w.Until) {
			w.Until = until
		}
	}
	all := make([]inspect.Waiting, 0, len(by))
	for _, w := range by {
		all = append(all, *w)
	}
	slices.SortFunc(all, func(a, b inspect.Waiting) int {
		return cmp.Or(cmp.Compare(b.Pending, a.Pending), cmp.Compare(a.For, b.For))
	})
	return all
}

// dateInfo turns times of the job into those of the calendar.
func dateInfo(c job.Clock, h *frontier.OriginInfo) {
	for _, t := range []*time.Time{
		&h.Asked, &h.BackOffEnd, &h.Next, &h.Trouble.Since, &h.Trouble.Until, &h.Robots.Until,
	} {
		*t = c.Date(*t)
	}
}
