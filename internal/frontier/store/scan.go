package store

import (
	"fmt"
	"iter"
	"slices"
	"sync"
)

// table is the committed state, as it is read: keys and values in the order of the keys.
type table struct {
	dir     string // of the engine
	engine  engine
	failure *failure     // the store's
	reading sync.RWMutex // held by Close to have no reader
}

// read calls the engine.
func read[T any](t *table, ask func() (T, error)) (T, error) {
	t.reading.RLock()
	defer t.reading.RUnlock()
	answer := make(chan T, 1) // an ask that never returns leaves it alone
	err := t.failure.run(func() error {
		a, err := ask()
		answer <- a
		return err
	})
	if err != nil {
		var none T
		return none, t.unreadable(err)
	}
	return <-answer, nil
}

// unreadable returns the error of a read.
func (t *table) unreadable(err error) error {
	if failed := t.failure.get(); failed != nil {
		return failed
	}
	return damage(t.dir, err)
}

// check turns an error of decoding the value of a key into one of the store.
func (t *table) check(key []byte, err error) error {
	if err == nil {
		return nil
	}
	return &DamageError{t.dir, fmt.Errorf("key %q: %w", printable(key), err)}
}

func (t *table) get(key []byte) ([]byte, error) {
	return read(t, func() ([]byte, error) { return t.engine.get(key) })
}

// number returns a value that is a number, or 0.
func (t *table) number(key []byte) (uint64, error) {
	value, err := t.get(key)
	if err != nil || value == nil {
		return 0, err
	}
	n, err := decodeNumber(value)
	return n, t.check(key, err)
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
func (t *table) chunk(from, to []byte, before *chunk, n int) (*chunk, error) {
	return read(t, func() (*chunk, error) {
		c := &chunk{bytes: make([]byte, 0, len(before.bytes)), ends: make([]int, 0, len(before.ends))}
		err := t.engine.scan(from, to, func(key, value []byte) bool {
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
func (t *table) chunks(from, to []byte) iter.Seq2[*chunk, error] {
	return func(yield func(*chunk, error) bool) {
		type answer struct {
			*chunk
			err error
		}
		next := make(chan answer, 1) // so that a read that nobody waits for ends
		c, err := t.chunk(from, to, new(chunk), chunkEntries)
		for {
			if err != nil {
				yield(nil, err)
				return
			}
			if before := c; c.more {
				go func() {
					c, err := t.chunk(before.after(), to, before, chunkEntries)
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
func each[T any](t *table, from, to []byte, decode func(key, value []byte) (v T, ok bool, err error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		for c, err := range t.chunks(from, to) {
			if err != nil {
				yield(none, err)
				return
			}
			for key, value := range c.entries {
				v, ok, err := decode(key, value)
				if err != nil {
					yield(none, t.check(key, err))
					return
				}
				if ok && !yield(v, nil) {
					return
				}
			}
		}
	}
}
