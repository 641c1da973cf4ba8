package control

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/job"
	"github.com/weftcrawl/weft/internal/pattern"
	"github.com/weftcrawl/weft/seed"
)

// Order is a command for a running crawl.
type Order struct {
	words []string // as given
	do    action
}

// action carries out an order on the coordinator's loop, and returns what came of it, in lines.
type action = func(*engine.Coordinator) []string

// ErrOrder is returned when there is no such order.
var ErrOrder = errors.New("expected pause, resume, stop, set, exclude or add")

// ParseOrder reads an order:
//
//	pause           start no more fetches, until resume
//	resume
//	stop            end the crawl in good order, as Crawler.Drain does
//	set NAME=VALUE… for this run: concurrency=100, delay=2s, per-host=4, rate-limit=10;
//	                0 for the default; limit=1000, max-time=2h; 0 for none
//	exclude RE…     fetch no URL that matches, not even one that waits
//	add URL…        more seeds, with or without a scheme
//
// Later runs of the job keep exclusions and added seeds.
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

var orders = map[string]func(args []string) (action, error){
	"pause":   bare(pause),
	"resume":  bare(resume),
	"stop":    bare(stop),
	"set":     parseSettings,
	"exclude": parseExclusions,
	"add":     parseSeeds,
}

// bare returns an order without arguments.
func bare(do action) func([]string) (action, error) {
	return func(args []string) (action, error) {
		if len(args) > 0 {
			return nil, fmt.Errorf("%.64q, expected no argument", args[0])
		}
		return do, nil
	}
}

func pause(d *engine.Coordinator) []string {
	if d.PausedBy(engine.PausedByHand) {
		return []string{"already paused"}
	}
	d.Pause(engine.PausedByHand, true)
	return []string{fmt.Sprintf("paused; %d in flight", inFlight(d))}
}

func resume(d *engine.Coordinator) []string {
	if !d.PausedBy(engine.PausedByHand) && !d.PausedBy(engine.PausedSignedOut) {
		return []string{"not paused by hand"}
	}
	d.Pause(engine.PausedByHand, false)
	d.Pause(engine.PausedSignedOut, false)
	for _, reason := range d.Paused() {
		return []string{"still paused: " + reason}
	}
	return []string{"resumed"}
}

func stop(d *engine.Coordinator) []string {
	d.Drain()
	return []string{fmt.Sprintf("ending; %d in flight", inFlight(d))}
}

func inFlight(d *engine.Coordinator) int { return d.InFlight() }

// setting carries out a setting, and returns what it has set.
type setting = func(*engine.Coordinator) string

// pace is a setting that the frontier takes in at once.
func pace(said string, set func(*frontier.Settings)) setting {
	return func(d *engine.Coordinator) string {
		d.Steer(set)
		return said
	}
}

// whole reads the value of a setting that is a number from 0 on.
func whole(value, example string) (int, error) {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return 0, errors.New("expected a whole number, such as " + example)
	}
	return int(n), nil
}

// duration reads the value of a setting that is a time from 0 on.
func duration(value, example string) (time.Duration, error) {
	d, err := time.ParseDuration(value) // knows 0
	if err != nil || d < 0 {
		return 0, errors.New("expected a time, such as " + example)
	}
	return d, nil
}

// settings are the options that may be set while a crawl runs.
var settings = map[string]func(value string) (setting, error){
	"concurrency": func(value string) (setting, error) {
		n, err := whole(value, "100")
		if err != nil {
			return nil, err
		}
		return func(d *engine.Coordinator) string {
			got := d.SetConcurrency(n)
			said := fmt.Sprintf("concurrency=%d", got)
			if got < n {
				said += " (the most of this run)"
			}
			return said
		}, nil
	},
	"delay": func(value string) (setting, error) {
		delay, err := duration(value, "500ms or 2s")
		if err != nil {
			return nil, err
		}
		return pace("delay="+value, func(s *frontier.Settings) { s.Delay = delay }), nil
	},
	"per-host": func(value string) (setting, error) {
		n, err := whole(value, "4")
		if err != nil {
			return nil, err
		}
		return pace("per-host="+value, func(s *frontier.Settings) { s.PerHost = n }), nil
	},
	"limit": func(value string) (setting, error) {
		n, err := whole(value, "1000")
		if err != nil {
			return nil, err
		}
		return func(d *engine.Coordinator) string {
			if !d.SetLimit(n) {
				return "limit as it was: the crawl has several nodes"
			}
			return "limit=" + value
		}, nil
	},
	"max-time": func(value string) (setting, error) {
		most, err := duration(value, "30m or 2h")
		if err != nil {
			return nil, err
		}
		return func(d *engine.Coordinator) string {
			d.SetMaxTime(most)
			return "max-time=" + value
		}, nil
	},
	"rate-limit": func(value string) (setting, error) {
		rate, err := strconv.ParseFloat(value, 64)
		if err != nil || !(rate >= 0) || math.IsInf(rate, 0) {
			return nil, errors.New("expected a number, such as 10 or 0.5")
		}
		return pace("rate-limit="+value, func(s *frontier.Settings) { s.RateLimit = rate }), nil
	},
}

