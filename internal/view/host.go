package view

import (
	"cmp"
	"fmt"
	"time"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/robots"
)

// hostStatus returns the status of a host. Of a crawl that does not run, Leased, Asking, Pace,
// Delay, Next, Resolving, BackOff and HeldBy are zero.
func hostStatus(now time.Time, p job.Plan, h frontier.OriginInfo, rules robots.Rules) inspect.HostStatus {
	ms := record.Milliseconds
	s := inspect.HostStatus{
		Host: h.Name, Done: h.Answered - h.Tried, Pending: h.Pending - h.Leased, InFlight: h.Leased,
		TookMS: ms(h.Took), Pace: h.Pace, DelayMS: ms(h.Delay), Asked: h.Asked, RobotsUntil: h.Robots.Until,
	}
	if asks, _ := rules.CrawlDelay(); s.DelayMS == 0 && asks <= frontier.MaxCrawlDelay {
		s.DelayMS = ms(asks)
	}
	s.Robots = robotsState(now, p, h)
	switch r := h.Robots; {
	case h.Capped:
		s.Waits = "it reached its limit"
	case s.Robots == "unreachable":
		s.Waits, s.WaitsUntil = "no robots.txt, "+r.Kind, r.Until
	case h.Asking:
		s.Waits = "its robots.txt is being fetched"
	case h.Starved:
		s.Waits = "memory for its robots.txt"
	case r.Tries > 0 && !r.Have && r.Until.After(now) && !h.Hold.After(r.Until):
		s.Waits, s.WaitsUntil = r.FailedWords(), r.Until
	default:
		s.Waits, s.WaitsUntil = waitsFor(now, h)
	}
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

// waitsFor says what keeps the server of a host from being requested, and until when, if that is
// known.
func waitsFor(now time.Time, h frontier.OriginInfo) (what string, until time.Time) {
	switch {
	case h.Trouble.GivenUp:
		return fmt.Sprintf("given up, its URLs are refused: %s", h.Trouble.Reason), h.Trouble.Until
	case h.Trouble.Until.After(now):
		return fmt.Sprintf("parked: no response %d times in a row, %s", h.Trouble.Failures, h.Trouble.Kind), h.Trouble.Until
	case h.Hold.After(now):
		return cmp.Or(h.BackOff, "overloaded"), h.Hold
	case h.Resolving:
		return "its address is being resolved", time.Time{}
	case h.Full: // as the numbers say
	case h.HeldBy == frontier.HeldByDomain:
		return "a turn at its registrable domain", h.Next
	case h.HeldBy == frontier.HeldByAddress:
		return "a turn at its address", h.Next
	case h.Ahead:
		return "nearer URLs, which --depth takes first", time.Time{}
	case h.Next.After(now):
		return "delay", h.Next
	}
	return "", time.Time{}
}
