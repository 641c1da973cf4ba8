package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	lockFile      = "LOCK"
	watermarkFile = "last"

	// watermarkSize is eight bytes for the number of a batch and four for their checksum.
	watermarkSize = 8 + 4
)

// openWatermark compares the state with the watermark, the number in its file last, which Commit
// writes once a batch is durable. Pebble silently takes damage in its last log for the end of the
// log: the watermark reveals the batches after it.
//
// The file is not synced, so it may lag behind, or be unreadable after a loss of power; it is never
// ahead.
func (s *Store) openWatermark(o Options) error {
	if o.Memory {
		return nil
	}
	path := s.fs.PathJoin(s.state, watermarkFile)
	if known := readWatermark(s.fs, path); known > s.batches {
		return &DamageError{s.state, fmt.Errorf("%d committed batches are missing", known-s.batches)}
	}
	if o.ReadOnly {
		return nil
	}
	var err error
	s.watermark, err = s.fs.OpenReadWrite(path, "weft-last")
	return wrap(err)
}

// createWatermark makes the file durable, so that later writes need no more space.
func (s *Store) createWatermark() error {
	if s.watermark == nil {
		return nil
	}
	_, err := s.watermark.WriteAt(encodeWatermark(0), 0)
	if err == nil {
		err = s.watermark.Sync()
	}
	if err == nil {
		err = syncDir(s.fs, s.state)
	}
	return wrap(err)
}

// writeWatermark records the number of durable batches. Its errors do not matter.
func (s *Store) writeWatermark() {
	if s.watermark != nil {
		_, _ = s.watermark.WriteAt(encodeWatermark(s.batches), 0)
	}
}

func encodeWatermark(batch uint64) []byte {
	b := binary.BigEndian.AppendUint64(nil, batch)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
}

// readWatermark returns the number in the file; 0 if it is missing or unreadable, which proves
// nothing.
func readWatermark(fs FS, path string) uint64 {
	f, err := fs.Open(path)
	if err != nil {
		return 0
	}
	defer f.Close()
	b := make([]byte, watermarkSize)
	if _, err := io.ReadFull(f, b); err != nil {
		return 0
	}
	batch := binary.BigEndian.Uint64(b)
	if !bytes.Equal(b, encodeWatermark(batch)) {
		return 0
	}
	return batch
}
