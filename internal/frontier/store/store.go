package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Options configures a store. The zero value is a store on disk without outputs.
type Options struct {
	// Outputs are the names of the files that batches append to, in the job's folder.
	Outputs []string

	// Series is a folder in the job's folder whose files batches begin and end, one after the
	// other: see Batch.End. Outputs may be in it too. Empty: there is none.
	Series string

	// Memory keeps the state in memory, where it ends with the store. Outputs are files all the
	// same.
	Memory bool

	// ReadOnly opens a job for reading: nothing is written, cut or created but the file of the
	// lock, if that is missing and can be made. Several may read at once. Nothing waits for a
	// descriptor.
	ReadOnly bool

	// Fresh starts the job anew, whatever is there, damaged or not: Outputs, Clear and the state
	// are removed under the lock, which is held throughout. With ErrLocked nothing was touched. It
	// needs a state on disk that is written.
	Fresh bool

	// Clear are the names, in the job's folder, of what else Fresh removes: files, or folders with
	// their contents. The folder state must not be among them.
	Clear []string

	// Waiting is called with the error when writes start to wait for space on a full disk, and with
	// nil when none waits any longer. It is called from any goroutine, must not block, and must not
	// call the store. It may be nil.
	Waiting func(error)

	// Retry is the time between two attempts of a waiting write. 0: a second.
	Retry time.Duration

	// Buffer is the number of bytes of changes that are collected in memory before they are sorted
	// and written to a table; at times there are two buffers. 0: 16 MiB.
	Buffer int

	// Cache is the number of bytes of tables that stay in memory, more while there are fewer than
	// two buffers. 0: 8 MiB.
	Cache int

	// Partition returns the partition of a host: see frontier.Config. With it, and only then, the
	// store lists its keys by partition, for Export and Drop. nil: there are no partitions.
	Partition func(host string) int

	// FS is the file system. nil: Disk.
	FS FS
}

// Store holds the state of a job and its outputs. One goroutine at a time commits; any may read,
// which shows committed state.
type Store struct {
	dir          string // the job's folder
	state        string // the engine's folder in it
	fs           FS
	home         *anchoredFS // below fs
	table        table
	outputs      map[string]*output
	fixed        []string // names of these
	series       series
	partition    func(host string) int // nil: keys are not listed by partition
	outbox       outbox
	spare        spare
	lock         io.Closer // nil for a state in memory
	watermark    watermark
	readOnly     bool
	failure      *failure
	next         atomic.Uint64 // the next Seq, committed
	part         atomic.Uint64 // number of the next temporary file of WriteFile
	recrawlBatch int           // approximate size of a batch of Recrawl

	committing sync.Mutex // serializes commits; guards outputs and batches
	batches    uint64     // committed
	abandon    func()
	forget     func() // ends calls of Options.Waiting
	abandoned  chan struct{}
}

// Open opens the job in dir, or creates it. An error that says something about the job is one of
// errors.go, or fs.ErrNotExist if there is none to read.
func Open(dir string, o Options) (*Store, error) {
	s := &Store{
		dir: dir, recrawlBatch: cmp.Or(o.Buffer, buffer) / 4, failure: newFailure(),
		outputs: make(map[string]*output), fixed: o.Outputs, abandoned: make(chan struct{}),
		series: series{o.Series, make(map[string]*output)}, partition: o.Partition,
	}
	s.abandon = sync.OnceFunc(func() { close(s.abandoned) })
	if o.Retry <= 0 {
		o.Retry = time.Second
	}
	w := newSpaceWaiter(o.Retry, o.Waiting, s.abandoned)
	s.forget = w.forget
	if o.FS == nil {
		o.FS = Disk
	}
	s.home = &anchoredFS{FS: o.FS, dir: dir}
	s.fs = diskFullFS{s.home, w}
	if o.ReadOnly {
		s.fs = impatientFS{o.FS}
	}
	s.state = s.fs.PathJoin(dir, "state")
	s.table.dir, s.table.failure = s.state, s.failure
	if err := s.open(o); err != nil {
		_ = s.Close() // nothing was written
		return nil, err
	}
	return s, nil
}

func (s *Store) open(o Options) error {
	if err := s.openState(o); err != nil {
		return err
	}
	found, err := s.table.number([]byte{keyVersion})
	if err != nil {
		return err
	}
	if found != 0 && found != format {
		return &VersionError{Dir: s.state, Found: found, Known: format}
	}
	next, err := s.table.number([]byte{keyNext})
	if err != nil {
		return err
	}
	s.next.Store(max(next, 1))
	if err := s.openOutbox(); err != nil {
		return err
	}
	s.readOnly = o.ReadOnly
	if found != 0 {
		if s.batches, err = s.table.lastBatch(); err != nil {
			return err
		}
	}
	if !o.Memory {
		if s.watermark, err = openWatermark(s.fs, s.state, s.batches, o.ReadOnly); err != nil {
			return err
		}
	}
	if found == 0 {
		return s.begin(o)
	}
	return s.openOutputs(o)
}

// Batches returns how many batches were committed since the job began: of two copies of a store,
// the later one has more.
func (s *Store) Batches() uint64 {
	s.committing.Lock()
	defer s.committing.Unlock()
	return s.batches
}

