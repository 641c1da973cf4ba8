package store

// engine is an ordered map of keys to values that is changed by batches, each of them
// whole or not at all. Any goroutine may read; one at a time commits.
type engine interface {
	// get returns a value, the caller's to keep; nil: there is none.
	get(key []byte) ([]byte, error)

	// has reports which of the keys, in ascending order, there are.
	has(keys [][]byte) ([]bool, error)

	// visit calls fn with the entries from a key on, up to another and without it, in
	// order, until fn returns false. Their bytes are lent for the call.
	visit(from, to []byte, fn func(key, value []byte) bool) error

	// visitAll does the same for several ranges, in ascending order: pairs of from and to.
	visitAll(ranges [][2][]byte, fn func(key, value []byte) bool) error

	batch() batch
	commit(batch) error // what it returns nil for is durable
	close() error
}

// batch is changes in order: of two that touch a key the later one holds. It copies
// what it is given.
type batch interface {
	set(key, value []byte)
	delete(key []byte)
	deleteRange(from, to []byte) // without to
}
