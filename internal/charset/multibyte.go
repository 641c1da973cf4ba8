package charset

import (
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// The decoders of this file are those of the Encoding Standard, sections 10 to 13. The
// characters are x/text's; what is made of bytes that are none is not, for x/text's
// decoders differ there from the standard, which is careful that no ASCII is swallowed.

// An index has the characters of pairs of bytes, at the first less 0x80 times 256 plus
// the second; 0 is none.
type index [128 * 256]rune

func (x *index) of(lead, trail byte) rune { return x[int(lead-0x80)<<8|int(trail)] }

// indexOf makes the index of an encoding when it is first needed: that takes about a
// millisecond.
func indexOf(name string) func() *index {
	return sync.OnceValue(func() *index {
		e, err := htmlindex.Get(name)
		if err != nil {
			panic("charset: " + name + ": " + err.Error()) // the names are constants
		}
		d := e.NewDecoder()
		x := new(index)
		for lead := 0x81; lead <= 0xfe; lead++ {
			for trail := 0x30; trail <= 0xfe; trail++ {
				x[(lead-0x80)<<8|trail] = single(d, []byte{byte(lead), byte(trail)})
			}
		}
		if name == "gb18030" {
			mendGB18030(x)
		}
		return x
	})
}

// single is the one character of some bytes; 0 if they are not one.
func single(d *encoding.Decoder, b []byte) rune {
	var text [16]byte
	d.Reset()
	n, _, err := d.Transform(text[:], b, true)
	r, size := utf8.DecodeRune(text[:n])
	if err != nil || size != n || r == utf8.RuneError || r < utf8.RuneSelf {
		return 0
	}
	return r
}

// appendPair appends r, or U+FFFD if it is 0; then a trail that is ASCII is not part of
// the pair. It returns how many bytes after the lead were read.
func appendPair(dst []byte, r rune, trail byte) ([]byte, int) {
	switch {
	case r != 0:
		return utf8.AppendRune(dst, r), 1
	case trail < utf8.RuneSelf:
		return utf8.AppendRune(dst, utf8.RuneError), 0
	}
	return utf8.AppendRune(dst, utf8.RuneError), 1
}

func decodeGB18030(pairs *index, dst, src []byte) []byte {
	var four *encoding.Decoder
	for i := 0; i < len(src); i++ {
		b := src[i]
		rest := src[i+1:]
		switch {
		case b < utf8.RuneSelf:
			dst = append(dst, b)
		case b == 0x80:
			dst = utf8.AppendRune(dst, '€')
		case b == 0xff:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		case len(rest) == 0:
			return utf8.AppendRune(dst, utf8.RuneError)
		case !isDigit(rest[0]):
			var n int
			dst, n = appendPair(dst, pairs.of(b, rest[0]), rest[0])
			i += n
		case len(rest) == 1:
			return utf8.AppendRune(dst, utf8.RuneError)
		case rest[1] < 0x81 || rest[1] == 0xff:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		case len(rest) == 2:
			return utf8.AppendRune(dst, utf8.RuneError)
		case !isDigit(rest[2]):
			dst = utf8.AppendRune(dst, utf8.RuneError)
		default:
			if four == nil {
				four = simplifiedchinese.GB18030.NewDecoder()
			}
			r := single(four, src[i:i+4])
			if r == '\u1e3f' { // a pair since GB 18030-2005; the standard keeps what was there
				r = '\ue7c7'
			}
			dst, _ = appendPair(dst, r, 0)
			i += 3
		}
	}
	return dst
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// decodeBig5 and decodeEUCKR differ in the pairs that are two characters.
func decodeBig5(pairs *index, dst, src []byte) []byte { return decodePairs(pairs, bigPairs, dst, src) }

func decodeEUCKR(pairs *index, dst, src []byte) []byte { return decodePairs(pairs, nil, dst, src) }

// bigLead begins each of bigPairs, the pairs of Big5 that are two characters.
const bigLead = 0x88

var bigPairs = map[byte]string{0x62: "\u00ca\u0304", 0x64: "\u00ca\u030c", 0xa3: "\u00ea\u0304", 0xa5: "\u00ea\u030c"}

func decodePairs(pairs *index, two map[byte]string, dst, src []byte) []byte {
	for i := 0; i < len(src); i++ {
		b := src[i]
		switch {
		case b < utf8.RuneSelf:
			dst = append(dst, b)
		case b == 0x80 || b == 0xff || i+1 == len(src):
			dst = utf8.AppendRune(dst, utf8.RuneError)
		default:
			i++
			if b == bigLead && two[src[i]] != "" {
				dst = append(dst, two[src[i]]...)
				continue
			}
			var n int
			dst, n = appendPair(dst, pairs.of(b, src[i]), src[i])
			i += n - 1
		}
	}
	return dst
}
