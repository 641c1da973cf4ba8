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
	header []byte // the line that the file begins with; nil: none

	mu     sync.Mutex // held while writing; a hang-up comes on another goroutine
	file   *os.File   // nil: it is closed
	ready  bool       // output.open has settled where to go on
	hungUp bool       // the file is to be opened again
}

// Write writes whole records, behind the header if the file is empty. After a partial write, as on
// a full disk, it truncates the file to whole lines.
func (r *regular) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.hungUp {
		_ = r.reopen() // a warning has said why not
	}
	text, head := p, 0
	if r.header != nil && !bytes.HasPrefix(p, r.header) {
		if at, err := r.file.Seek(0, io.SeekCurrent); err == nil && at == 0 {
			text, head = append(bytes.Clone(r.header), p...), len(r.header)
		}
	}
	n, err := r.file.Write(text)
	whole := bytes.LastIndexByte(text[:n], '\n') + 1
	if err == nil || whole == n {
		return max(0, n-head), err
	}
	end, cut := r.file.Seek(int64(whole-n), io.SeekCurrent)
	if cut == nil {
		cut = r.file.Truncate(end)
	}
	return max(0, whole-head), errors.Join(err, cut)
}

// hangUp opens the file again, as soon as it is settled where to go on in it.
func (r *regular) hangUp() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hungUp = true
	if !r.ready || r.file == nil {
		return nil
	}
	return r.reopen()
}

// errIrregular is returned for something of the output's name that is no file.
var errIrregular = errors.New("not a regular file")

// reopen opens the file of the same name, which somebody else has moved, and goes on at its end. If
// that fails, the old one is written on, and the next Write tries again. r.mu is held.
func (r *regular) reopen() error {
	// Opened for writing, a pipe would wait for a reader.
	f, err := os.OpenFile(r.file.Name(), os.O_WRONLY|os.O_CREATE|syscall.O_NONBLOCK, 0o666)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errIrregular
	}
	if err == nil {
		_, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	old := r.file
	r.file, r.hungUp = f, false
	return old.Close()
}

// settled says that the next Write goes to the right place.
func (r *regular) settled() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ready = true; r.hungUp {
		return r.reopen()
	}
	return nil
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

// early has the hang-up of a crawl that has yet to know what one means: nil, it ends the process.
var early chan os.Signal

// keepHangups keeps a hang-up for a crawl until it starts.
func keepHangups(args []string) {
	if len(args) > 0 && args[0] == "crawl" && !signal.Ignored(syscall.SIGHUP) {
		early = make(chan os.Signal, 1)
		signal.Notify(early, syscall.SIGHUP)
	}
}

// releaseHangups returns the hang-up that has come, if any, and leaves later ones to others.
func releaseHangups() (came []os.Signal) {
	if early != nil {
		signal.Stop(early)
		close(early)
		for s := range early {
			came = append(came, s)
		}
		early = nil
	}
	return came
}

// onHangups opens the output again at each hang-up.
func (o *output) onHangups(con *console) {
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		for range hangups {
			if err := o.Writer.(*regular).hangUp(); err != nil {
				con.warn("--output stays the file that it was: " + reason(err).Error())
			}
		}
	}()
}
