package store

import (
	"encoding/binary"
	"testing"
)

// SetFormat writes a format version to the state.
func SetFormat(t *testing.T, s *Store, version uint64) {
	t.Helper()
	b := s.Begin()
	b.set([]byte{keyVersion}, binary.AppendUvarint(nil, version))
	if err := s.Commit(b); err != nil {
		t.Fatal(err)
	}
}
