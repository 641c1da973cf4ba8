package weft

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/frontier"
	"github.com/weftcrawl/weft/weburl"
)

// Order is what a crawl that runs can be told to do: see Job.Do.
type Order struct {
	words []string             // as given
	do    func(*desk) []string // returns what has come of it, in words
}

// ErrOrder is what an error of ParseOrder is when there is no such order.
var ErrOrder = errors.New("expected pause, resume, stop, set, exclude or add")

// ParseOrder reads an order:
//
//	pause           begin no more URLs, until resume
//	resume
//	stop            end the crawl in good order, as Crawler.Drain does
//	set NAME=VALUE… for this run: delay=2s, per-host=4, rate-limit=10; 0 for the default
//	exclude RE…     no URLs that match, those that wait neither
//	add URL…        more seeds
//
// What is excluded and added is kept: it holds for later runs of the job, too.
func ParseOrder(words ...string) (Order, error) {
	name, args := "", []string(nil)
	if len(words) > 0 {
		name, args = words[0], words[1:]
	}
	parse, ok := orders[name]
	if !ok {
		return Order{}, fmt.Errorf("order %.64q, %w", name, ErrOrder)
	}
	do, err := parse(args)
	if err != nil {
		return Order{}, fmt.Errorf("%s: %w", name, err)
	}
	return Order{words, do}, nil
}

var orders = map[string]func(args []string) (func(*desk) []string, error){
	"pause":   bare((*desk).pauseByHand),
	"resume":  bare((*desk).resumeByHand),
	"stop":    bare((*desk).stopByHand),
	"set":     parseSettings,
	"exclude": parseExclusions,
	"add":     parseSeeds,
}

// bare is an order without arguments.
func bare(do func(*desk) []string) func([]string) (func(*desk) []string, error) {
	return func(args []string) (func(*desk) []string, error) {
		if len(args) > 0 {
			return nil, fmt.Errorf("%.64q, expected no argument", args[0])
		}
		return do, nil
	}
}

func (d *desk) pauseByHand() []string {
	if d.paused[pausedByHand] {
		return []string{"it is paused already"}
	}
	d.pause(pausedByHand, true)
	return []string{fmt.Sprintf("paused; %d under way", d.frontier.Stats().Leased)}
}

func (d *desk) resumeByHand() []string {
	if !d.paused[pausedByHand] {
		return []string{"it was not told to pause"}
	}
	d.pause(pausedByHand, false)
	for reason := range d.paused {
		return []string{"it stays paused: " + reason}
	}
	return []string{"it goes on"}
}

func (d *desk) stopByHand() []string {
	d.drain()
	return []string{fmt.Sprintf("it ends; %d under way", d.frontier.Stats().Leased)}
}

// settings are what may be set while a crawl runs: the frontier takes them in at once.
var settings = map[string]func(value string) (func(*desk), error){
	"delay": func(value string) (func(*desk), error) {
		delay, err := time.ParseDuration(value)
		if value == "0" {
			delay, err = 0, nil
		}
		if err != nil || delay < 0 {
			return nil, errors.New("expected a time, such as 500ms or 2s")
		}
		return steer(func(s *frontier.Settings) { s.Delay = delay }), nil
	},
	"per-host": func(value string) (func(*desk), error) {
		n, err := strconv.ParseUint(value, 10, 31)
		if err != nil {
			return nil, errors.New("expected a whole number, such as 4")
		}
		return steer(func(s *frontier.Settings) { s.PerHost = int(n) }), nil
	},
	"rate-limit": func(value string) (func(*desk), error) {
		rate, err := strconv.ParseFloat(value, 64)
		if err != nil || !(rate >= 0) || math.IsInf(rate, 0) {
			return nil, errors.New("expected a number, such as 10 or 0.5")
		}
		return steer(func(s *frontier.Settings) { s.RateLimit = rate }), nil
	},
}

// steer returns what changes the settings of the frontier.
func steer(change func(*frontier.Settings)) func(*desk) {
	return func(d *desk) {
		s := d.frontier.View().Settings()
		change(&s)
		d.frontier.Steer(d.loop.Now(), s)
	}
}

