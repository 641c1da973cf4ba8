package store

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// seenFilter is a Bloom filter of the fingerprints in a table. Other keys need none: they are read
// only if they exist. Its name is part of the format.
type seenFilter struct{ bloom.FilterPolicy }

func (seenFilter) Name() string { return "weft.seen" }

func (f seenFilter) MayContain(t pebble.FilterType, filter, key []byte) bool {
	return key[0] != keySeen || f.FilterPolicy.MayContain(t, filter, key)
}

func (f seenFilter) NewWriter(t pebble.FilterType) pebble.FilterWriter {
	return seenFilterWriter{f.FilterPolicy.NewWriter(t)}
}

type seenFilterWriter struct{ pebble.FilterWriter }

func (w seenFilterWriter) AddKey(key []byte) {
	if key[0] == keySeen {
		w.FilterWriter.AddKey(key)
	}
}
