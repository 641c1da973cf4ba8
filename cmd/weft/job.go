package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

// inJob opens the job in dir for look, whether its crawl runs or not.
func inJob(dir string, look func(context.Context, *weft.Job) error) error {
	return inResults(dir, func(ctx context.Context, job *weft.Job) error {
		if job == nil {
			return usage("%.128q: has results and no state, expected the folder that a crawl was made in: weft read, check, export, extract, mirror, replay and wacz take this one", dir)
		}
		return look(ctx, job)
	})
}

// inResults is inJob for a look at records. A folder that has these and no state has no job: see
// weft cluster collect.
func inResults(dir string, look func(context.Context, *weft.Job) error) error {
	if err := mayBeJob(dir); err != nil {
		return err
	}
	ctx := context.Background()
	job, err := weft.OpenJob(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Stat(filepath.Join(dir, "pages.jsonl")); err != nil {
			return noJob(dir, "no job")
		}
		job, err = nil, nil
	}
	if err != nil {
		return &exit{exitError, fmt.Errorf("job %.128q: %w", dir, err)}
	}
	if job != nil && job.Running() {
		stepBack()
	}
	err = look(ctx, job)
	if job != nil {
		if closed := job.Close(); err == nil {
			err = closed
		}
	}
	var e *exit
	if err != nil && !errors.As(err, &e) {
		err = &exit{exitError, fmt.Errorf("job %.128q: %w", dir, err)}
	}
	return err
}

// mayBeJob refuses what cannot be the folder of a job.
func mayBeJob(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		return noJob(path, "a file")
	case err != nil && hasScheme(path):
		return noJob(path, "a URL")
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return noJob(path, "no job")
	}
	return nil // what else is wrong with it, opening it says
}

// noJob reports an argument that is not the folder of a job, with the one of the same site.
func noJob(arg, what string) error {
	folder := arg + ".weft"
	if s, err := weft.ReadSeed(arg); err == nil {
		folder = weft.JobName(s.URL)
	}
	if _, err := os.Stat(folder); err == nil {
		return usage("%.128q: %s, expected the folder of a job: did you mean %s?", arg, what, folder)
	}
	return usage("%.128q: %s, expected the folder of a job, such as example.org.weft",
		weft.WithoutSecrets(arg), what)
}

// jobExit is the exit status of the commands that read a job.
const jobExit = "\n\nExit status: 0 done, 1 the job cannot be read, 3 usage error or no job."

// jobArguments accepts JOB and what else is named.
func jobArguments(expected string, n int) cobra.PositionalArgs {
	return arguments(n, n, "argument", expected)
}

// jsonOption is --json.
func jsonOption(asJSON *bool, help string) option {
	return option{name: "json", Value: on(asJSON), help: help}
}

// printAll prints values, each as JSON or as write does, n at most; 0: all.
func printAll[T any](values iter.Seq2[T, error], n int, asJSON bool, write func(io.Writer, T)) error {
	out := newPrinter()
	printed := 0
	for v, err := range values {
		if err != nil {
			return errors.Join(out.Flush(), err)
		}
		if asJSON {
			err = out.json.Encode(v)
		} else {
			write(out, v)
		}
		if printed++; err != nil || printed == n {
			break
		}
	}
	return standardOutput(out.Flush()) // with the error of an earlier write
}

// limitOption is --limit of a command that lists something.
func limitOption(n *int, what string) option {
	return option{name: "limit", arg: "N", Value: to(n, number(1)), help: "list at most N " + what, def: "all"}
}

// errEnough ends a list that has as many lines as it may have.
var errEnough = errors.New("enough")

// atMost is print for the first n values, 0 for all; then it returns errEnough.
func atMost[T any](n int, print func(T) error) func(T) error {
	printed := 0
	return func(v T) error {
		if n > 0 && printed == n {
			return errEnough
		}
		printed++
		return print(v)
	}
}

// unlessEnough is an error of a list, if it has not come to its limit.
func unlessEnough(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// printOne prints one value, as JSON or as write does.
func printOne[T any](v T, asJSON bool, write func(io.Writer, T)) error {
	return printAll(func(yield func(T, error) bool) { yield(v, nil) }, 1, asJSON, write)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// holdsJob reports whether a folder is that of a job, perhaps without its state.
func holdsJob(path string) bool {
	_, err := os.Stat(filepath.Join(path, "pages.jsonl"))
	return err == nil || isJob(path)
}
