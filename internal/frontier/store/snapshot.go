package store

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// looksDir is the folder, in that of the state, of the snapshots that other processes look at.
const looksDir = "looks"

// Snapshot makes a read-only job of the state as the last batch left it, without outputs, for
// another process to look at with Open. Its folder is named relative to the job's. It consists of
// links to tables, and a copy of the log, at most two of Options.Buffer: it takes milliseconds,
// whatever the size of the state, and keeps the tables on the disk until it is removed.
//
// Remove removes it unless a process has it open: then that process is to remove the folder. What
// killed processes leave, the next Open for writing removes.
func (s *Store) Snapshot() (dir string, remove func(), err error) {
	dir, err = read(&s.table, func() (string, error) {
		for {
			dir := path.Join("state", looksDir, strconv.FormatUint(s.part.Add(1), 10))
			full := s.fs.PathJoin(s.dir, dir)
			if _, err := s.fs.Stat(full); err == nil {
				continue // another process still looks at that of an earlier run
			}
			if err := s.fs.MkdirAll(full, 0o777); err != nil {
				return "", err
			}
			if err := s.table.engine.snapshot(s.fs.PathJoin(full, "state")); err != nil {
				_ = s.fs.RemoveAll(full)
				return "", err
			}
			return dir, nil
		}
	})
	if err != nil {
		return "", nil, err
	}
	return dir, func() { removeSnapshot(s.fs, s.fs.PathJoin(s.dir, dir)) }, nil
}

// removeSnapshots removes the snapshots that no process has open.
func (s *Store) removeSnapshots() {
	looks := s.fs.PathJoin(s.state, looksDir)
	names, err := s.fs.List(looks)
	if err != nil {
		return // there are none
	}
	for _, name := range names {
		removeSnapshot(s.fs, s.fs.PathJoin(looks, name))
	}
}

// removeSnapshot removes a snapshot unless a process has it open.
func removeSnapshot(in FS, dir string) {
	lock, err := in.Lock(in.PathJoin(dir, "state", lockFile))
	var broken *fs.PathError
	switch {
	case err == nil:
		defer func() { _ = lock.Close() }() // its file is gone
	case !errors.As(err, &broken):
		return // in use
	}
	_ = in.RemoveAll(dir) // what stays only takes space
}

// snapshotFS is the file system that Pebble sees. What goes into a snapshot is no part of the
// state: it need not be durable, and an error there is one of the snapshot only.
type snapshotFS struct {
	vfs.FS        // of the state
	aside  vfs.FS // of snapshots
	looks  string // their folder
}

func (s snapshotFS) Unwrap() vfs.FS { return s.FS }

// disk returns the file system of a file.
func (s snapshotFS) disk(name string) vfs.FS {
	if strings.HasPrefix(name, s.looks) {
		return s.aside
	}
	return s.FS
}

func (s snapshotFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := s.disk(name).Create(name, c)
	return s.unsynced(name, f), err
}

func (s snapshotFS) OpenDir(name string) (vfs.File, error) {
	f, err := s.disk(name).OpenDir(name)
	return s.unsynced(name, f), err
}

func (s snapshotFS) Link(old, name string) error { return s.disk(name).Link(old, name) }

func (s snapshotFS) MkdirAll(dir string, perm os.FileMode) error {
	return s.disk(dir).MkdirAll(dir, perm)
}

func (s snapshotFS) Remove(name string) error { return s.disk(name).Remove(name) }

func (s snapshotFS) RemoveAll(name string) error { return s.disk(name).RemoveAll(name) }

// unsynced returns a file whose syncs do nothing, if it is one of a snapshot.
func (s snapshotFS) unsynced(name string, f vfs.File) vfs.File {
	if f == nil || !strings.HasPrefix(name, s.looks) {
		return f
	}
	return unsyncedFile{f}
}

type unsyncedFile struct{ vfs.File }

func (unsyncedFile) Sync() error                { return nil }
func (unsyncedFile) SyncData() error            { return nil }
func (unsyncedFile) SyncTo(int64) (bool, error) { return false, nil }
