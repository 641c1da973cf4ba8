package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
)

// inJob opens the job in dir for look, whether its crawl runs or not.
func inJob(dir string, look func(context.Context, *weft.Job) error) error {
	ctx := context.Background()
	job, err := weft.OpenJob(ctx, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return usage("%.128q: no job, expected the folder of one, such as example.org.weft", dir)
	}
	if err != nil {
		return &exit{exitError, fmt.Errorf("job %.128q: %w", dir, err)}
	}
	err = look(ctx, job)
	if closed := job.Close(); err == nil {
		err = closed
	}
	var e *exit
	if err != nil && !errors.As(err, &e) {
		err = &exit{exitError, fmt.Errorf("job %.128q: %w", dir, err)}
	}
	return err
}

// oneJob refuses anything but a folder, and words that say what else is expected.
func oneJob(also ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1+len(also) {
			expected := "JOB"
			for _, word := range also {
				expected += " " + word
			}
			return usage("%s: %s given, expected %s", cmd.CommandPath(), plural(len(args), "argument"), expected)
		}
		return nil
	}
}

// printer writes to standard output.
type printer struct {
	*bufio.Writer
	json *json.Encoder // to the same
}

func newPrinter() *printer {
	w := bufio.NewWriter(terminal(os.Stdout))
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &printer{w, enc}
}

// lines prints values, each as JSON or as write does, n at most; 0: all.
func lines[T any](values iter.Seq2[T, error], n int, asJSON bool, write func(io.Writer, T)) error {
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

// moment is a time for people, as long for each; blank for none.
func moment(t time.Time) string {
	if t.IsZero() {
		return fmt.Sprintf("%19s", "")
	}
	return t.Local().Format(time.DateTime)
}
