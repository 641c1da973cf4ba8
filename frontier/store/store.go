package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Options of a store. The zero value is one on disk without outputs.
type Options struct {
	// Outputs are the names of the files that groups append to, in the job's folder.
	Outputs []string

	// Memory keeps the state in memory, where it ends with the store. Outputs are files
	// all the same.
	Memory bool

	// ReadOnly is for a look at a job: nothing is written, cut or made, but for the lock.
	ReadOnly bool

	// Fresh begins the job anew, whatever is there, damaged or not: Outputs, what Clear
	// names and the state are removed, under the lock, which is held all the while. With
	// ErrLocked nothing has been touched. It is for a state on disk that is written.
	Fresh bool

	// Clear are the names, in the job's folder, of what Fresh removes too: files, or
	// folders with all they hold. The folder state is not to be among them.
	Clear []string

	// Waiting is told when writes begin to wait for room on a full disk, with the error
	// that says so, and with nil when none waits any longer. It is called from any goroutine, must not
	// block, and must not call the store. nil: nobody is told.
	Waiting func(error)

	// Retry is the time between two attempts of a write that waits. 0: a second.
	Retry time.Duration

	// Buffer is how many bytes of changes are collected in memory before they are
	// sorted and written to a table; twice as many at times. 0: 16 MiB.
	Buffer int

	// Cache is how many bytes of what was read from tables stay in memory; more, while there are fewer
	// than two buffers. 0: 8 MiB.
	Cache int

	// FS is the file system. nil: the machine's.
	FS FS
}

// Store is the state of a job, and its outputs. One goroutine at a time commits; any
// may read, which shows what is committed.
type Store struct {
	dir      string // of the job
	state    string // the folder in it that is the engine's
	fs       FS
	engine   engine
	outputs  map[string]*output
	lock     io.Closer // nil: of a state in memory
	last     vfs.File  // see openLast; nil: of a state in memory, or to be read
	readOnly bool
	failure  *failure
	next     atomic.Uint64 // the next Seq, as committed
	part     atomic.Uint64 // of WriteFile, for a name of its own
	piece    int           // bytes of a group of Revisit, nearly

	committing sync.Mutex   // guards what outputs hold, and groups, and orders commits
	groups     uint64       // that were committed
	reading    sync.RWMutex // held by Close to have no reader
	abandon    func()
	abandoned  chan struct{}
}

// Open opens the job in dir, or begins it. The error is one of errors.go if it says
// something about the job, and fs.ErrNotExist if there is none to be read.
func Open(dir string, o Options) (*Store, error) {
	s := &Store{dir: dir, piece: cmp.Or(o.Buffer, buffer) / 4, failure: newFailure(), outputs: make(map[string]*output), abandoned: make(chan struct{})}
	s.abandon = sync.OnceFunc(func() { close(s.abandoned) })
	r := &room{every: o.Retry, tell: o.Waiting, abandoned: s.abandoned}
	if r.every <= 0 {
		r.every = time.Second
	}
	if o.FS == nil {
		o.FS = Disk
	}
	s.fs = roomFS{o.FS, r}
	s.state = s.fs.PathJoin(dir, "state")
	if err := s.open(o); err != nil {
		_ = s.Close() // there is nothing to lose
		return nil, err
	}
	return s, nil
}

func (s *Store) open(o Options) error {
	if err := s.openState(o); err != nil {
		return err
	}
	found, err := s.number([]byte{keyVersion})
	if err != nil {
		return err
	}
	if found != 0 && found != format {
		return &VersionError{Dir: s.state, Found: found, Known: format}
	}
	next, err := s.number([]byte{keyNext})
	if err != nil {
		return err
	}
	s.next.Store(max(next, 1))
	s.readOnly = o.ReadOnly
	if found != 0 {
		if s.groups, err = s.lastGroup(); err != nil {
			return err
		}
	}
	if err := s.openLast(o); err != nil {
		return err
	}
	if found == 0 {
		return s.begin(o)
	}
	return s.openOutputs(o)
}

// lastGroup returns the number of the last group, of which there must be one mark.
func (s *Store) lastGroup() (uint64, error) {
	var marks []uint64
	for n, err := range each(s, []byte{keyMark}, []byte{keyMark + 1}, func(key, _ []byte) (uint64, bool, error) {
		if len(key) != 9 {
			return 0, false, errValue
		}
		return binary.BigEndian.Uint64(key[1:]), true, nil
	}) {
		if err != nil {
			return 0, err
		}
		marks = append(marks, n)
	}
	if len(marks) != 1 {
		return 0, &DamageError{s.state, fmt.Errorf("groups are missing: the last are %d", marks)}
	}
	return marks[0], nil
}

