package store

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	lockFile      = "LOCK"
	watermarkFile = "last"

	// watermarkSize is eight bytes for the number of a batch and four for their checksum.
	watermarkSize = 8 + 4
)

// watermark is the number of the last batch in its file last, which Commit writes once a batch is
// durable. Pebble silently takes damage in its last log for the end of the log: the watermark
// reveals the batches after it.
//
// The file is not synced, so it may lag behind, or be unreadable after a loss of power; it is never
// ahead.
type watermark struct {
	dir  string
	fs   FS
	file vfs.File // nil in memory or read-only
}

// openWatermark compares the state in a folder, of so many batches, with the watermark there.
func openWatermark(fs FS, dir string, batches uint64, readOnly bool) (watermark, error) {
	path := fs.PathJoin(dir, watermarkFile)
	if known := readWatermark(fs, path); known > batches {
		return watermark{}, &DamageError{dir, fmt.Errorf("%d committed batches are missing", known-batches)}
	}
	if readOnly {
		return watermark{}, nil
	}
	f, err := fs.OpenReadWrite(path, "weft-last")
	return watermark{dir, fs, f}, wrap(err)
}

// create makes the file durable, so that later writes need no more space.
func (w *watermark) create() error {
	if w.file == nil {
		return nil
	}
	_, err := w.file.WriteAt(encodeWatermark(0), 0)
	if err == nil {
		err = w.file.Sync()
	}
	if err == nil {
		err = syncDir(w.fs, w.dir)
	}
	return wrap(err)
}

// write records the number of durable batches. Its errors do not matter.
func (w *watermark) write(batches uint64) {
	if w.file != nil {
		_, _ = w.file.WriteAt(encodeWatermark(batches), 0)
	}
}

func (w *watermark) close() {
	if w.file != nil {
		_ = w.file.Close() // the watermark is optional
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
