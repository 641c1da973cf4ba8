package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
)

// interrupts are the signals of a check. The first has it report what it has checked so far, the
// second end without a report; the third ends the process, which may be stuck in writing to a pipe
// that nobody reads. Signals during the crawl count for nothing else: the crawl takes them, too,
// and ends with the first.
type interrupts struct {
	context.Context                 // ends with the second signal
	first           context.Context // ends with the first
	crawling        atomic.Bool
	crawl           atomic.Int32 // signals while it crawled
	signals         chan os.Signal
}

// takeInterrupts takes the signals until release.
func takeInterrupts() *interrupts {
	ctx, cancel := context.WithCancel(context.Background())
	first, one := context.WithCancel(context.Background())
	in := &interrupts{Context: ctx, first: first, signals: make(chan os.Signal, 3)}
	signal.Notify(in.signals, endingSignals()...)
	go func() {
		defer cancel()
		defer one()
		for range in.signals {
			switch {
			case in.crawling.Load():
				if in.crawl.Add(1) == 2 {
					signal.Stop(in.signals) // the third ends the process
				}
			case first.Err() == nil:
				one()
			default:
				cancel()
				signal.Stop(in.signals)
			}
		}
	}()
	return in
}

func (in *interrupts) release() {
	signal.Stop(in.signals)
	close(in.signals)
}

// endingSignals are the signals that end a command. Interrupts count even if they are ignored, as
// some shells arrange for background jobs; hangups do not, as nohup arranges.
func endingSignals() []os.Signal {
	signals := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signals
}
