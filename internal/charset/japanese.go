package charset

import (
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/japanese"
)

// halfKatakana is the distance from byte 0xA1 to U+FF61, and so on.
const halfKatakana = 0xff61 - 0xa1

func decodeShiftJIS(pairs *index, dst, src []byte) []byte {
	for i := 0; i < len(src); i++ {
		b := src[i]
		switch {
		case b <= 0x80:
			dst = utf8.AppendRune(dst, rune(b))
		case 0xa1 <= b && b <= 0xdf:
			dst = utf8.AppendRune(dst, halfKatakana+rune(b))
		case b == 0xa0 || b > 0xfc || i+1 == len(src):
			dst = utf8.AppendRune(dst, utf8.RuneError)
		default:
			i++
			r := pairs.at(b, src[i])
			if 0xf0 <= b && b <= 0xf9 {
				r = privateUse(b, src[i])
			}
			var n int
			dst, n = appendPair(dst, r, src[i])
			i += n - 1
		}
	}
	return dst
}

// privateUse returns a private use character, U+E000 to U+E757; 0 if trail is no trail byte.
func privateUse(lead, trail byte) rune {
	switch {
	case trail < 0x40 || trail == 0x7f || trail > 0xfc:
		return 0
	case trail > 0x7f:
		trail--
	}
	return 0xe000 + rune(lead-0xf0)*188 + rune(trail-0x40)
}

func decodeEUCJP(pairs *index, dst, src []byte) []byte {
	var three *encoding.Decoder
	for i := 0; i < len(src); i++ {
		b := src[i]
		switch {
		case b < utf8.RuneSelf:
			dst = append(dst, b)
		case b != 0x8e && b != 0x8f && (b < 0xa1 || b == 0xff) || i+1 == len(src):
			dst = utf8.AppendRune(dst, utf8.RuneError)
		case b == 0x8f && 0xa1 <= src[i+1] && src[i+1] < 0xff: // JIS X 0212
			if i += 2; i == len(src) {
				return utf8.AppendRune(dst, utf8.RuneError)
			}
			if three == nil {
				three = japanese.EUCJP.NewDecoder()
			}
			var n int
			dst, n = appendPair(dst, single(three, src[i-2:i+1]), src[i])
			i += n - 1
		default:
			i++
			r := pairs.at(b, src[i])
			if b == 0x8e && 0xa1 <= src[i] && src[i] <= 0xdf {
				r = halfKatakana + rune(src[i])
			} else if b < 0xa1 || src[i] < 0xa1 {
				r = 0
			}
			var n int
			dst, n = appendPair(dst, r, src[i])
			i += n - 1
		}
	}
	return dst
}

// decodeISO2022JP uses the pairs of EUC-JP, without the high bits.
func decodeISO2022JP(pairs *index, dst, src []byte) []byte {
	set := byte('B') // ASCII; J is Roman, I katakana, $ pairs
	escaped := false // no character since the last escape sequence
	for i := 0; i < len(src); i++ {
		b := src[i]
		if b == 0x1b {
			if next := escape(src[i+1:]); next != 0 {
				set = next
				i += 2
				if escaped { // the first of two in a row only serves to hide something
					dst = utf8.AppendRune(dst, utf8.RuneError)
				}
				escaped = true
				continue
			}
			dst = utf8.AppendRune(dst, utf8.RuneError)
			escaped = false
			continue
		}
		escaped = false
		r := rune(0)
		switch {
		case set == '$' && i+1 == len(src):
		case set == '$' && isPairByte(b) && isPairByte(src[i+1]):
			i++
			r = pairs.at(b|0x80, src[i]|0x80)
		case set == '$' && isPairByte(b) && src[i+1] != 0x1b:
			i++
		case set == '$':
		case set == 'I' && 0x21 <= b && b <= 0x5f:
			r = halfKatakana + 0x80 + rune(b)
		case set == 'I' || b >= utf8.RuneSelf || b == 0x0e || b == 0x0f:
		case b == 0:
			dst = append(dst, 0)
			continue
		case set == 'J' && b == '\\':
			r = '¥'
		case set == 'J' && b == '~':
			r = '\u203e'
		default:
			r = rune(b)
		}
		if r == 0 {
			r = utf8.RuneError
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

func isPairByte(b byte) bool { return 0x21 <= b && b <= 0x7e }

// escape returns the set that the two bytes after an ESC switch to; 0 if they are no escape
// sequence.
func escape(b []byte) byte {
	if len(b) < 2 {
		return 0
	}
	switch string(b[:2]) {
	case "(B", "(J", "(I":
		return b[1]
	case "$@", "$B":
		return '$'
	}
	return 0
}
