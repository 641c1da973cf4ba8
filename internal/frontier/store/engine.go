package store

// engine is a store engine: an ordered map from keys to values. Changes are committed in atomic
// batches. Any goroutine may read; one at a time commits.
type engine interface {
	// get returns a value, which the caller owns; nil if there is none.
	get(key []byte) ([]byte, error)

	// has reports which of the keys, in ascending order, exist.
	has(keys [][]byte) ([]bool, error)

	// scan calls fn with the entries from a key on, up to and excluding another, in order,
	// until fn returns false. The slices are valid during the call only.
	scan(from, to []byte, fn func(key, value []byte) bool) error

	// scanAll does the same for several ranges in ascending order, pairs of from and to.
	scanAll(ranges [][2][]byte, fn func(key, value []byte) bool) error

	// snapshot makes a copy of all that is committed, for another process to open, in a folder
	// that does not exist.
	snapshot(dir string) error

	newWriter() writer
	commit(writer) error // durable once it returns nil
	close() error
}

// writer collects changes to commit together, in order: of two to the same key the later one wins.
// It copies its arguments.
type writer interface {
	set(key, value []byte)
	delete(key []byte)
	deleteRange(from, to []byte) // excluding to
}
