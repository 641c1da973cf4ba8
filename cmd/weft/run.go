package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/scrape"
)

// crawler is a crawl, of this process or of several machines.
type crawler interface {
	Run(context.Context) (weft.Summary, error)
	Drain()
	Stats() weft.Stats
	Figures(context.Context) (weft.Figures, error)
	Earlier() weft.Summary
	Job() string
}

// start is weft.New, or joins a crawl of several machines; it waits while the disk is full. Until
// it returns, a signal ends the process; later ones are left in con.signals for handleSignals.
func (con *console) start(o weft.Options, out *output, open opener) (crawler, error) {
	con.signals = make(chan os.Signal, 2)
	signals := endingSignals()
	rotates := out.rotates()
	if rotates {
		signals = slices.DeleteFunc(signals, func(s os.Signal) bool { return s == syscall.SIGHUP })
		out.onHangups(con)
	}
	signal.Notify(con.signals, signals...)
	if came := releaseHangups(); !rotates && len(came) > 0 { // else the file is new anyway
		con.signals <- came[0]
	}
	started := make(chan struct{}) // unbuffered: once it is received, no signal is
	go func() {
		select {
		case <-started:
		case <-con.signals:
			con.warn("interrupted before the crawl started")
			out.discard()
			os.Exit(exitInterrupted)
		}
	}()
	c, err := open(o)
	started <- struct{}{}
	if err != nil {
		signal.Stop(con.signals)
		out.discard()
	}
	return c, err
}

// crawl runs c, whose records go to out, prints progress and the report, and returns the exit
// status as an error. For a finished job it prints the report only, unless there may be more to do.
func (con *console) crawl(c crawler, out *output, more bool) (weft.Summary, error) {
	manager := newNotifier()
	manager.tell("READY=1")
	defer manager.tell("STOPPING=1")
	earlier := c.Earlier()
	if earlier.Finished && !more {
		out.discard()
		failed := ""
		if len(earlier.Broken) > 0 {
			failed = "--retry-failed " + c.Job() + " asks again for what failed, "
		}
		con.say(c.Job() + " is finished; " + con.job.command + " --update " + c.Job() + " recrawls it, " + failed +
			"--fresh starts over, --amend adds URLs")
		r := report{summary: earlier, job: c.Job(), records: records(c.Job(), &output{})}
		err := con.end(r, false, nil)
		if c, ok := c.(*weft.Crawler); ok { // weft check opens the job again
			err = cmp.Or(err, c.Close())
		}
		return earlier, err
	}
	if err := out.open(earlier.Runs > 0); err != nil {
		return weft.Summary{}, &exit{exitError, fmt.Errorf("--output %.128q: %w", out.file.Name(), reason(err))}
	}
	con.announce(c.Job(), earlier)
	signal.Ignore(syscall.SIGPIPE) // the crawl continues if the reader of its messages leaves
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan struct{})
	interrupted := con.handleSignals(c, stop, ended, manager)
	defer manager.follow(c)()
	over := con.watch(c)
	con.monitor.watch(con, c)
	s, err := c.Run(ctx)
	close(ended)
	over()
	err = errors.Join(err, out.close())
	if interrupted.Load() && onlyCanceled(err) {
		err = nil
	}
	_, node := c.(interface{ Began() bool })
	r := report{summary: s, job: c.Job(), records: records(c.Job(), out), failed: err != nil, node: node}
	return s, con.end(r, interrupted.Load(), err)
}

// announce says that a job is resumed or recrawled.
func (con *console) announce(job string, earlier weft.Summary) {
	progress := fmt.Sprintf("%s done, %s left", plural(earlier.Recorded(), "URL"), count(earlier.Pending))
	visit := max(1, earlier.Visit)
	switch {
	case con.job.flag == "retry-failed":
		con.say(fmt.Sprintf("%s: asking again for what failed: %s", job, progress))
	case earlier.Runs > 0 && visit > 1:
		con.say(fmt.Sprintf("%s: resuming visit %d: %s", job, visit, progress))
	case earlier.Runs > 0:
		con.say(fmt.Sprintf("%s: resuming: %s", job, progress))
	case visit > 1:
		con.say(fmt.Sprintf("%s: recrawling: visit %d", job, visit))
	}
}

