package charset

import (
	"sync"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/markup"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// The decoders of this file are those of the Encoding Standard, sections 10 to 13. The characters
// come from x/text; the handling of malformed bytes does not, since there x/text differs from the
// standard, which takes care that no ASCII byte is swallowed.

// An index holds the characters of pairs of bytes, at (first - 0x80) * 256 + second; 0 means none.
type index [128 * 256]rune

func (x *index) at(lead, trail byte) rune { return x[int(lead-0x80)<<8|int(trail)] }

// indexOf builds the index of an encoding on first use, which takes about a millisecond.
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

// single returns the one character of b; 0 if b is not one.
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

// appendPair appends r, or U+FFFD if it is 0; then a trail in ASCII is not part of the pair. It
// returns the number of bytes read after the lead.
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
		case !markup.IsDigit(rest[0]):
			var n int
			dst, n = appendPair(dst, pairs.at(b, rest[0]), rest[0])
			i += n
		case len(rest) == 1:
			return utf8.AppendRune(dst, utf8.RuneError)
		case rest[1] < 0x81 || rest[1] == 0xff:
			dst = utf8.AppendRune(dst, utf8.RuneError)
		case len(rest) == 2:
			return utf8.AppendRune(dst, utf8.RuneError)
		case !markup.IsDigit(rest[2]):
			dst = utf8.AppendRune(dst, utf8.RuneError)
		default:
			if four == nil {
				four = simplifiedchinese.GB18030.NewDecoder()
			}
			r := single(four, src[i:i+4])
			if r == '\u1e3f' { // a pair since GB 18030-2005; the standard keeps the old character
				r = '\ue7c7'
			}
			dst, _ = appendPair(dst, r, 0)
			i += 3
		}
	}
	return dst
}

// decodeBig5 and decodeEUCKR differ in the pairs that become two characters.
func decodeBig5(pairs *index, dst, src []byte) []byte { return decodePairs(pairs, bigPairs, dst, src) }

func decodeEUCKR(pairs *index, dst, src []byte) []byte { return decodePairs(pairs, nil, dst, src) }

// bigLead begins each of bigPairs, the pairs of Big5 that become two characters.
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
			dst, n = appendPair(dst, pairs.at(b, src[i]), src[i])
			i += n - 1
		}
	}
	return dst
}
