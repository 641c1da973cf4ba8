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
	// buffer is the default of Options.Buffer. At most maxBuffers are in memory: writes
	// wait for the older then.
	buffer     = 16 << 20
	maxBuffers = 2

	// firstTables is of one key: from half as many on, tables of the first level are merged into the
	// next, which may have secondLevel times a buffer. Merging is most of what a new URL costs: the
	// tables of some buffers are to be not much less than what they are merged into. Reading asks more
	// tables for it, or their filters. See docs/bench/frontier.md.
	firstTables = 16
	mostTables  = 64 // writes wait then
	secondLevel = 4

	// filterBits is what a filter has for a fingerprint: it is mistaken of one in a hundred.
	filterBits = 10

	// blockCache is the default of Options.Cache: URLs are read in order, and once.
	blockCache = 8 << 20
)

// disked is the engine of a state on disk.
type disked struct{ db *pebble.DB }

// openPebble opens or makes the state in dir, which the caller has locked. What Pebble
// cannot go on after goes to fail.
func openPebble(dir string, fs FS, o Options, fail *failure) (*disked, error) {
	if err := known(dir, fs); err != nil {
		return nil, err
	}
	var db *pebble.DB
	size := cmp.Or(o.Buffer, buffer)
	err := fail.run(func() (err error) {
		db, err = pebble.Open(dir, &pebble.Options{
			FS:                          unfailing{fs, fail},
			ReadOnly:                    o.ReadOnly,
			FormatMajorVersion:          pebble.FormatValueSeparation,                         // part of our format: a newer Pebble is not to raise it
			CacheSize:                   int64(cmp.Or(o.Cache, blockCache) + maxBuffers*size), // which buffers take from
			MemTableSize:                uint64(size),
			MemTableStopWritesThreshold: maxBuffers,
			L0CompactionThreshold:       firstTables,
			L0StopWritesThreshold:       mostTables,
			LBaseMaxBytes:               secondLevel * int64(size),
			Levels:                      levels(),
			CompactionConcurrencyRange:  func() (int, int) { return 1, 2 },
			Logger:                      logger{fail},
			EventListener: &pebble.EventListener{
				// Whatever has met it, the state is not to be written to again.
				DataCorruption: func(d pebble.DataCorruptionInfo) { fail.set(&DamageError{dir, d.Details}) },
				// Pebble would try again at once, and for ever.
				BackgroundError: func(err error) { fail.park(damage(dir, err)) },
			},
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	return &disked{db}, nil
}

// levels gives all but the last a filter. That has nine of ten fingerprints: its filters would be
// larger than the cache, and to read one of a million costs more than to look.
func levels() (all [7]pebble.LevelOptions) {
	all[0].FilterPolicy = seenFilter{filterBits}
	all[len(all)-1].FilterPolicy = pebble.NoFilterPolicy
	return all
}

// known returns an error for a folder that Pebble would take for an empty one, though
// it is not, and for one of a Pebble from after ours.
func known(dir string, fs FS) error {
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
			return &DamageError{dir, fmt.Errorf("%s, and no manifest that knows of it", name)}
		}
	}
	return nil
}

// damage returns what an error of Pebble's means. That is damage, unless the system was
// asked for something it could not do.
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

// logger is the last of Pebble's ways to end the process.
type logger struct{ failure *failure }

func (logger) Infof(string, ...any)  {}
func (logger) Errorf(string, ...any) {}
func (l logger) Fatalf(format string, args ...any) {
	l.failure.park(wrap(fmt.Errorf(format, args...)))
}

func (e *disked) get(key []byte) ([]byte, error) {
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

// has goes through the keys with one iterator: so a table is found once, and of one after the
// other that lie in a block that is read once.
func (e *disked) has(keys [][]byte) ([]bool, error) {
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

func (e *disked) visit(from, to []byte, fn func(key, value []byte) bool) error {
	return e.visitAll([][2][]byte{{from, to}}, fn)
}

// visitAll goes through the ranges with one iterator, which looks for the beginning of one only if it is not
// there: mostly where a range ends the next has nothing.
func (e *disked) visitAll(ranges [][2][]byte, fn func(key, value []byte) bool) error {
	if len(ranges) == 0 {
		return nil
	}
	it, err := e.db.NewIter(&pebble.IterOptions{LowerBound: ranges[0][0], UpperBound: ranges[len(ranges)-1][1]})
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

func (e *disked) batch() batch { return pebbleBatch{e.db.NewBatch()} }

func (e *disked) commit(b batch) error {
	return b.(pebbleBatch).Batch.Commit(pebble.Sync)
}

func (e *disked) close() error { return e.db.Close() }

// pebbleBatch drops errors that only a closed batch has.
type pebbleBatch struct{ *pebble.Batch }

func (b pebbleBatch) set(key, value []byte)       { _ = b.Set(key, value, nil) }
func (b pebbleBatch) delete(key []byte)           { _ = b.Delete(key, nil) }
func (b pebbleBatch) deleteRange(from, to []byte) { _ = b.DeleteRange(from, to, nil) }