func parseSettings(args []string) (func(*desk) []string, error) {
	if len(args) == 0 {
		return nil, errors.New("expected one such as delay=2s")
	}
	var all []func(*desk)
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		parse, ok := settings[name]
		if !ok {
			return nil, fmt.Errorf("%.64q, expected delay=D, per-host=N or rate-limit=N", arg)
		}
		set, err := parse(value)
		if err != nil {
			return nil, fmt.Errorf("%s %.64q, %w", name, value, err)
		}
		all = append(all, set)
	}
	return func(d *desk) []string {
		for _, set := range all {
			set(d)
		}
		d.dispatch()
		return []string{strings.Join(args, " ") + ", for this run"}
	}, nil
}

func parseExclusions(args []string) (func(*desk) []string, error) {
	if len(args) == 0 {
		return nil, errors.New("expected an expression such as '/private/'")
	}
	var all []*regexp.Regexp
	for _, arg := range args {
		re, err := regexp.Compile(arg)
		var e *syntax.Error
		switch {
		case errors.As(err, &e):
			return nil, fmt.Errorf("%.64q: %s, expected an expression such as '/private/'", arg, e.Code)
		case err != nil:
			return nil, err
		case arg == "":
			return nil, errors.New("empty, expected an expression such as '/private/'")
		}
		all = append(all, re)
	}
	return func(d *desk) []string {
		var said []string
		for _, re := range all {
			said = append(said, d.exclude(re))
		}
		d.frontier.RefuseBy(d.excluded)
		d.dispatch()
		return said
	}, nil
}

// exclude has no URL fetched that an expression matches, now and in later runs.
func (d *desk) exclude(re *regexp.Regexp) string {
	p := &d.job.plan
	if slices.Contains(p.Exclude, re.String()) || slices.Contains(p.Late, re.String()) {
		return "excluded already: " + re.String()
	}
	p.Late = append(p.Late, re.String())
	d.cfg.late = append(d.cfg.late, re)
	for _, f := range d.fetchers {
		_ = f.inbox.Post(func() { // a fetcher that has ended needs no exclusions
			f.bounds.exclude = append(slices.Clip(f.bounds.exclude), re)
		})
	}
	d.keepPlan()
	return "excluded: " + re.String()
}

func parseSeeds(args []string) (func(*desk) []string, error) {
	if len(args) == 0 {
		return nil, errNoSeed
	}
	var all []weburl.URL
	for _, arg := range args {
		u, err := ParseSeed(arg)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return func(d *desk) []string {
		var said []string
		for _, u := range all {
			said = append(said, d.add(u))
		}
		d.dispatch()
		return said
	}, nil
}

// add makes a URL one of the seeds.
func (d *desk) add(u weburl.URL) string {
	p, s := &d.job.plan, u.String()
	if !slices.Contains(p.Seeds, s) && !slices.Contains(p.Added, s) {
		p.Added = append(p.Added, s)
		d.keepPlan()
	}
	u = d.cfg.Canon.Apply(u)
	d.give([]weburl.URL{u})
	said := "to be added, unless it is known: " + s
	d.arrive(none, d.begins(u), func() {
		said = "added: " + s
		if !d.begin(u) {
			said = "known already: " + s
		}
	})
	return said
}

// keepPlan saves the plan, which has changed.
func (d *desk) keepPlan() {
	d.ledger.open.state.Set(notePlan, d.job.plan.encode())
	d.note()
}

// errStarting is that a crawl cannot be steered yet.
var errStarting = errors.New("it still reads what its last run has left, ask again in a moment")

// do carries out an order.
func (c *Crawler) do(ctx context.Context, o Order) ([]string, error) {
	var said []string // if ask fails, the desk may yet write it, and refused
	refused := errEnded
	err := c.ask(ctx, func(d *desk) {
		switch {
		case !d.ready:
			refused = errStarting
		case !d.over.IsSet():
			said, refused = o.do(d), nil
		}
	})
	if err != nil {
		return nil, err
	}
	return said, refused
}
