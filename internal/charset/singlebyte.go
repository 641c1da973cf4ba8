package charset

import "unicode/utf8"

// singleByte returns the decoder of an encoding with a table. The standard has the control
// characters U+0080 to U+009F where x/text has nothing.
func singleByte(decodeByte func(byte) rune) func(dst, src []byte) []byte {
	var upper [128]rune
	for i := range upper {
		b := byte(0x80 + i)
		upper[i] = decodeByte(b)
		if upper[i] == utf8.RuneError && b < 0xa0 {
			upper[i] = rune(b)
		}
	}
	return func(dst, src []byte) []byte {
		for {
			n := asciiPrefix(src)
			dst = append(dst, src[:n]...)
			for src = src[n:]; len(src) > 0 && src[0] >= utf8.RuneSelf; src = src[1:] {
				dst = utf8.AppendRune(dst, upper[src[0]-0x80])
			}
			if len(src) == 0 {
				return dst
			}
		}
	}
}
