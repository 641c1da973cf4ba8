package store

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// clearingFile is there while a job is being removed by Options.Fresh. It names what else than the
// state goes, one name a line.
const clearingFile = "clearing"

// clear removes the job from its folder and keeps the lock. The list of what goes is durable before
// anything does, so that whoever opens the folder after a crash finishes the work: there is either
// the old job or none.
func (s *Store) clear(names []string) error {
	part := s.fs.PathJoin(s.partialDir(), clearingFile)
	err := s.fs.MkdirAll(s.partialDir(), 0o777)
	if err == nil {
		err = writeFile(s.fs, part, []byte(strings.Join(names, "\n")))
	}
	if err == nil {
		err = s.fs.Rename(part, s.fs.PathJoin(s.state, clearingFile))
	}
	if err == nil {
		err = syncDir(s.fs, s.state)
	}
	if err != nil {
		return wrap(err)
	}
	return s.finishClearing(names)
}

// clearing returns what an interrupted clear has left to remove; underWay: there was one.
func (s *Store) clearing() (names []string, underWay bool, err error) {
	path := s.fs.PathJoin(s.state, clearingFile)
	if _, err := s.fs.Stat(path); err != nil {
		return nil, false, nil
	}
	f, err := s.fs.Open(path)
	if err != nil {
		return nil, false, wrap(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	names = strings.Split(string(text), "\n")
	for _, name := range names { // the job may come from elsewhere
		if err == nil && name != "" && !s.mayClear(name, names) {
			err = &DamageError{s.state, fmt.Errorf("%s has %.128q, expected the name of an output", clearingFile, name)}
		}
	}
	return names, true, wrap(err)
}

// mayClear reports whether a name is that of something in the folder of the job, or in one of the
// folders there that go, too: another may be a link.
func (s *Store) mayClear(name string, all []string) bool {
	first, _, below := strings.Cut(name, "/")
	return name == filepath.Clean(name) && name != "." && filepath.IsLocal(name) && first != s.fs.PathBase(s.state) && (!below || slices.Contains(all, first))
}

// finishClearing removes the named files and folders, then the state, and last the list.
func (s *Store) finishClearing(names []string) error {
	for _, name := range names {
		first, _, below := strings.Cut(name, "/")
		if name == "" || below && slices.Contains(names, first) {
			// It goes with its folder, or that is a link.
			continue
		}
		if err := s.fs.RemoveAll(s.fs.PathJoin(s.dir, name)); err != nil {
			return wrap(err)
		}
	}
	if err := syncDir(s.fs, s.dir); err != nil {
		return wrap(err)
	}
	kept := []string{lockFile, clearingFile}
	inside, err := s.fs.List(s.state)
	if err != nil {
		return wrap(err)
	}
	for _, name := range slices.DeleteFunc(inside, func(name string) bool { return slices.Contains(kept, name) }) {
		if err := s.fs.RemoveAll(s.fs.PathJoin(s.state, name)); err != nil {
			return wrap(err)
		}
	}
	if err := syncDir(s.fs, s.state); err != nil {
		return wrap(err)
	}
	err = s.fs.Remove(s.fs.PathJoin(s.state, clearingFile))
	if err == nil {
		err = syncDir(s.fs, s.state) // or a crash could bring the list back, and it would end the new job
	}
	return wrap(err)
}