// openState locks the state and opens its engine.
func (s *Store) openState(o Options) error {
	if o.Fresh && (o.Memory || o.ReadOnly) {
		return errors.New("store: fresh: expected a state on disk that is written")
	}
	if o.Memory {
		s.table.engine = newMemory()
		return nil
	}
	if o.ReadOnly {
		if _, err := s.fs.Stat(s.state); err != nil {
			return fmt.Errorf("store: %s: %w", s.state, fs.ErrNotExist)
		}
	} else if err := s.makeDirs(); err != nil {
		return err
	}
	if err := s.home.anchor(); err != nil {
		return wrap(err)
	}
	take := s.fs.Lock
	if o.ReadOnly {
		take = s.fs.LockShared
	}
	lock, err := take(s.fs.PathJoin(s.state, lockFile))
	if err != nil {
		var open *fs.PathError
		if errors.As(err, &open) {
			return wrap(err)
		}
		return &LockedError{s.dir, s.fs.PathJoin(s.state, lockFile)}
	}
	s.lock = lock
	if err := s.startOver(o); err != nil {
		return err
	}
	if !o.ReadOnly {
		_ = s.fs.RemoveAll(s.partialDir()) // left by a killed run; they only take space
		s.removeSnapshots()
	}
	engine, err := openPebble(s.state, s.fs, o, s.failure)
	if err != nil {
		return cmp.Or(s.failure.get(), damage(s.state, err))
	}
	s.table.engine = engine
	return nil
}

// startOver removes the job if o asks for that, or if a process that was removing it has ended.
func (s *Store) startOver(o Options) error {
	if o.Fresh {
		return s.clear(slices.Concat(o.Outputs, o.Clear))
	}
	names, underWay, err := s.clearing()
	switch {
	case err != nil:
		return err
	case underWay && o.ReadOnly:
		return fmt.Errorf("store: %s: %w", s.state, fs.ErrNotExist)
	case underWay:
		return s.finishClearing(names)
	}
	return nil
}

// makeDirs creates the folders durably.
func (s *Store) makeDirs() error {
	err := s.fs.MkdirAll(s.state, 0o777)
	for _, dir := range []string{s.dir, s.fs.PathDir(s.dir)} {
		if err == nil {
			err = syncDir(s.fs, dir)
		}
	}
	return wrap(err)
}

// begin creates a new state. Lines that no state knows are not the crawl's to cut.
func (s *Store) begin(o Options) error {
	if o.ReadOnly {
		return fmt.Errorf("store: %s: %w", s.state, fs.ErrNotExist)
	}
	for _, name := range o.Outputs {
		size, err := fileSize(s.fs, s.fs.PathJoin(s.dir, name))
		if err != nil {
			return wrap(err)
		}
		if size > 0 {
			return &DamageError{s.state, fmt.Errorf("nothing in it, but %s is %d bytes long", name, size)}
		}
	}
	if err := s.openOutputs(o); err != nil {
		return err
	}
	if err := s.watermark.create(); err != nil {
		return err
	}
	b := s.Begin()
	b.set([]byte{keyVersion}, binary.AppendUvarint(nil, format))
	return s.Commit(b)
}

func (s *Store) openOutputs(o Options) error {
	for _, name := range o.Outputs {
		committed, err := s.table.number(textKey(keyOutput, name))
		if err != nil {
			return err
		}
		path := s.fs.PathJoin(s.dir, name)
		if dir := s.fs.PathDir(path); dir != s.dir && !o.ReadOnly {
			if err := s.fs.MkdirAll(dir, 0o777); err != nil {
				return wrap(err)
			}
		}
		out, err := openOutput(s.fs, path, int64(committed), o.ReadOnly)
		if err != nil {
			return err
		}
		s.outputs[name] = out
	}
	if err := s.openSeries(o.ReadOnly); err != nil || o.ReadOnly || len(o.Outputs) == 0 {
		return err
	}
	return wrap(syncDir(s.fs, s.dir))
}

// Abandon ends all waiting for space on the disk, now and later: waiting writes fail, and the store
// with them.
func (s *Store) Abandon() { s.abandon() }

// AbandonWith calls Abandon when a context ends, unless stop is called before.
func (s *Store) AbandonWith(ctx context.Context) (stop func() bool) {
	return context.AfterFunc(ctx, s.abandon)
}

// Close closes the store and releases its lock. Batches that were not committed are lost. It does
// not return a failure that Commit has returned.
func (s *Store) Close() error {
	s.abandon() // a waiting commit must not delay Close
	s.committing.Lock()
	defer s.committing.Unlock()
	s.table.reading.Lock()
	defer s.table.reading.Unlock()
	var errs []error
	if s.table.engine != nil && s.failure.get() == nil {
		if err := s.failure.run(s.table.engine.close); !full(err) { // the next run writes the table
			errs = append(errs, cmp.Or(s.failure.get(), wrap(err))) // a failure names its file
		}
	}
	s.failure.set(ErrClosed)
	s.forget()
	for _, all := range []map[string]*output{s.outputs, s.series.open} {
		for _, o := range all {
			errs = append(errs, wrap(o.close()))
		}
	}
	s.watermark.close()
	if s.lock != nil {
		errs = append(errs, wrap(s.lock.Close()))
	}
	s.outputs, s.series.open, s.watermark, s.lock = nil, nil, watermark{}, nil
	return errors.Join(errs...)
}
