package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// output is where -o sends the records. What was in a file stays until it is certain
// that there will be a crawl.
type output struct {
	io.Writer          // nil: there is none
	file      *os.File // nil: none, or standard output
	made      bool     // the file did not exist
}

// regular is a file that can be cut.
type regular struct{ *os.File }

// Write writes whole records, a line each. Of those that a file has not taken whole, as
// on a full disk, it keeps the whole ones.
func (r regular) Write(p []byte) (int, error) {
	n, err := r.File.Write(p)
	whole := bytes.LastIndexByte(p[:n], '\n') + 1
	if err == nil || whole == n {
		return n, err
	}
	end, cut := r.Seek(int64(whole-n), io.SeekCurrent)
	if cut == nil {
		cut = r.Truncate(end)
	}
	return whole, errors.Join(err, cut)
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
		return nil, misused("output", path, fmt.Errorf("%w, expected a file that can be written", reason(err)))
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return &output{regular{f}, f, made}, nil
	}
	return &output{terminal(f), f, made}, nil
}

// discard leaves everything as it was.
func (o *output) discard() {
	if o.file == nil {
		return
	}
	_ = o.file.Close()
	if o.made {
		_ = os.Remove(o.file.Name())
	}
}

// is reports whether the records would go into the file that r reads.
func (o *output) is(r io.Reader) bool {
	f, ok := r.(*os.File)
	if !ok || o.file == nil {
		return false
	}
	a, errA := f.Stat()
	b, errB := o.file.Stat()
	return errA == nil && errB == nil && a.Mode().IsRegular() && os.SameFile(a, b)
}

// begin empties the file, if it is one that can be; or, for a job that goes on, takes it
// up at the end of its last whole line.
func (o *output) begin(goesOn bool) error {
	if o.file == nil || o.made {
		return nil
	}
	if info, err := o.file.Stat(); err != nil || !info.Mode().IsRegular() {
		return err
	}
	if !goesOn {
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

// wholeLines is how long a file is without a last line that has no end, as a loss of power
// may leave one.
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

// watched is standard output as cobra has it, which does not look at its errors.
type watched struct {
	io.Writer
	err error // the first
}

func (w *watched) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

func (o *output) close() error {
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}
