package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

const (
	lockFile = "LOCK"
	lastFile = "last"

	// lastSize is the number of a group, eight bytes, and a checksum of these, four.
	lastSize = 8 + 4
)

// openLast compares the state with the number in its file last, which Commit writes there
// when a group is durable. Pebble takes damage in the last of its logs for the end of
// it, and is silent: this number is what knows of the groups that came after.
//
// The file is not synced, so it may be behind what is durable, or after a loss of power
// unreadable; it never is ahead.
func (s *Store) openLast(o Options) error {
	if o.Memory {
		return nil
	}
	path := s.fs.PathJoin(s.state, lastFile)
	if known := readLast(s.fs, path); known > s.groups {
		return &DamageError{s.state, fmt.Errorf("%d groups that were committed are missing", known-s.groups)}
	}
	if o.ReadOnly {
		return nil
	}
	var err error
	s.last, err = s.fs.OpenReadWrite(path, "weft-last")
	return wrap(err)
}

// beginLast makes the file durable, so that to write a number takes no more room.
func (s *Store) beginLast() error {
	if s.last == nil {
		return nil
	}
	_, err := s.last.WriteAt(encodeLast(0), 0)
	if err == nil {
		err = s.last.Sync()
	}
	if err == nil {
		err = syncDir(s.fs, s.state)
	}
	return wrap(err)
}

// noteLast notes that so many groups are durable. Without it they are too.
func (s *Store) noteLast() {
	if s.last != nil {
		_, _ = s.last.WriteAt(encodeLast(s.groups), 0)
	}
}

func encodeLast(group uint64) []byte {
	b := binary.BigEndian.AppendUint64(nil, group)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// readLast returns the number in the file; 0 if there is none that can be read, which proves
// nothing.
func readLast(fs FS, path string) uint64 {
	f, err := fs.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	b := make([]byte, lastSize)
	if _, err := io.ReadFull(f, b); err != nil {
		return 0
	}
	group := binary.BigEndian.Uint64(b)
	if !bytes.Equal(b, encodeLast(group)) {
		return 0
	}
	return group
}

// clear takes the job out of its folder, of which the lock is held and stays. Outputs go
// before the state, and last after the rest of it, so that what a crash leaves is never
// taken for a job that has done less.
func (s *Store) clear(o Options) error {
	for _, name := range slices.Concat(o.Outputs, o.Clear) {
		if err := s.fs.RemoveAll(s.fs.PathJoin(s.dir, name)); err != nil {
			return wrap(err)
		}
	}
	if err := syncDir(s.fs, s.dir); err != nil {
		return wrap(err)
	}
	names, err := s.fs.List(s.state)
	if err != nil {
		return wrap(err)
	}
	for _, name := range names {
		if name == lockFile || name == lastFile {
			continue
		}
		if err := s.fs.RemoveAll(s.fs.PathJoin(s.state, name)); err != nil {
			return wrap(err)
		}
	}
	if err := syncDir(s.fs, s.state); err != nil {
		return wrap(err)
	}
	return wrap(s.fs.RemoveAll(s.fs.PathJoin(s.state, lastFile)))
}
