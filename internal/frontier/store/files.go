package store

import "strconv"

// WriteFile creates a file, relative to the job's folder, whole or not at all. It is durable once a
// batch that lists its folder in SyncDir is committed. Any goroutine may call it. An existing file
// is replaced, or left alone: then concurrent calls with the same name must write the same bytes.
func (s *Store) WriteFile(name string, data []byte, replace bool) error {
	path := s.fs.PathJoin(s.dir, name)
	if _, err := s.fs.Stat(path); err == nil && !replace {
		return nil
	}
	dirs := []string{s.partialDir()}
	for i, c := range name {
		if c == '/' {
			dirs = append(dirs, s.fs.PathJoin(s.dir, name[:i]))
		}
	}
	for _, dir := range dirs {
		if err := s.fs.MkdirAll(dir, 0o777); err != nil {
			return wrap(err)
		}
	}
	part := s.fs.PathJoin(s.partialDir(), strconv.FormatUint(s.part.Add(1), 10))
	err := writeFile(s.fs, part, data)
	if err == nil {
		err = s.fs.Rename(part, path)
	}
	if err != nil {
		_ = s.fs.Remove(part)
	}
	return wrap(err)
}

// partialDir is the folder of files that are not whole yet.
func (s *Store) partialDir() string { return s.fs.PathJoin(s.state, "part") }
