package crawls

import (
	"io/fs"
	"path/filepath"
	"time"
)

// scales weigh the crawls of a folder, under its lock.
type scales struct {
	folder *Folder
	busy   bool      // crawls are being measured
	next   time.Time // no measuring before
}

// confine measures the crawls of each user with a limit of disk, and stops those that run or wait
// once the limit is reached.
func (s *scales) confine(all []*entry) {
	f := s.folder
	limits, sums := make(map[string]Limits), make(map[string]int64)
	var changing []*entry
	for _, e := range all {
		l, known := limits[e.By]
		if !known {
			l = f.o.Limits(e.By)
			limits[e.By] = l
		}
		if l.Disk <= 0 {
			continue
		}
		sums[e.By] += e.then.size.bytes
		if !e.then.size.rests || !e.rests() {
			changing = append(changing, e)
		}
	}
	for _, e := range all {
		if most := limits[e.By].Disk; most > 0 && sums[e.By] >= most && !e.State.Ended() && !e.Stopping {
			e.Stopping, e.Message = true, (&OverLimit{"max-disk", sums[e.By], most}).Error()
			f.saved(e)
			f.awake()
		}
	}
	if len(changing) == 0 || f.closed || s.busy || f.now().Before(s.next) {
		return
	}
	s.busy = true
	since := make([]time.Time, len(changing))
	for i, e := range changing {
		since[i] = e.Ended
		e.then.size.rests = e.rests() // unless something follows before it is measured
	}
	f.beside.Go(func() { s.measure(changing, since) })
}

// measure measures the files of crawls.
func (s *scales) measure(some []*entry, since []time.Time) {
	f := s.folder
	began, sizes := time.Now(), make([]int64, len(some))
	for i, e := range some {
		for _, kind := range kinds {
			if f.life.Err() == nil {
				sizes[i] += sizeOf(f.path(e.Name, kind))
			}
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i, e := range some {
		e.then.size.bytes = sizes[i]
		e.then.size.rests = e.then.size.rests && e.rests() && e.Ended.Equal(since[i])
	}
	// It takes at most a twentieth of the time, however many files there are.
	s.busy, s.next = false, f.now().Add(max(lookEvery, 20*time.Since(began)))
	f.awake()
}

// sizeOf returns the bytes of a file, or of all in a folder. Those that go meanwhile have none.
func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
