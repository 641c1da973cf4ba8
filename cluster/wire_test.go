package cluster

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/klauspost/compress/s2"
)

// TestUnpack: blocks come back as they were packed. What no node has packed is an error, and takes
// no more memory than a message of one.
func TestUnpack(t *testing.T) {
	t.Parallel()
	want := [][]byte{[]byte("one"), bytes.Repeat([]byte("2"), mostBlocks)}
	if got, err := unpack(pack(want)); err != nil || len(got) != 2 || !bytes.Equal(got[0], want[0]) || !bytes.Equal(got[1], want[1]) {
		t.Errorf("%d blocks, %v", len(got), err)
	}
	ones := bytes.Repeat([]byte{1, 'x'}, mostBlocks+1)
	for name, data := range map[string][]byte{
		"nothing":           {},
		"no S2":             []byte("junk"),
		"an empty block":    s2.Encode(nil, []byte{0}),
		"empty blocks":      s2.Encode(nil, make([]byte, mostUnpacked)),
		"too many blocks":   s2.Encode(nil, ones),
		"too long":          binary.AppendUvarint(nil, mostUnpacked+1),
		"a block cut off":   s2.Encode(nil, []byte{9, 'x'}),
		"a length cut off":  s2.Encode(nil, []byte{0x80}),
		"a length too long": s2.Encode(nil, bytes.Repeat([]byte{0xff}, 20)),
	} {
		if got, err := unpack(data); !errors.Is(err, errPacked) || got != nil {
			t.Errorf("%s: %d blocks, %v", name, len(got), err)
		}
	}
	if got, err := unpack(s2.Encode(nil, ones[2:])); err != nil || len(got) != mostBlocks {
		t.Errorf("%d blocks, %v", len(got), err)
	}
}
