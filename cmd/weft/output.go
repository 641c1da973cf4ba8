package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// output is the destination of -o. A file keeps its contents until the crawl is certain to
// start.
type output struct {
	io.Writer          // nil: no output
	file      *os.File // nil: none, or standard output
	made      bool     // openOutput created the file
}

// regular is a file that can be truncated.
type regular struct{ *os.File }

// Write writes whole records, one per line. After a partial write, as on a full disk, it
// truncates the file to whole ones.
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
		return nil, misused("output", path,
			fmt.Errorf("%w, expected a file that can be written", reason(err)))
	}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		return &output{regular{f}, f, made}, nil
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
func (o *output) open(resume bool) error {
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
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}

// writeFile writes a new file beside the one of this name, and replaces that when the new one is whole. A
// symbolic link stays a link, and a pipe a pipe. Where the folder takes no new file, as in a container that
// mounts a single file, writeFile copies the whole into the old one.
func writeFile(path string, write func(io.Writer) error) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	info, err := os.Lstat(path) // a link is one here only if there is no file behind it yet
	if err == nil && !info.Mode().IsRegular() {
		return writeInto(path, write)
	}
	mode := fs.FileMode(0o666)
	if err == nil {
		mode = info.Mode().Perm()
	}
	beside, err := os.OpenFile(path+".part", os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	isBeside := err == nil
	if err != nil {
		if beside, err = os.CreateTemp("", "weft-*"); err != nil {
			return reason(err)
		}
	}
	defer os.Remove(beside.Name())
	out := bufio.NewWriter(beside)
	if err := errors.Join(write(out), out.Flush(), beside.Sync(), beside.Close()); err != nil {
		return err
	}
	if isBeside && os.Rename(beside.Name(), path) == nil {
		return nil
	}
	in, err := os.Open(beside.Name())
	if err != nil {
		return reason(err)
	}
	defer in.Close()
	return writeInto(path, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}

// writeInto writes into the file or pipe of a path.
func writeInto(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666) // of a pipe, this waits for a reader
	if err != nil {
		return reason(err)
	}
	out := bufio.NewWriter(file)
	return errors.Join(write(out), out.Flush(), file.Close())
}

// writeOutput writes the file of --output, as writeFile does. It returns an error of write as it is,
// unless writing was what failed.
func writeOutput(path string, write func(io.Writer) error) error {
	var failed error
	err := writeFile(path, func(w io.Writer) error {
		out := &noted{Writer: w}
		err := write(out)
		if out.err == nil {
			failed = err
		}
		return err
	})
	if failed != nil {
		return failed
	}
	return unwritten(path, err)
}

// noted notes that writing failed.
type noted struct {
	io.Writer
	err error
}

func (n *noted) Write(p []byte) (int, error) {
	done, err := n.Writer.Write(p)
	if err != nil {
		n.err = err
	}
	return done, err
}
