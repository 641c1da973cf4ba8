package crawls

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Open opens a folder, and takes it for this process. Errors: ErrInUse, those of the system.
func Open(dir string, o Options) (*Folder, error) {
	if o.Running <= 0 {
		o.Running = 4
	}
	if o.Most <= 0 {
		o.Most = 10_000
	}
	if o.Limits == nil {
		o.Limits = func(string) Limits { return Limits{} }
	}
	if o.Warn == nil {
		o.Warn = func(error) {}
	}
	if o.Changed == nil {
		o.Changed = func(Crawl) {}
	}
	if o.Visited == nil {
		o.Visited = func(string) (Visited, error) { return Visited{Visit: 1, Whole: true}, nil }
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f := &Folder{files: files{dir}, o: o, wake: make(chan struct{}, 1), news: make(chan struct{}), all: make(map[string]*entry), waits: make(map[string]*Wait), own: newOwnFiles(), now: time.Now}
	f.own.folder, f.scales.folder, f.up = f, f, f.now()
	f.life, f.end = context.WithCancel(context.Background())
	if f.lock, err = openLocked(filepath.Join(dir, "serve.lock")); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, err
	}
	if err := f.read(); err != nil {
		return nil, errors.Join(err, unlock(f.lock))
	}
	return f, nil
}

// read reads which crawls there are. What cannot be read is left as it is.
func (f *Folder) read() error {
	files, err := os.ReadDir(f.dir)
	if err != nil {
		return err
	}
	for _, file := range files {
		base, ok := strings.CutSuffix(file.Name(), ".json")
		if !ok || !isName(base) || base == "tokens" {
			continue
		}
		c, err := f.load(base)
		if err != nil {
			f.o.Warn(fmt.Errorf("%s: %w, expected a crawl: it is left alone", file.Name(), err))
			continue
		}
		if err := f.complete(c); err != nil {
			f.o.Warn(fmt.Errorf("%s: %w", c.Name, err))
			continue
		}
		if !c.Deleting {
			e := &entry{Crawl: *c}
			f.all[c.Name] = e
			if err := e.reschedule(f.now()); err != nil {
				f.o.Warn(fmt.Errorf("%s: %w", c.Name, err))
			}
		}
	}
	f.own.look()
	return nil
}
