// Package fields reads the fields of encoded values: numbers as varints, texts behind their length.
package fields

import "encoding/binary"

// Reader reads fields from Rest. After an invalid field it returns zeros: a caller looks at Bad in
// the end.
type Reader struct {
	Rest []byte
	Bad  bool
}

// Fail says that a field is invalid. Nothing is left to read then.
func (r *Reader) Fail() { r.Rest, r.Bad = nil, true }

// Varint reads a signed number.
func (r *Reader) Varint() int64 {
	v, n := binary.Varint(r.Rest)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// Uvarint reads an unsigned number.
func (r *Reader) Uvarint() uint64 {
	v, n := binary.Uvarint(r.Rest)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if len(r.Rest) == 0 {
		r.Fail()
		return 0
	}
	v := r.Rest[0]
	r.Rest = r.Rest[1:]
	return v
}

// Bytes reads n bytes, which stay part of the value; nil if there are fewer.
func (r *Reader) Bytes(n int) []byte {
	if n > len(r.Rest) {
		r.Fail()
		return nil
	}
	b := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return b
}

// Text reads a text.
func (r *Reader) Text() string {
	n := r.Uvarint()
	if n > uint64(len(r.Rest)) {
		r.Fail()
		return ""
	}
	return string(r.Bytes(int(n)))
}
