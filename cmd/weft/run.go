package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weftcrawl/weft"
)

// begin is weft.New, which may take long: a full disk has it wait. A signal meanwhile ends
// the process; what comes later obey finds in con.signals.
func (con *console) begin(o weft.Options, out *output) (*weft.Crawler, error) {
	con.update = o.Update
	con.signals = make(chan os.Signal, 2)
	signal.Notify(con.signals, os.Interrupt, syscall.SIGTERM) // be they ignored so far, as by some shells for what runs in the background
	if !signal.Ignored(syscall.SIGHUP) {                      // by nohup
		signal.Notify(con.signals, syscall.SIGHUP)
	}
	begun := make(chan struct{}) // without room: once it is taken, no signal is
	go func() {
		select {
		case <-begun:
		case <-con.signals:
			con.warn("interrupted before the crawl has begun")
			out.discard()
			os.Exit(exitInterrupted)
		}
	}()
	c, err := weft.New(o)
	begun <- struct{}{}
	if err != nil {
		signal.Stop(con.signals)
		out.discard()
	}
	return c, err
}

// crawl runs c, whose records go to out, tells of it, and judges how it ended. A job that is
// finished is only told of, unless there may be more to do.
func (con *console) crawl(c *weft.Crawler, out *output, more bool) error {
	earlier := c.Earlier()
	if earlier.Finished && !more {
		out.discard()
		con.warn(fmt.Sprintf("%s is finished; --update visits it again, --fresh starts over, --amend adds URLs", c.Job()))
		return con.end(report{Summary: earlier, job: c.Job(), records: records(c.Job(), &output{})}, false, nil)
	}
	if err := out.begin(earlier.Runs > 0); err != nil {
		return &exit{exitError, fmt.Errorf("--output %.128q: %w", out.file.Name(), reason(err))}
	}
	visit := max(1, earlier.Visit)
	switch {
	case earlier.Runs > 0 && visit > 1:
		con.warn(fmt.Sprintf("%s goes on with visit %d: %s done, %s left", c.Job(), visit, plural(earlier.Recorded(), "URL"), count(earlier.Pending)))
	case earlier.Runs > 0:
		con.warn(fmt.Sprintf("%s goes on: %s done, %s left", c.Job(), plural(earlier.Recorded(), "URL"), count(earlier.Pending)))
	case visit > 1:
		con.warn(fmt.Sprintf("%s is visited again: visit %d", c.Job(), visit))
	}
	signal.Ignore(syscall.SIGPIPE) // whoever reads what is printed may leave: the crawl goes on
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	ended := make(chan struct{})
	interrupted := con.obey(c, stop, ended)
	over := con.watch(c)
	s, err := c.Run(ctx)
	close(ended)
	over()
	err = errors.Join(err, out.close())
	if interrupted.Load() && onlyCanceled(err) {
		err = nil
	}
	return con.end(report{Summary: s, job: c.Job(), records: records(c.Job(), out), failed: err != nil}, interrupted.Load(), err)
}

// end prints the report, and judges how the crawl has ended. One whose seeds are others than
// those of its job has not happened, as far as the report goes.
func (con *console) end(s report, interrupted bool, err error) error {
	foreign := errors.Is(err, weft.ErrPlan)
	if !con.quiet && !foreign {
		con.report(s)
	}
	switch {
	case errors.Is(err, syscall.EPIPE):
		err = &exit{exitError, errors.New("output: its reader has left")}
	case foreign:
		err = &exit{exitUsage, err}
	case err != nil:
		err = &exit{exitError, err}
	case interrupted, s.Interrupted: // by a signal, or by weft ctl
		err = &exit{exitInterrupted, nil}
	case s.SeedsFetched == 0 && s.Stopped == "":
		err = &exit{exitError, fmt.Errorf("no seed could be fetched: %s", cmp.Or(s.FirstError, "none was answered with a status of 2xx"))}
	case s.Stopped != "":
		err = &exit{exitLimit, nil}
	default:
		err = nil
	}
	var e *exit
	if errors.As(err, &e) && e.err != nil {
		for _, one := range parts(e.err) {
			con.failed(byFlag(one, con.update))
		}
		e.err = nil
	}
	return err
}

// obey has signals end the crawl: the first lets it finish what is under way, the
// second does not, and the third ends the process. So does the second, where the
// crawl has not ended some time after it: a page of a million links is not left half
// way. What is not committed by then has not happened, as if the process were killed.
func (con *console) obey(c *weft.Crawler, stop func(), ended <-chan struct{}) *atomic.Bool {
	var interrupted atomic.Bool
	go func() {
		<-con.signals
		interrupted.Store(true)
		c.Drain()
		con.warn("finishing what is under way; once more stops at once")
		<-con.signals
		stop()
		con.screen.close() // so that the third leaves the terminal in order
		signal.Stop(con.signals)
		select {
		case <-ended:
		case <-time.After(patience):
			con.warn("what is under way does not stop: ended without a report")
			os.Exit(exitInterrupted)
		}
	}()
	return &interrupted
}

// patience is how long what was broken off may take to stop.
const patience = 2 * time.Second

// onlyCanceled reports whether err says no more than that the crawl was broken off.
func onlyCanceled(err error) bool {
	for _, e := range parts(err) {
		if !errors.Is(e, context.Canceled) {
			return false
		}
	}
	return true
}

// How often the crawl is looked at: for the screen, and for lines.
const (
	redrawn = 200 * time.Millisecond
	told    = 5 * time.Second
)

// watch tells how the crawl gets on, until the function it returns is called; that
// returns when nothing more is told.
func (con *console) watch(c *weft.Crawler) (over func()) {
	if con.quiet {
		return func() {}
	}
	every := told
	tell := con.progress
	if con.screen != nil {
		every, tell = redrawn, con.screen.draw
		con.screen.open()
		con.screen.heedSuspension()
	}
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		var m meter
		m.sample(c.Stats())
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				tell(m.sample(c.Stats()))
			}
		}
	})
	return func() {
		close(done)
		watching.Wait()
		con.screen.close()
	}
}
