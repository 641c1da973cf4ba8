package charset

import (
	"encoding/binary"
	"unicode/utf8"
)

// upperHalf is the characters of an encoding with a table, from byte 0x80 on, in UTF-8.
type upperHalf struct {
	texts [128]uint32 // little-endian
	sizes [128]uint8
}

// singleByte returns the characters of an encoding. The standard has the control characters U+0080
// to U+009F where x/text has nothing.
func singleByte(decodeByte func(byte) rune) *upperHalf {
	u := new(upperHalf)
	for i := range u.texts {
		b := byte(0x80 + i)
		r := decodeByte(b)
		if r == utf8.RuneError && b < 0xa0 {
			r = rune(b)
		}
		var text [4]byte
		u.sizes[i] = uint8(utf8.EncodeRune(text[:], r))
		u.texts[i] = binary.LittleEndian.Uint32(text[:])
	}
	return u
}

func (u *upperHalf) decode(dst, src []byte) []byte {
	for {
		n := asciiPrefix(src)
		dst = append(dst, src[:n]...)
		for src = src[n:]; len(src) > 0 && src[0] >= utf8.RuneSelf; src = src[1:] {
			n, i := len(dst), src[0]-0x80
			if n+4 > cap(dst) { // so all room, which is exact, can be used
				var text [4]byte
				binary.LittleEndian.PutUint32(text[:], u.texts[i])
				dst = append(dst, text[:u.sizes[i]]...)
				continue
			}
			binary.LittleEndian.PutUint32(dst[n:n+4], u.texts[i])
			dst = dst[:n+int(u.sizes[i])]
		}
		if len(src) == 0 {
			return dst
		}
	}
}

func (u *upperHalf) room(src []byte) (n int) {
	for {
		ascii := asciiPrefix(src)
		n += ascii
		for src = src[ascii:]; len(src) > 0 && src[0] >= utf8.RuneSelf; src = src[1:] {
			n += int(u.sizes[src[0]-0x80])
		}
		if len(src) == 0 {
			return n
		}
	}
}

// asciiPrefix returns the number of ASCII bytes before the first other byte.
func asciiPrefix(b []byte) int {
	const high = 0x8080808080808080
	n := 0
	for len(b)-n >= 32 {
		c := b[n : n+32 : n+32]
		if (binary.LittleEndian.Uint64(c)|binary.LittleEndian.Uint64(c[8:])|binary.LittleEndian.Uint64(c[16:])|binary.LittleEndian.Uint64(c[24:]))&high != 0 {
			break
		}
		n += 32
	}
	for len(b)-n >= 8 && binary.LittleEndian.Uint64(b[n:])&high == 0 {
		n += 8
	}
	for n < len(b) && b[n] < utf8.RuneSelf {
		n++
	}
	return n
}
