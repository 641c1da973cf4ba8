package sqlitefile

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// record is a row, or an entry of an index, in its making: a header with the type of each value,
// then the values.
type record struct{ types, values, all []byte }

func (r *record) begin() { r.types, r.values = r.types[:0], r.values[:0] }

// bytes returns the record, valid until the next begins.
func (r *record) bytes() []byte {
	size := len(r.types) + 1 // the header's size counts itself
	for size != len(r.types)+varintSize(uint64(size)) {
		size = len(r.types) + varintSize(uint64(size))
	}
	r.all = appendVarint(r.all[:0], uint64(size))
	r.all = append(r.all, r.types...)
	r.all = append(r.all, r.values...)
	return r.all
}

func (r *record) add(v any) error {
	switch v := v.(type) {
	case nil:
		r.types = append(r.types, 0)
	case string:
		r.text(v)
	case int64:
		r.integer(v)
	case bool:
		r.integer(int64(oneIf(v)))
	case float64:
		r.float(v)
	default:
		return fmt.Errorf("sqlitefile: a value of type %T", v)
	}
	return nil
}

func oneIf(v bool) byte {
	if v {
		return 1
	}
	return 0
}

func (r *record) text(s string) {
	r.types = appendVarint(r.types, 13+2*uint64(len(s)))
	r.values = append(r.values, s...)
}

// integer adds an integer in as few bytes as the format has for it.
func (r *record) integer(v int64) {
	if v == 0 || v == 1 { // the type says it all
		r.types = append(r.types, 8+byte(v))
		return
	}
	for _, size := range []struct{ kind, bytes byte }{{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 6}, {6, 8}} {
		if shift := 64 - 8*int(size.bytes); v<<shift>>shift == v {
			r.types = append(r.types, size.kind)
			for at := int(size.bytes) - 1; at >= 0; at-- {
				r.values = append(r.values, byte(v>>(8*at)))
			}
			return
		}
	}
}

// float adds a number; NaN is NULL, as in SQLite.
func (r *record) float(v float64) {
	if math.IsNaN(v) {
		r.types = append(r.types, 0)
		return
	}
	r.types = append(r.types, 7)
	r.values = binary.BigEndian.AppendUint64(r.values, math.Float64bits(v))
}

// Keys of an index are sorted by their bytes: the kind of the value, in SQLite's order, then the
// value, then the row.
const (
	keyNull = iota
	keyInteger
	keyText

	rowidSize = 8
)

// appendKey appends the key of a value in a row. The end of a text is 0 0, and 0 in it is 0 1: so
// "a" comes before "a\x00" and "ab".
func appendKey(key []byte, v any, rowid int64) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		key = append(key, keyNull)
	case bool:
		key = appendInteger(key, int64(oneIf(v)))
	case int64:
		key = appendInteger(key, v)
	case string:
		key = append(key, keyText)
		for i := range len(v) {
			if key = append(key, v[i]); v[i] == 0 {
				key = append(key, 1)
			}
		}
		key = append(key, 0, 0)
	default:
		return nil, fmt.Errorf("sqlitefile: a value of type %T in an index", v)
	}
	return binary.BigEndian.AppendUint64(key, uint64(rowid)), nil
}

func appendInteger(key []byte, v int64) []byte {
	return binary.BigEndian.AppendUint64(append(key, keyInteger), uint64(v)^1<<63)
}

// key adds the value of a key to a record.
func (r *record) key(key []byte) {
	switch key[0] {
	case keyNull:
		r.types = append(r.types, 0)
	case keyInteger:
		r.integer(int64(binary.BigEndian.Uint64(key[1:]) ^ 1<<63))
	case keyText:
		at := len(r.values)
		for rest := key[1 : len(key)-2]; ; {
			part, after, more := bytes.Cut(rest, []byte{0, 1})
			r.values = append(r.values, part...)
			if !more {
				break
			}
			r.values = append(r.values, 0)
			rest = after
		}
		r.types = appendVarint(r.types, 13+2*uint64(len(r.values)-at))
	}
}

// appendVarint appends an integer as SQLite has it: groups of seven bits, the highest first. A
// ninth byte would have eight bits: no length and no rowid needs it.
func appendVarint(b []byte, v uint64) []byte {
	size := varintSize(v)
	for shift := 7 * (size - 1); shift > 0; shift -= 7 {
		b = append(b, byte(v>>shift)|0x80)
	}
	return append(b, byte(v)&0x7f)
}

func varintSize(v uint64) int {
	size := 1
	for v >>= 7; v > 0; v >>= 7 {
		size++
	}
	return size
}
