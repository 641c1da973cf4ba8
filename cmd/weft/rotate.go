package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// regular is a file of records, one per line, that can be truncated, and opened again by its name.
type regular struct {
	header bool // its first line is one that every file begins with

	mu    sync.Mutex // held while writing; opening again comes from the goroutine of signals
	file  *os.File   // nil: it is closed
	first []byte     // the first line, if header
}

// Write writes whole records. After a partial write, as on a full disk, it truncates the file to
// whole ones.
func (r *regular) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, err := r.file.Write(p)
	whole := bytes.LastIndexByte(p[:n], '\n') + 1
	if r.header && r.first == nil && whole > 0 {
		r.first = bytes.Clone(p[:bytes.IndexByte(p, '\n')+1])
	}
	if err == nil || whole == n {
		return n, err
	}
	end, cut := r.file.Seek(int64(whole-n), io.SeekCurrent)
	if cut == nil {
		cut = r.file.Truncate(end)
	}
	return whole, errors.Join(err, cut)
}

// reopen opens the file of the same name, which somebody else has moved, and goes on at its end. If
// that fails, the old one is written on.
func (r *regular) reopen() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.file == nil {
		return nil
	}
	f, err := os.OpenFile(r.file.Name(), os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	end, err := f.Seek(0, io.SeekEnd)
	if err == nil && end == 0 {
		_, err = f.Write(r.first)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	old := r.file
	r.file = f
	return old.Close()
}

func (r *regular) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := r.file.Close()
	r.file = nil
	return err
}

// rotates reports whether a hang-up means that the output is to be opened again, as whoever rotates
// the logs of a service expects: it is a file, and there is no terminal that can hang up.
func (o *output) rotates() bool {
	if _, ok := o.Writer.(*regular); !ok {
		return false
	}
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return true
	}
	_ = tty.Close()
	return false
}

// onHangups opens the output again at each hang-up.
func (o *output) onHangups(con *console) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			if err := o.Writer.(*regular).reopen(); err != nil {
				con.warn("--output stays the file that it was: " + reason(err).Error())
			}
		}
	}()
}
