package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"

	"github.com/charmbracelet/x/term"
	"github.com/weftcrawl/weft/internal/atomicfile"
)

// output is the destination of -o. A file keeps its contents until the crawl is certain to
// start.
type output struct {
	io.Writer          // nil: no output
	file      *os.File // nil: none, or standard output
	made      bool     // openOutput created the file
}

func openOutput(path string) (*output, error) {
	switch path {
	case "":
		return &output{}, nil
	case "-":
		return &output{Writer: terminal(os.Stdout)}, nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	made := err == nil
	if errors.Is(err, fs.ErrExist) {
		f, err = os.OpenFile(path, os.O_WRONLY, 0)
	}
	if err != nil {
		return nil, misused("output", path,
			fmt.Errorf("%w, expected a file that can be written", reason(err)))
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return &output{&regular{file: f}, f, made}, nil
	}
	return &output{terminal(f), f, made}, nil
}

// discard leaves everything as it was before openOutput.
func (o *output) discard() {
	if o.file == nil {
		return
	}
	_ = o.file.Close()
	if o.made {
		_ = os.Remove(o.file.Name())
	}
}

// is reports whether the output is the file that r reads.
func (o *output) is(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok || o.file == nil {
		return false
	}
	a, errA := f.Stat()
	b, errB := o.file.Stat()
	return errA == nil && errB == nil && a.Mode().IsRegular() && os.SameFile(a, b)
}

// open empties a regular file; to resume, it continues the file after its last whole line.
func (o *output) open(resume bool) (err error) {
	if r, ok := o.Writer.(*regular); ok {
		defer func() { err = cmp.Or(err, r.settled()) }()
	}
	if o.file == nil || o.made {
		return nil
	}
	if info, err := o.file.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	if !resume {
		return o.file.Truncate(0)
	}
	end, err := wholeLines(o.file.Name())
	if err == nil {
		err = o.file.Truncate(end)
	}
	if err == nil {
		_, err = o.file.Seek(end, io.SeekStart)
	}
	return err
}

// wholeLines returns the length of a file without an incomplete last line, which a power
// failure may leave.
func wholeLines(path string) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	buf := make([]byte, 64<<10)
	for end > 0 {
		part := buf[:min(end, int64(len(buf)))]
		end -= int64(len(part))
		if _, err := f.ReadAt(part, end); err != nil {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return end + int64(i) + 1, nil
		}
	}
	return 0, nil
}

// close closes the file, if there is one.
func (o *output) close() error {
	if r, ok := o.Writer.(*regular); ok {
		return r.close()
	}
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}

// writeOutput writes the file of --output, or standard output. A file gets all of it, or stays as
// it was: when write fails, and when a signal comes. An error of write is returned as it is.
func writeOutput(ctx context.Context, path string, write func(context.Context, io.Writer) error) error {
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	isFile := false
	into := func(w io.Writer) error {
		w = interruptible{w, ctx}
		if isTerminal(path) {
			w = escaped{w}
		}
		return cmp.Or(write(ctx, w), ctx.Err())
	}
	name, err := path, error(nil)
	if path == "" || path == "-" {
		name = os.Stdout.Name()
		err = into(os.Stdout)
	} else {
		info, missing := os.Stat(path)
		isFile = missing != nil || info.Mode().IsRegular()
		err = atomicfile.Write(path, 0o666, into)
	}
	var wrong *fs.PathError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil && isFile:
		return &exit{exitInterrupted, fmt.Errorf("interrupted: nothing was written to %.128q", path)}
	case ctx.Err() != nil:
		return &exit{exitInterrupted, errors.New("interrupted: the output is incomplete")}
	case errors.As(err, &wrong) && wrong.Path == name:
		return unwritten(path, err)
	}
	return err
}

// isTerminal reports whether an output is a terminal.
func isTerminal(path string) bool {
	if path == "" || path == "-" {
		return term.IsTerminal(os.Stdout.Fd())
	}
	if info, err := os.Stat(path); err != nil || info.Mode()&fs.ModeCharDevice == 0 {
		return false
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return term.IsTerminal(f.Fd())
}

// interruptible is a writer that fails once a signal has come.
type interruptible struct {
	io.Writer
	ctx context.Context
}

// Name returns the name of the file, if there is one.
func (w interruptible) Name() string {
	if f, ok := w.Writer.(interface{ Name() string }); ok {
		return f.Name()
	}
	return ""
}

func (w interruptible) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(p)
}

// untilInterrupted returns a context that a signal ends. The next one ends the process: it may be
// stuck in writing to a pipe that nobody reads.
func untilInterrupted(ctx context.Context) (_ context.Context, stop func()) {
	ctx, stop = signal.NotifyContext(ctx, endingSignals()...)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// mayWrite refuses an output that cannot be written, before a crawl that would be in vain.
func mayWrite(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // whoever reads it would see its end
	}
	out, err := openOutput(path)
	if err == nil {
		out.discard()
	}
	return err
}
