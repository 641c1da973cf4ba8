// Command weft-lab measures the ways of package lab to fetch many pages, side by side, and how
// long basic operations take on this machine. docs/engine.md explains the ways; package measure
// does the measuring; this command reads flags and prints results.
//
// Results go to standard output, everything else to standard error. Exit status: 0 measured and
// all ways agree; 1 they disagree, a way failed or the output broke off; 3 wrong usage;
// 5 interrupted.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/bench/lab"
	"github.com/weftcrawl/weft/bench/measure"
)

// Exit codes.
const (
	exitDone        = 0
	exitError       = 1
	exitUsage       = 3
	exitInterrupted = 5
)

func main() {
	lab.Child() // does not return if this process is a child of the lab
	measure.Child(lab.Ways)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	interrupted := ctx.Err() != nil
	stop()
	var wrong usageError
	switch {
	case err == nil, errors.Is(err, pflag.ErrHelp):
	case errors.As(err, &wrong):
		fmt.Fprintf(os.Stderr, "weft-lab: %s\n", printable(err.Error()))
		os.Exit(exitUsage)
	case interrupted:
		os.Exit(exitInterrupted)
	default:
		fmt.Fprintf(os.Stderr, "weft-lab: %s\n", printable(err.Error()))
		os.Exit(exitError)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) > 0 && args[0] == "latency" {
		return runLatency(ctx, args[1:])
	}
	return runWays(ctx, args)
}

// usageError reports a wrong command line.
type usageError struct{ error }

func usage(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// newFlags returns an empty set whose --help prints text and the flags.
func newFlags(name, text string) *pflag.FlagSet {
	f := pflag.NewFlagSet(name, pflag.ContinueOnError)
	f.SortFlags = false
	f.SetOutput(io.Discard) // errors are returned
	f.Usage = func() { fmt.Fprint(f.Output(), strings.TrimSpace(text)+"\n\nFlags:\n"+f.FlagUsages()) }
	f.BoolP("help", "h", false, "print this help and exit (default: no)")
	return f
}

// parse reads args. Errors name the flag and its value; the error of --help is [pflag.ErrHelp].
func parse(f *pflag.FlagSet, args []string) error {
	err := f.Parse(args)
	var invalid *pflag.InvalidValueError
	switch help, _ := f.GetBool("help"); {
	case err == nil && help:
		if err := print(false, nil, func(w io.Writer) { f.SetOutput(w); f.Usage() }); err != nil {
			return err
		}
		return pflag.ErrHelp
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return usage("--%s %.128q: %w", invalid.GetFlag().Name, invalid.GetValue(), invalid.Unwrap())
	}
	return usage("%w (weft-lab --help lists the flags)", err)
}

// set returns a flag's setter, which keeps what read makes of the text.
func set[T any](to *T, read func(string) (T, error)) func(string) error {
	return func(s string) (err error) {
		*to, err = read(s)
		return err
	}
}

// fileReason strips the path from a file system error, for messages that name it already.
func fileReason(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) {
		return e.Err
	}
	return err
}

// printable escapes what a terminal could take for a command; servers choose some of the text.
func printable(s string) string {
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// plural is "1 page" or "1,234 pages".
func plural(n int, noun string) string { return english.Plural(n, noun, "") }

// count is "1,234".
func count(n int) string { return humanize.Comma(int64(n)) }

// volume is "83 MB".
func volume(bytes int64) string { return humanize.Bytes(uint64(max(bytes, 0))) }