// openState locks the state and opens its engine.
func (s *Store) openState(o Options) error {
	if o.Fresh && (o.Memory || o.ReadOnly) {
		return errors.New("store: fresh: expected a state on disk that is written")
	}
	if o.Memory {
		s.engine = newMemory()
		return nil
	}
	if o.ReadOnly {
		if _, err := s.fs.Stat(s.state); err != nil {
			return fmt.Errorf("store: %s: %w", s.state, fs.ErrNotExist)
		}
	} else if err := s.makeDirs(); err != nil {
		return err
	}
	lock, err := s.fs.Lock(s.fs.PathJoin(s.state, lockFile))
	if err != nil {
		var open *fs.PathError
		if errors.As(err, &open) {
			return wrap(err)
		}
		return fmt.Errorf("store: %s: %w", s.dir, ErrLocked)
	}
	s.lock = lock
	if o.Fresh {
		if err := s.clear(o); err != nil {
			return err
		}
	}
	if !o.ReadOnly {
		_ = s.fs.RemoveAll(s.parts()) // of a run that was killed: at worst they take room
	}
	engine, err := openPebble(s.state, s.fs, o, s.failure)
	if err != nil {
		return cmp.Or(s.failure.get(), damage(s.state, err))
	}
	s.engine = engine
	return nil
}

// wrap says whose an error of the disk is, which names the file.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("store: %w", err)
}

// makeDirs makes the folders durable.
func (s *Store) makeDirs() error {
	err := s.fs.MkdirAll(s.state, 0o777)
	for _, dir := range []string{s.dir, s.fs.PathDir(s.dir)} {
		if err == nil {
			err = syncDir(s.fs, dir)
		}
	}
	return wrap(err)
}

// begin makes a new state. Lines that no state knows of are not the crawl's to cut.
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
	if err := s.beginLast(); err != nil {
		return err
	}
	g := s.Begin()
	g.set([]byte{keyVersion}, binary.AppendUvarint(nil, format))
	return s.Commit(g)
}

func (s *Store) openOutputs(o Options) error {
	for _, name := range o.Outputs {
		committed, err := s.number(textKey(keyOutput, name))
		if err != nil {
			return err
		}
		out, err := openOutput(s.fs, s.fs.PathJoin(s.dir, name), int64(committed), o.ReadOnly)
		if err != nil {
			return err
		}
		s.outputs[name] = out
	}
	if o.ReadOnly || len(o.Outputs) == 0 {
		return nil
	}
	return wrap(syncDir(s.fs, s.dir))
}

// Abandon ends the waiting for room on the disk, now and from now on: what waits fails,
// and the store with it.
func (s *Store) Abandon() { s.abandon() }

// Close closes the store and lets another have it. Groups that were not committed are
// lost. After a failure it is Commit that has told it.
func (s *Store) Close() error {
	s.abandon() // a commit that waits is not to hold Close up
	s.committing.Lock()
	defer s.committing.Unlock()
	s.reading.Lock()
	defer s.reading.Unlock()
	var errs []error
	if s.engine != nil && s.failure.get() == nil {
		if err := s.failure.run(s.engine.close); !full(err) { // a table that was not written will be next time
			errs = append(errs, cmp.Or(s.failure.get(), wrap(err))) // a failure says whose it is
		}
	}
	s.failure.set(ErrClosed)
	for _, o := range s.outputs {
		errs = append(errs, wrap(o.close()))
	}
	if s.last != nil {
		_ = s.last.Close() // what it was to say is no more than a help
	}
	if s.lock != nil {
		errs = append(errs, wrap(s.lock.Close()))
	}
	s.outputs, s.last, s.lock = nil, nil, nil
	return errors.Join(errs...)
}

// WriteFile keeps a file, named as seen from the job's folder: whole, or not at all. It is
// durable once a group that has its folder in SyncDir is. Any goroutine may call it. Two
// at once that write the same name write the same bytes: a file that is there is left
// as it is.
func (s *Store) WriteFile(name string, data []byte) error {
	path := s.fs.PathJoin(s.dir, name)
	if _, err := s.fs.Stat(path); err == nil {
		return nil
	}
	for _, dir := range []string{s.parts(), s.fs.PathDir(path)} {
		if err := s.fs.MkdirAll(dir, 0o777); err != nil {
			return wrap(err)
		}
	}
	part := s.fs.PathJoin(s.parts(), strconv.FormatUint(s.part.Add(1), 10))
	err := s.writeFile(part, data)
	if err == nil {
		err = s.fs.Rename(part, path)
	}
	if err != nil {
		_ = s.fs.Remove(part)
	}
	return wrap(err)
}

// parts is the folder of files that are not whole yet.
func (s *Store) parts() string { return s.fs.PathJoin(s.state, "part") }

func (s *Store) writeFile(path string, data []byte) error {
	f, err := s.fs.Create(path, "weft-file")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
