package process

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// worker is the first argument of a process that [Results] started.
const worker = "measure"

// Task returns the task of a process that [Results] started, as JSON. A program that calls
// Results asks it first.
func Task() (task []byte, ok bool) {
	if len(os.Args) != 3 || os.Args[1] != worker {
		return nil, false
	}
	return []byte(os.Args[2]), true
}

// Results runs this program again with a task, and calls fn with each result that it encodes as
// JSON on standard output. Task and results are copied to standard error as a log. The process is
// killed if fn fails.
func Results[T any](ctx context.Context, task any, fn func(T) error) error {
	arg, err := json.Marshal(task)
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	fmt.Fprintf(os.Stderr, "%s\n", arg)
	p, err := Start(ctx, Options{Pipes: true, Stderr: os.Stderr}, self, worker, string(arg))
	if err != nil {
		return err
	}
	defer p.Kill()
	results := json.NewDecoder(io.TeeReader(p.Out, os.Stderr))
	for {
		var r T
		if err := results.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
		if err := fn(r); err != nil {
			return fmt.Errorf("%s: %w", arg, err)
		}
	}
	if err := p.Wait(); err != nil {
		return fmt.Errorf("%s: %w", arg, err)
	}
	return nil
}