func parseSettings(args []string) (action, error) {
	if len(args) == 0 {
		return nil, errors.New("expected one such as delay=2s")
	}
	var all []setting
	for _, arg := range args {
		name, value, whole := strings.Cut(arg, "=")
		parse, ok := settings[name]
		if ok && !whole {
			return nil, fmt.Errorf("%s without a value, expected %[1]s=VALUE", name)
		}
		if !ok {
			return nil, fmt.Errorf("%.64q, expected concurrency=N, delay=D, limit=N, max-time=D, per-host=N or rate-limit=N", arg)
		}
		set, err := parse(value)
		if err != nil {
			return nil, fmt.Errorf("%s %.64q, %w", name, value, err)
		}
		all = append(all, set)
	}
	return func(d *engine.Coordinator) []string {
		var said []string
		for _, set := range all {
			said = append(said, set(d))
		}
		d.Dispatch()
		return []string{strings.Join(said, " ") + thisRun}
	}, nil
}

// mostPattern is the highest cost of an order's expressions together: about 5 MB.
const mostPattern = 100_000

func parseExclusions(args []string) (action, error) {
	if len(args) == 0 {
		return nil, errors.New("expected an expression such as '/private/'")
	}
	room := pattern.Room(mostPattern)
	if err := room.Take(args...); err != nil {
		return nil, err
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
	return func(d *engine.Coordinator) []string {
		var lines []string
		for _, re := range all {
			text := "already excluded: "
			if d.Exclude(re) {
				text = "excluded: "
			}
			lines = append(lines, text+re.String())
		}
		d.Dispatch()
		return lines
	}, nil
}

func parseSeeds(args []string) (action, error) {
	if len(args) == 0 {
		return nil, job.ErrNoSeed
	}
	var all []engine.Seed
	for _, arg := range args {
		s, err := seed.ReadListed(arg)
		if err != nil {
			return nil, err
		}
		all = append(all, engine.Seed{URL: s.URL, Written: s.Written, Guessed: s.Guessed})
	}
	return func(d *engine.Coordinator) []string {
		var lines []string
		for _, s := range all {
			lines = append(lines, added[d.AddSeed(s)]+s.URL.String())
		}
		d.Dispatch()
		return lines
	}, nil
}

var added = map[engine.SeedState]string{
	engine.SeedWaits: "will be added unless known: ",
	engine.SeedAdded: "added: ",
	engine.SeedKnown: "already known: ",
}

// OnNode has a node of a crawl carry out an order as soon as it can be steered, after those that it
// was given before, and calls done with what came of it, on the coordinator's loop. A crawl that
// ends may never call done.
func (o Order) OnNode(c *engine.Crawl, done func(lines []string)) error {
	return c.WhenReady(func(d *engine.Coordinator) {
		if d.Over() {
			return
		}
		lines := o.do(d)
		for i := range lines {
			lines[i] = strings.TrimSuffix(lines[i], thisRun)
		}
		done(lines)
	})
}

// thisRun ends the answer to an order that later runs do not keep. Nodes are given it again.
const thisRun = ", for this run"

// errStarting is returned when a crawl cannot be steered yet.
var errStarting = errors.New("the crawl is still reading its last run's state, try again in a moment")

// Notice is a message that is no problem: see weft.Hooks.OnWarning.
type Notice string

func (n Notice) Error() string { return string(n) }

// Notice tells it from a problem.
func (n Notice) Notice() {}

// carriedOut is the notice of an order.
type carriedOut struct{ order, answer string }

func (c carriedOut) Error() string { return "order " + c.order + ": " + c.answer }

// Notice tells it from a problem.
func (c carriedOut) Notice() {}

// Event returns it as a log has it.
func (c carriedOut) Event() (name string, keys []any) {
	return "order", []any{"order", c.order, "answer", c.answer}
}

// do carries out an order, and notes it, if note is not nil, on the coordinator's loop.
func do(ctx context.Context, c *engine.Crawl, o Order, note func(error)) ([]string, error) {
	if o.words[0] == "resume" {
		if err := c.ReadSession(); err != nil {
			return nil, err
		}
	}
	var lines []string // if Ask fails, the coordinator may yet write it, and refused
	refused := engine.ErrEnded
	err := c.Ask(ctx, func(d *engine.Coordinator) {
		switch {
		case !d.Ready():
			refused = errStarting
		case !d.Over():
			lines, refused = o.do(d), nil
			if note != nil {
				note(carriedOut{fmt.Sprintf("%.500s", strings.Join(o.words, " ")), fmt.Sprintf("%.500s", strings.Join(lines, "; "))})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return lines, refused
}
