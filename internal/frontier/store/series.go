package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// A series is a folder of outputs that batches begin and end: Append begins one that is new, End
// ends it. Until then its file is named with openSuffix.
//
// The state has the length of each, and whether it has ended. The file gets its final name after
// the batch that ends it: a run that was killed in between leaves that to the next.
const openSuffix = ".open"

// Output is the state's knowledge of an output of a series.
type Output struct {
	Name  string // in the job's folder, without the suffix of an open one
	Size  int64  // committed bytes
	Ended bool
}

// Path returns the name of the file, in the job's folder.
func (o Output) Path() string {
	if o.Ended {
		return o.Name
	}
	return o.Name + openSuffix
}

// Series returns the outputs of Options.Series by name.
func (s *Store) Series() (all []Output, err error) {
	if s.series.dir == "" {
		return nil, nil
	}
	// The byte '0' follows '/'.
	from, to := textKey(keyOutput, s.series.dir+"/"), textKey(keyOutput, s.series.dir+"0")
	for o, err := range each(&s.table, from, to, func(key, value []byte) (Output, bool, error) {
		size, n := binary.Uvarint(value)
		if n <= 0 {
			return Output{}, false, errValue
		}
		name := string(key[1:])
		return Output{name, int64(size), n < len(value)}, !slices.Contains(s.fixed, name), nil
	}) {
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// series are the outputs that are open; committing guards them.
type series struct {
	dir  string // "": there is none
	open map[string]*output
}

// has reports whether a name is that of an output of the series.
func (s *series) has(name string) bool {
	return s.dir != "" && strings.HasPrefix(name, s.dir+"/")
}

// openSeries checks the files of a series, opens those that have not ended, and removes what was
// begun without being committed.
func (s *Store) openSeries(readOnly bool) error {
	all, err := s.Series()
	if err != nil || s.series.dir == "" {
		return err
	}
	known := make(map[string]bool)
	for _, o := range all {
		known[o.Path()] = true
		if o.Ended {
			if err := s.checkEnded(o, readOnly); err != nil {
				return err
			}
			continue
		}
		out, err := openOutput(s.fs, s.fs.PathJoin(s.dir, o.Path()), o.Size, readOnly)
		if err != nil {
			return err
		}
		s.series.open[o.Name] = out
	}
	if readOnly {
		return nil
	}
	dir := s.fs.PathJoin(s.dir, s.series.dir)
	names, err := s.fs.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, name := range names {
		if err == nil && strings.HasSuffix(name, openSuffix) && !known[s.series.dir+"/"+name] {
			err = s.fs.Remove(s.fs.PathJoin(dir, name))
		}
	}
	if err == nil {
		err = syncDir(s.fs, dir)
	}
	return wrap(err)
}

// checkEnded checks the length of an output that has ended, and gives it its final name if no run
// has come to that.
func (s *Store) checkEnded(o Output, readOnly bool) error {
	path := s.fs.PathJoin(s.dir, o.Name)
	if _, err := s.fs.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if _, err := s.fs.Stat(path + openSuffix); err == nil && !readOnly {
			return wrap(s.fs.Rename(path+openSuffix, path))
		} else if err == nil {
			path += openSuffix
		}
	}
	size, err := fileSize(s.fs, path)
	if err == nil && size < o.Size {
		return &ShortError{Name: path, Size: size, Want: o.Size}
	}
	return wrap(err)
}

// outputOf returns an output to append to. One of the series that is new is begun.
func (s *Store) outputOf(name string) (*output, error) {
	if o := s.outputs[name]; o != nil {
		return o, nil
	}
	if o := s.series.open[name]; o != nil {
		return o, nil
	}
	dir := s.fs.PathJoin(s.dir, s.series.dir)
	if err := s.fs.MkdirAll(dir, 0o777); err != nil {
		return nil, wrap(err)
	}
	o, err := openOutput(s.fs, s.fs.PathJoin(s.dir, name+openSuffix), 0, false)
	if err != nil {
		return nil, err
	}
	s.series.open[name] = o
	for _, d := range []string{s.dir, dir} {
		if err := syncDir(s.fs, d); err != nil {
			return nil, wrap(err)
		}
	}
	return o, nil
}

// endOutputs gives the outputs that a committed batch has ended their final names.
func (s *Store) endOutputs(names []string) error {
	for _, name := range names {
		o := s.series.open[name]
		if o == nil {
			continue
		}
		delete(s.series.open, name)
		if err := o.close(); err != nil {
			return wrap(err)
		}
		if err := s.fs.Rename(o.path, strings.TrimSuffix(o.path, openSuffix)); err != nil {
			return wrap(err)
		}
		if err := syncDir(s.fs, s.fs.PathJoin(s.dir, s.series.dir)); err != nil {
			return wrap(err)
		}
	}
	return nil
}

// inOrder returns the names of outputs in the order in which they are written: those of the series
// first, so that an index among Options.Outputs leads to what is there.
func (s *Store) inOrder(all map[string]*lines) []string {
	names := slices.Sorted(maps.Keys(all))
	slices.SortStableFunc(names, func(x, y string) int {
		return cmp.Compare(slices.Index(s.fixed, x), slices.Index(s.fixed, y))
	})
	return names
}