// end prints the report, and returns the exit status. A crawl whose seeds are not those of its
// job fetched nothing: it has no report.
func (con *console) end(s report, interrupted bool, err error) error {
	foreign, unread := errors.Is(err, weft.ErrPlan), errors.Is(err, syscall.EPIPE)
	var bad *badLine
	if !con.quiet && !con.forCheck && !foreign && (!unread || s.job != "") {
		con.report(s)
		if text := incomplete(s.summary.ItemCounts); text != "" {
			con.warn(text)
		}
	}
	switch {
	case unread:
		err = &exit{exitPipe, nil}
	case foreign, errors.As(err, &bad):
		err = &exit{exitUsage, err}
	case err != nil:
		err = &exit{exitError, err}
	case interrupted, s.summary.Interrupted: // by a signal, or by weft ctl
		err = &exit{exitInterrupted, nil}
	case s.fetchedNone() && !con.forCheck:
		err = &exit{exitError, fmt.Errorf("no seed could be fetched: %s", con.noneFetched(s.summary))}
	case s.summary.Stopped != "":
		err = &exit{exitLimit, nil}
	default:
		err = nil
	}
	var e *exit
	if errors.As(err, &e) && e.err != nil {
		for _, one := range parts(e.err) {
			con.failed(byFlag(one, con.job))
		}
		e.err = nil
	}
	return err
}

// noneFetched says why a crawl has fetched nothing, and what may be done about it.
func (con *console) noneFetched(s weft.Summary) string {
	switch {
	case con.forOthers && strings.Contains(s.FirstError, "blocked-address: "):
		return s.FirstError + ": " + scrape.PrivateHint
	case s.FirstError != "":
		return advised(s.FirstError)
	}
	why := "none has a 2xx status"
	for i, status := range slices.Sorted(maps.Keys(s.Statuses)) {
		why += []string{": ", ", "}[min(i, 1)] + strconv.Itoa(status)
	}
	if s.Statuses[http.StatusUnauthorized].URLs > 0 {
		why += ": " + logsIn
	}
	return why
}

// handleSignals makes signals end the crawl: the first lets the fetches that have started
// finish, the second cancels them, the third ends the process. The second does, too, if the
// crawl has not ended some time after it, as parsing a page of a million links is not
// interrupted. Uncommitted work is lost then, as if the process were killed.
func (con *console) handleSignals(c crawler, stop func(), ended <-chan struct{}, manager *notifier) *atomic.Bool {
	var interrupted atomic.Bool
	go func() {
		<-con.signals
		interrupted.Store(true)
		c.Drain()
		manager.tell("STOPPING=1")
		con.say(fmt.Sprintf("finishing the fetches that have started, for at most %s; "+
			"interrupt again to stop at once", clock(weft.DrainTime)))
		<-con.signals
		stop()
		con.screen.close() // the third signal must leave the terminal in order
		signal.Stop(con.signals)
		select {
		case <-ended:
		case <-time.After(patience):
			con.warn("the crawl does not stop: ended without a report")
			os.Exit(exitInterrupted)
		}
	}()
	return &interrupted
}

// patience is the most time that a canceled crawl has to end.
const patience = 2 * time.Second

// onlyCanceled reports whether err holds nothing but context.Canceled.
func onlyCanceled(err error) bool {
	for _, e := range parts(err) {
		if !errors.Is(e, context.Canceled) {
			return false
		}
	}
	return true
}

// The times between two drawings of progress, and between two lines of it without --log-interval.
const (
	drawEvery  = 200 * time.Millisecond
	printEvery = 5 * time.Second
)

// watch shows progress until the function it returns is called; that returns when the last
// line is written.
func (con *console) watch(c crawler) (over func()) {
	if con.quiet {
		return func() {}
	}
	every, show := cmp.Or(max(0, con.every), printEvery), con.progress
	if con.screen != nil {
		every, show = drawEvery, con.screen.draw
		con.screen.open()
		con.screen.handleSuspend()
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(min(every, printEvery))
		defer tick.Stop()
		var m meter
		var paused pauseLog
		shown := time.Now()
		m.sample(c.Stats())
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				s := m.sample(c.Stats())
				if con.screen == nil {
					paused.note(con, s.stats.Paused)
				}
				due := now.Sub(shown) >= every-every/10 // a tick may be early
				if due && (con.screen != nil || con.every >= 0) {
					show(s)
					shown = now
				}
			}
		}
	})
	return func() {
		close(done)
		watching.Wait()
		con.screen.close()
	}
}

// pauseLog says that a crawl is paused, or that it is no more, once that lasts from one look to the
// next: waiting for memory is over in no time, again and again.
type pauseLog struct{ last, said []string }

func (l *pauseLog) note(con *console, paused []string) {
	var reasons []string
	for _, reason := range paused {
		why, _, _ := strings.Cut(reason, "; ") // what follows changes: the next try
		reasons = append(reasons, why)
	}
	lasts := slices.Equal(reasons, l.last)
	if l.last = reasons; !lasts || slices.Equal(reasons, l.said) {
		return
	}
	if l.said = reasons; len(reasons) == 0 {
		con.event("resumed", "resume")
		return
	}
	con.event("paused: "+strings.Join(reasons, ", "), "pause", "reasons", reasons)
}
