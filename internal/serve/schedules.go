package serve

import (
	"fmt"
	"time"

	"github.com/weftcrawl/weft/internal/crawls"
	"github.com/weftcrawl/weft/internal/schedule"
)

// Schedule is the rule of a crawl's visits.
type Schedule struct {
	Every  string `json:"every,omitempty" maxLength:"100" doc:"the time from one visit to the next; expected unless cron is given" example:"6h"`
	Cron   string `json:"cron,omitempty" maxLength:"100" doc:"minute, hour, day of the month, month, day of the week; or @daily and the like" example:"0 3 * * 1-5"`
	Zone   string `json:"zone,omitempty" maxLength:"100" doc:"the time zone of cron; default: UTC" example:"Europe/Berlin"`
	Jitter string `json:"jitter,omitempty" maxLength:"100" doc:"the most by which a visit is delayed; each visit has a delay of its own" example:"10m"`
	Missed string `json:"missed,omitempty" enum:"once,skip" doc:"once (default): one of the missed visits is made up for; skip: none"`
}

// Scheduled is a schedule with what follows from it.
type Scheduled struct {
	Schedule
	Next time.Time `json:"next" doc:"when the next visit is due"`
}

func scheduled(s *crawls.Schedule) *Scheduled {
	if s == nil {
		return nil
	}
	return &Scheduled{Schedule{s.Every, s.Cron, s.Zone, s.Jitter, s.Missed}, s.Next}
}

// shortest is the shortest time between visits of a crawl of a stranger.
const shortest = time.Hour

// rule checks a schedule that somebody asks for; nil: none.
func (s *Schedule) rule(by *Token) (*schedule.Rule, error) {
	if s == nil {
		return nil, nil
	}
	r := schedule.Rule{Every: s.Every, Cron: s.Cron, Zone: s.Zone, Jitter: s.Jitter, Missed: s.Missed}
	t, err := r.Compile("", time.Now())
	if err == nil && by != operator && t.Shortest() < shortest {
		err = fmt.Errorf("visits %s apart, expected at least %s with a token", t.Shortest(), shortest)
	}
	if err != nil {
		return nil, fmt.Errorf("schedule: %w", err)
	}
	return &r, nil
}
