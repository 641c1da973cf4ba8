package proof

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/webtest"
)

// Task is a crawl to run and judge.
type Task struct {
	Command     string         // the weft command
	Dir         string         // an existing folder for the job
	Web         webtest.Config // see Web
	Delay       time.Duration  // for hosts, domains and addresses
	Patience    time.Duration  // with one fetch
	Concurrency int
	Variants    int      // URLs of a path to follow, which ends calendars
	Memory      int      // budget of the command in bytes; 0: its default
	Kills       int      // on the way, at equal shares of the requests
	Flags       []string // additional ones of the command
	Logf        func(format string, args ...any)
}

// Result is the outcome of a Task.
type Result struct {
	Task
	Bound   webtest.Bound
	Verdict webtest.Verdict
	Records Records
	Runs    []Run
	Samples []Sample
	Servers time.Duration // CPU time of the servers
	Lag     time.Duration // see webtest.Running

	traps int // hosts with an endless calendar
}

// Run is a run of the command.
type Run struct {
	Took     time.Duration
	CPU      time.Duration
	Requests int // of all runs, at its end
	Killed   bool
}

// Wall returns the time of all runs.
func (r *Result) Wall() (d time.Duration) {
	for _, run := range r.Runs {
		d += run.Took
	}
	return d
}

// CPU returns the CPU time of all runs.
func (r *Result) CPU() (d time.Duration) {
	for _, run := range r.Runs {
		d += run.CPU
	}
	return d
}

// Crawl runs a crawl and judges it. The error is one of running or judging; mistakes of the command
// are in the Result.
func Crawl(ctx context.Context, task Task) (r *Result, err error) {
	r = &Result{Task: task}
	served, err := webtest.Run(task.Web, webtest.Addresses{Rule: &webtest.Rule{Delay: task.Delay, Patience: task.Patience, Lag: lag, Forgets: forgets}})
	if err != nil {
		return nil, err
	}
	defer func() {
		err = errors.Join(err, served.Close())
		r.Lag = served.Lag
	}()
	r.traps = served.Web.Traps()
	r.Bound = served.Web.Bound(policy(), task.costs())
	task.Logf("%d hosts, %d URLs, %d requests; bound %v", served.Web.Hosts(), r.Bound.URLs, r.Bound.Requests, r.Bound.Longest().Round(time.Second))
	own := process.CPU()
	for n := 0; ; n++ {
		kill := 0 // requests
		if n < task.Kills {
			kill = r.Bound.Requests * (n + 1) / (task.Kills + 1)
		}
		run, err := r.run(ctx, served, kill)
		if err != nil {
			return r, err
		}
		r.Runs = append(r.Runs, run)
		task.Logf("run %d: %v, %d requests, killed: %v", n+1, run.Took.Round(time.Second), run.Requests, run.Killed)
		if !run.Killed {
			break
		}
	}
	r.Servers = process.CPU() - own
	r.Verdict = served.Referee.Verdict()
	r.Records, err = compare(filepath.Join(task.Dir, "job", "pages.jsonl"), served.Web)
	return r, err
}

// settle is the time after a kill for which the servers may still read requests sent before it.
const settle = time.Second

// run runs the command until it ends; or until all runs together have made kill requests, and then
// kills it; 0: never.
func (r *Result) run(ctx context.Context, served *webtest.Running, kill int) (Run, error) {
	flags := r.Flags
	if r.Memory > 0 {
		flags = append([]string{"--memory", strconv.Itoa(r.Memory)}, flags...)
	}
	args := append([]string{"crawl", "--quiet", "--job", "job", "--scope", "any", "--allow-private",
		"--concurrency", strconv.Itoa(r.Concurrency), "--delay", r.Delay.String(), "--timeout", r.Patience.String(), "--connect-timeout", dial.String(),
		"--retries", strconv.Itoa(retries), "--max-variants", strconv.Itoa(r.Variants), "--dns", served.DNS.Addr()}, flags...)
	began := time.Now()
	served.Referee.Restarted()
	p, err := process.Start(ctx, process.Options{Dir: r.Dir}, r.Command, append(args, served.Web.Home(0))...)
	if err != nil {
		return Run{}, err
	}
	killed := r.watch(p, served, kill)
	ended := time.Now()
	if killed {
		p.Kill() // it may have just ended, which is as good
		served.Referee.Killed(time.Now())
		time.Sleep(settle)
	} else if err := p.Wait(); err != nil {
		return Run{}, fmt.Errorf("weft: %w", err)
	}
	return Run{Took: ended.Sub(began), CPU: p.CPU(), Requests: served.Referee.Requests(), Killed: killed}, nil
}

// watch takes samples until the command ends, or must be killed.
func (r *Result) watch(p *process.Process, served *webtest.Running, kill int) (killed bool) {
	before := r.Wall()
	began := time.Now()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	next := began
	for {
		select {
		case <-p.Ended():
			return false
		case now := <-tick.C:
			requests := served.Referee.Requests()
			if now.After(next) {
				next = next.Add(time.Second)
				if s, err := sample(p.PID()); err == nil { // otherwise it has just ended
					s.At, s.Requests = before+now.Sub(began), requests
					r.Samples = append(r.Samples, s)
				}
			}
			if kill > 0 && requests >= kill {
				return true
			}
		}
	}
}
