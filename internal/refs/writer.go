package refs

import (
	"encoding/binary"

	"github.com/klauspost/compress/s2"
)

// MaxSize is the length, in bytes, from which on a file does not grow.
const MaxSize = 1 << 30

// maxBlock bounds the entries of a block, in bytes, but for one more entry.
const maxBlock = 1 << 20

// Writer makes blocks of entries.
type Writer struct {
	size int64 // of the file, with the blocks made
	most int64
}

// NewWriter returns a writer for a file with as many bytes; beyond most, usually MaxSize, it makes
// no more blocks.
func NewWriter(size, most int64) *Writer { return &Writer{size, most} }

// Pack returns the blocks that hold entries, which [Append] has made, to be appended to the file.
func (w *Writer) Pack(entries []byte) (blocks []byte) {
	for len(entries) > 0 && w.size < w.most {
		var n, again int
		for n < len(entries) && n < maxBlock {
			e, rest, err := next(entries[n:])
			if err != nil {
				panic("refs: " + err.Error()) // no entry of Append
			}
			if e.again {
				again++
			}
			n = len(entries) - len(rest)
		}
		packed := s2.Encode(nil, entries[:n])
		entries = entries[n:]
		begin := len(blocks)
		blocks = binary.AppendUvarint(blocks, uint64(len(packed)))
		blocks = binary.AppendUvarint(blocks, uint64(again))
		blocks = append(blocks, packed...)
		if w.size += int64(len(blocks) - begin); w.size >= w.most {
			blocks = append(blocks, 0)
		}
	}
	return blocks
}
