package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

func crawlCommand() *cobra.Command {
	var o weft.Options
	var retries, redirects int
	var quiet bool
	cmd := &cobra.Command{
		Use:   "crawl [flags] URL...",
		Short: "Crawl the sites of the given URLs",
		Long: `Crawl fetches the given URLs and all pages of their hosts that links lead to,
each once. When a URL is finished, a line of JSON is added to JOB/pages.jsonl.

Ctrl-C finishes what is under way and ends; a second one stops at once.

Exit status: 0 done, 1 error, 3 wrong usage, 5 interrupted.`,
		Example: `  weft crawl http://example.org/
  weft crawl -c 8 --job example http://example.org/ http://example.net/`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("crawl: no URL given, expected one such as http://example.org/")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := positive(cmd, "concurrency", o.Concurrency); err != nil {
				return err
			}
			if !cmd.Flags().Changed("concurrency") {
				o.Concurrency = 0 // the default, or what the limit of descriptors allows
			}
			for name, n := range map[string]int{"retries": retries, "max-redirects": redirects} {
				if n < 0 {
					return usage("--%s %d: expected 0 or more", name, n)
				}
			}
			if o.Delay < 0 {
				return usage("--delay %v: expected 0 or more", o.Delay)
			}
			if o.Timeout <= 0 {
				return usage("--timeout %v: expected more than 0", o.Timeout)
			}
			o.Seeds = args
			o.Retries, o.MaxRedirects = orNone(retries), orNone(redirects)
			return crawl(o, quiet)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&o.Concurrency, "concurrency", "c", 64, "requests under way at once")
	f.DurationVar(&o.Delay, "delay", 0, "wait between a host's response and its next request (default none)")
	f.StringVar(&o.Job, "job", "", "folder for the records, which must not exist (default ./HOST.weft)")
	f.IntVar(&redirects, "max-redirects", 10, "redirects followed from one link")
	f.BoolVarP(&quiet, "quiet", "q", false, "print only errors")
	f.IntVar(&retries, "retries", 2, "tries after the first, when an error may pass")
	f.DurationVar(&o.Timeout, "timeout", 30*time.Second, "for one fetch")
	f.StringVarP(&o.UserAgent, "user-agent", "A", weft.DefaultUserAgent, "User-Agent to send")
	f.SortFlags = false
	return cmd
}

func usage(format string, args ...any) error {
	return &exit{exitUsage, fmt.Errorf(format, args...)}
}

func positive(cmd *cobra.Command, name string, n int) error {
	if n < 1 {
		return usage("--%s %d: expected 1 or more", name, n)
	}
	return nil
}

// orNone turns 0 of the command line into none of the library.
func orNone(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

func crawl(o weft.Options, quiet bool) error {
	c, err := weft.New(o)
	if errors.Is(err, weft.ErrJobExists) {
		return usage("%v: remove it, or name another with --job", err)
	}
	if err != nil {
		return &exit{exitUsage, err}
	}
	say := io.Writer(os.Stderr)
	if quiet {
		say = io.Discard
	}

	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // whoever reads what is printed may leave: the crawl goes on
	go func() {
		<-signals
		c.Drain()
		fmt.Fprintln(say, "weft: finishing what is under way; once more stops at once")
		<-signals
		stop()
		signal.Stop(signals) // a third ends the process, whatever it does
	}()

	s, err := c.Run(ctx)
	report(say, c.Job(), s)
	var disk *fs.PathError
	switch {
	case err != nil && (ctx.Err() == nil || errors.As(err, &disk)):
		return &exit{exitError, err}
	case s.Interrupted:
		return &exit{exitInterrupted, nil}
	case len(s.Statuses) == 0:
		return &exit{exitError, fmt.Errorf("no URL could be fetched: %s", s.FirstError)}
	}
	return nil
}

// report says in the end what the crawl has come to.
func report(w io.Writer, job string, s weft.Summary) {
	secs := max(s.Elapsed.Seconds(), 1e-3)
	fmt.Fprintf(w, "%d URLs in %.1f s (%.0f a second), %d of them pages, %s received\n",
		s.Done, secs, float64(s.Done)/secs, s.Pages, size(s.Bytes))
	line := func(what string, parts []string) {
		if len(parts) > 0 {
			fmt.Fprintf(w, "  %-9s %s\n", what, strings.Join(parts, ", "))
		}
	}
	var statuses, kinds []string
	for _, status := range slices.Sorted(maps.Keys(s.Statuses)) {
		statuses = append(statuses, fmt.Sprintf("%d: %d", status, s.Statuses[status]))
	}
	for _, kind := range slices.Sorted(maps.Keys(s.Errors)) {
		kinds = append(kinds, fmt.Sprintf("%s: %d", kind, s.Errors[kind]))
	}
	line("status", statuses)
	line("errors", kinds)
	if s.Interrupted {
		line("left", []string{fmt.Sprintf("%d URLs, the crawl was interrupted", s.Pending)})
	}
	line("records", []string{filepath.Join(job, "pages.jsonl")})
}

func size(n int64) string {
	const units = "kMGT"
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	v, i := float64(n)/1000, 0
	for v >= 1000 && i < len(units)-1 {
		v, i = v/1000, i+1
	}
	return fmt.Sprintf("%.1f %cB", v, units[i])
}

// printable makes text that may come from the Web fit for a terminal: what is not
// printable is written as an escape.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r == '\n' || unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}
