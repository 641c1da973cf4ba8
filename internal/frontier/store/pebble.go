package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/cockroachdb/pebble/v2"
)

const (
	// buffer is the default of Options.Buffer. Memory holds at most maxBuffers: writes wait while
	// the older one is flushed.
	buffer     = 16 << 20
	maxBuffers = 2

	// firstTables and secondLevel trade writing against reading. Pebble merges the tables of the
	// first level into the next from half of firstTables on; the next level may hold secondLevel
	// buffers. Merging is most of the cost of a new URL, so the tables merged should not be much
	// smaller than what they are merged into. In return, reads consult more tables, or their
	// filters. See docs/bench/frontier.md.
	firstTables = 16
	mostTables  = 64 // writes wait from here on
	secondLevel = 4

	// filterBits is the size of a filter per fingerprint: one false positive in a hundred.
	filterBits = 10

	// blockCache is the default of Options.Cache. URLs are read in order, once, so it is small.
	blockCache = 8 << 20
)

// pebbleEngine is the engine of a state on disk.
type pebbleEngine struct{ db *pebble.DB }

// openPebble opens or creates the state in dir, which the caller has locked. Errors that Pebble
// cannot continue after go to fail.
func openPebble(dir string, fs FS, o Options, fail *failure) (*pebbleEngine, error) {
	if err := checkDir(dir, fs); err != nil {
		return nil, err
	}
	var db *pebble.DB
	size := cmp.Or(o.Buffer, buffer)
	err := fail.run(func() (err error) {
		db, err = pebble.Open(dir, &pebble.Options{
			FS:       snapshotFS{failStopFS{fs, fail}, fs.Unwrap(), fs.PathJoin(dir, looksDir)},
			ReadOnly: o.ReadOnly,
			// The version is part of our format, whatever a newer Pebble supports.
			FormatMajorVersion: pebble.FormatValueSeparation,
			// The cache counts the buffers, too.
			CacheSize:                   int64(cmp.Or(o.Cache, blockCache) + maxBuffers*size),
			MemTableSize:                uint64(size),
			MemTableStopWritesThreshold: maxBuffers,
			L0CompactionThreshold:       firstTables,
			L0StopWritesThreshold:       mostTables,
			LBaseMaxBytes:               secondLevel * int64(size),
			Levels:                      levels(),
			CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
			Logger:                      logger{fail},
			EventListener: &pebble.EventListener{
				// Whatever met it, the state must not be written to again.
				DataCorruption: func(d pebble.DataCorruptionInfo) { fail.set(&DamageError{dir, d.Details}) },
				// Pebble would retry at once, forever.
				BackgroundError: func(err error) { fail.block(damage(dir, err)) },
			},
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return &pebbleEngine{db}, nil
}

// levels gives every level but the last a filter. The last holds nine of ten fingerprints: its
// filters would exceed the cache, and reading one filter of a million keys costs more than the
// lookup it saves.
func levels() (all [7]pebble.LevelOptions) {
	all[0].FilterPolicy = seenFilter{filterBits}
	all[len(all)-1].FilterPolicy = pebble.NoFilterPolicy
	return all
}

// checkDir rejects a folder that Pebble would wrongly take for an empty one, and one of a later
// Pebble.
func checkDir(dir string, fs FS) error {
	found, err := pebble.Peek(dir, fs)
	switch {
	case err != nil && strings.Contains(err.Error(), "unknown format major version"):
		return &VersionError{Dir: dir, Known: format}
	case err != nil:
		return err
	case found.Exists:
		return nil
	}
	names, err := fs.List(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") || strings.HasSuffix(name, ".log") {
			return &DamageError{dir, fmt.Errorf("%s, but no manifest that lists it", name)}
		}
	}
	return nil
}

// damage classifies an error of Pebble. It means damage, unless a system call failed.
func damage(dir string, err error) error {
	var errno syscall.Errno
	var version *VersionError
	var damaged *DamageError
	switch {
	case err == nil, errors.As(err, &version), errors.As(err, &damaged):
		return err
	case errors.Is(err, pebble.ErrDBDoesNotExist):
		return fmt.Errorf("store: %s: %w", dir, fs.ErrNotExist)
	case errors.As(err, &errno) && errno != syscall.ENOENT:
		return fmt.Errorf("store: %w", err)
	}
	return &DamageError{dir, err}
}

// logger catches the last of the ways in which Pebble ends the process.
type logger struct{ failure *failure }

func (logger) Infof(string, ...any)  {}
func (logger) Errorf(string, ...any) {}
func (l logger) Fatalf(format string, args ...any) {
	l.failure.block(wrap(fmt.Errorf(format, args...)))
}

func (e *pebbleEngine) get(key []byte) ([]byte, error) {
	value, closer, err := e.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	value = append([]byte{}, value...)
	return value, closer.Close()
}

// has looks up all keys with one iterator, which finds each table once and reads each block once.
func (e *pebbleEngine) has(keys [][]byte) ([]bool, error) {
	it, err := e.db.NewIter(nil)
	if err != nil {
		return nil, err
	}
	found := make([]bool, len(keys))
	for i, key := range keys {
		found[i] = it.SeekPrefixGE(key)
	}
	return found, it.Close() // with the error of the iteration
}

func (e *pebbleEngine) scan(from, to []byte, fn func(key, value []byte) bool) error {
	return e.scanAll([][2][]byte{{from, to}}, fn)
}

// scanAll reads the ranges with one iterator. It seeks to the start of a range only if it is not
// there yet: mostly, nothing lies between two ranges.
func (e *pebbleEngine) scanAll(ranges [][2][]byte, fn func(key, value []byte) bool) error {
	if len(ranges) == 0 {
		return nil
	}
	it, err := e.db.NewIter(&pebble.IterOptions{
		LowerBound: ranges[0][0], UpperBound: ranges[len(ranges)-1][1],
	})
	if err != nil {
		return err
	}
	ok := it.First()
	for _, r := range ranges {
		if ok && bytes.Compare(it.Key(), r[0]) < 0 {
			ok = it.SeekGE(r[0])
		}
		for ; ok && bytes.Compare(it.Key(), r[1]) < 0; ok = it.Next() {
			value, err := it.ValueAndErr()
			if err != nil {
				return errors.Join(err, it.Close())
			}
			if !fn(it.Key(), value) {
				return it.Close()
			}
		}
	}
	return it.Close() // with the error of the iteration
}

func (e *pebbleEngine) snapshot(dir string) error { return e.db.Checkpoint(dir) }

func (e *pebbleEngine) newWriter() writer { return pebbleWriter{e.db.NewBatch()} }

func (e *pebbleEngine) commit(w writer) error {
	return w.(pebbleWriter).batch.Commit(pebble.Sync)
}

func (e *pebbleEngine) close() error { return e.db.Close() }

// pebbleWriter drops errors, which only closed batches return.
type pebbleWriter struct{ batch *pebble.Batch }

func (b pebbleWriter) set(key, value []byte)       { _ = b.batch.Set(key, value, nil) }
func (b pebbleWriter) delete(key []byte)           { _ = b.batch.Delete(key, nil) }
func (b pebbleWriter) deleteRange(from, to []byte) { _ = b.batch.DeleteRange(from, to, nil) }
