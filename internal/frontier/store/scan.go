package store

import (
	"iter"
	"slices"
)

// read calls the engine.
func read[T any](s *Store, ask func() (T, error)) (T, error) {
	s.reading.RLock()
	defer s.reading.RUnlock()
	answer := make(chan T, 1) // an ask that never returns leaves it alone
	err := s.failure.run(func() error {
		a, err := ask()
		answer <- a
		return err
	})
	if err != nil {
		var none T
		return none, s.unreadable(err)
	}
	return <-answer, nil
}

// unreadable returns the error of a read.
func (s *Store) unreadable(err error) error {
	if failed := s.failure.get(); failed != nil {
		return failed
	}
	return damage(s.state, err)
}

const (
	// A scan reads so much at a time, so that a slow consumer delays no compaction.
	chunkEntries = 4096
	chunkBytes   = 1 << 20
)

// chunk is a run of entries.
type chunk struct {
	bytes []byte // key, value, key, value, …
	ends  []int  // in bytes
	more  bool   // others may follow
}

// after returns the first key that may follow those of a chunk that is not empty.
func (c *chunk) after() []byte {
	start, n := 0, len(c.ends)
	if n > 2 {
		start = c.ends[n-3]
	}
	return append(slices.Clone(c.bytes[start:c.ends[n-2]]), 0)
}

// chunk reads at most n entries from a key on. It preallocates as much as the previous chunk took.
func (s *Store) chunk(from, to []byte, before *chunk, n int) (*chunk, error) {
	return read(s, func() (*chunk, error) {
		c := &chunk{bytes: make([]byte, 0, len(before.bytes)), ends: make([]int, 0, len(before.ends))}
		err := s.engine.scan(from, to, func(key, value []byte) bool {
			c.bytes = append(append(c.bytes, key...), value...)
			c.ends = append(c.ends, len(c.bytes)-len(value), len(c.bytes))
			c.more = len(c.ends) >= 2*n || len(c.bytes) >= chunkBytes
			return !c.more
		})
		return c, err
	})
}

// entries yields keys and values.
func (c *chunk) entries(yield func(key, value []byte) bool) {
	start := 0
	for i := 0; i < len(c.ends); i += 2 {
		key, value := c.bytes[start:c.ends[i]], c.bytes[c.ends[i]:c.ends[i+1]]
		if !yield(key, value) {
			return
		}
		start = c.ends[i+1]
	}
}

// chunks yields the entries from a key on, up to and excluding another. It reads the next chunk
// while the caller handles one.
func (s *Store) chunks(from, to []byte) iter.Seq2[*chunk, error] {
	return func(yield func(*chunk, error) bool) {
		type answer struct {
			*chunk
			err error
		}
		next := make(chan answer, 1) // so that a read that nobody waits for ends
		c, err := s.chunk(from, to, new(chunk), chunkEntries)
		for {
			if err != nil {
				yield(nil, err)
				return
			}
			if before := c; c.more {
				go func() {
					c, err := s.chunk(before.after(), to, before, chunkEntries)
					next <- answer{c, err}
				}()
			}
			if !yield(c, nil) || !c.more {
				return
			}
			a := <-next
			c, err = a.chunk, a.err
		}
	}
}

// each yields the decoded entries from a key on, up to and excluding another, for which ok is true.
// The slices are valid during the call of decode only.
func each[T any](s *Store, from, to []byte, decode func(key, value []byte) (v T, ok bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for c, err := range s.chunks(from, to) {
			if err != nil {
				yield(none, err)
				return
			}
			for key, value := range c.entries {
				v, ok, err := decode(key, value)
				if err != nil {
					yield(none, s.check(key, err))
					return
				}
				if ok && !yield(v, nil) {
					return
				}
			}
		}
	}
}

// prefixEnd returns the first key after all keys with a prefix.
func prefixEnd(prefix []byte) []byte {
	end := slices.Clone(prefix)
	end[len(end)-1]++ // no name ends with byte 255, which UTF-8 lacks
	return end
}
