package charset

import "unicode/utf8"

// upperHalf is the characters of an encoding with a table, from byte 0x80 on.
type upperHalf struct {
	runes [128]rune
	sizes [128]uint8 // in UTF-8
}

// singleByte returns the characters of an encoding. The standard has the control characters U+0080
// to U+009F where x/text has nothing.
func singleByte(decodeByte func(byte) rune) *upperHalf {
	u := new(upperHalf)
	for i := range u.runes {
		b := byte(0x80 + i)
		r := decodeByte(b)
		if r == utf8.RuneError && b < 0xa0 {
			r = rune(b)
		}
		u.runes[i], u.sizes[i] = r, uint8(utf8.RuneLen(r))
	}
	return u
}

func (u *upperHalf) decode(dst, src []byte) []byte {
	for {
		n := asciiPrefix(src)
		dst = append(dst, src[:n]...)
		for src = src[n:]; len(src) > 0 && src[0] >= utf8.RuneSelf; src = src[1:] {
			dst = utf8.AppendRune(dst, u.runes[src[0]-0x80])
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
