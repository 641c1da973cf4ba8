package parquetfile

import "encoding/binary"

// group is the number of values that are packed together.
const group = 8

// appendRuns appends numbers of a width in bits as the format's hybrid: a run of equal ones once,
// others packed.
func appendRuns(b []byte, values []uint32, width int) []byte {
	for len(values) > 0 {
		if n := run(values); n >= group {
			b = binary.AppendUvarint(b, uint64(n)<<1)
			for shift := 0; shift < width; shift += 8 {
				b = append(b, byte(values[0]>>shift))
			}
			values = values[n:]
			continue
		}
		n := group
		for n < len(values) && run(values[n:]) < group {
			n += group
		}
		b = binary.AppendUvarint(b, uint64(n/group)<<1|1)
		n = min(n, len(values))
		b = appendPacked(b, values[:n], width)
		values = values[n:]
	}
	return b
}

// run returns how many values at the beginning are equal.
func run(values []uint32) int {
	n := 1
	for n < len(values) && values[n] == values[0] {
		n++
	}
	return n
}

// appendPacked appends numbers of a width in bits, the lowest bit first, and zeros up to a whole
// number of groups.
func appendPacked(b []byte, values []uint32, width int) []byte {
	var bits uint64
	held := 0
	for _, v := range values {
		bits |= uint64(v) << held
		for held += width; held >= 8; held -= 8 {
			b = append(b, byte(bits))
			bits >>= 8
		}
	}
	for at := len(values); at%group != 0; at++ {
		for held += width; held >= 8; held -= 8 {
			b = append(b, byte(bits))
			bits >>= 8
		}
	}
	return b
}
