package cluster

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/klauspost/compress/s2"
)

// mostBlocks bounds the bytes of a message's blocks, unless a single block is longer: whoever reads
// the message holds all of them in memory.
const mostBlocks = 1 << 20

// fit returns how many of some blocks go into a message: at least one.
func fit(blocks [][]byte) (n int) {
	for size := 0; n < len(blocks); n++ {
		if size += len(blocks[n]); n > 0 && size > mostBlocks {
			break
		}
	}
	return n
}

// pack puts blocks into one piece of data, compressed.
func pack(blocks [][]byte) []byte {
	var all []byte
	for _, b := range blocks {
		all = append(binary.AppendUvarint(all, uint64(len(b))), b...)
	}
	return s2.Encode(nil, all)
}

// mostUnpacked is the largest unpacked size that a message may announce.
const mostUnpacked = 64 << 20

var errPacked = errors.New("not what a node has packed")

// unpack is the reverse of pack. No block is empty, so several are mostBlocks at most: see fit.
func unpack(data []byte) (blocks [][]byte, err error) {
	size, err := s2.DecodedLen(data)
	if err != nil || size > mostUnpacked {
		return nil, fmt.Errorf("%w: %d bytes", errPacked, len(data))
	}
	all, err := s2.Decode(nil, data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errPacked, err)
	}
	for len(all) > 0 {
		n, k := binary.Uvarint(all)
		if k <= 0 || n == 0 || n > uint64(len(all)-k) || len(blocks) == mostBlocks {
			return nil, errPacked
		}
		blocks = append(blocks, all[k:k+int(n)])
		all = all[k+int(n):]
	}
	return blocks, nil
}
