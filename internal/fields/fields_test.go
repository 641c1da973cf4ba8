package fields

import (
	"encoding/binary"
	"testing"
)

func TestReader(t *testing.T) {
	b := binary.AppendVarint(nil, -300)
	b = append(binary.AppendUvarint(b, 300), 7, 3, 'a', 'b', 'c', 'd', 'e')
	r := Reader{Rest: b}
	if v, u, c, s, rest := r.Varint(), r.Uvarint(), r.Byte(), r.Text(), string(r.Bytes(2)); v != -300 || u != 300 || c != 7 || s != "abc" || rest != "de" || r.Bad {
		t.Errorf("%d, %d, %d, %q, %q, bad: %v", v, u, c, s, rest, r.Bad)
	}
}

// TestReaderCut: what is cut short is invalid, and so is all that follows.
func TestReaderCut(t *testing.T) {
	for name, read := range map[string]func(*Reader){
		"varint":  func(r *Reader) { r.Varint() },
		"uvarint": func(r *Reader) { r.Uvarint() },
		"bytes":   func(r *Reader) { r.Bytes(2) },
		"text":    func(r *Reader) { r.Text() },
	} {
		r := Reader{Rest: []byte{0xff}}
		if read(&r); !r.Bad || r.Byte() != 0 || len(r.Rest) > 0 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
