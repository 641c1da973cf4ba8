package fingerprint

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode"
	"unicode/utf8"

	"github.com/weftcrawl/weft/internal/markup"
	"github.com/weftcrawl/weft/links"
)

// Words are copied to a buffer, each followed by one blank, and hashed from there. Sizes are in
// bytes.
const (
	bufSize = 16 << 10
	bufStep = 64 // the most that one step adds: 8 bytes, a reference, or 8 characters beyond ASCII
)

// Bytes are read eight at a time. In a mask each byte has its high bit; the first byte has the
// lowest.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// blanks returns which bytes of x are invisible: white space and controls.
func blanks(x uint64) uint64 {
	return ^(x&^highs + ones*(0x80-' '-1) | x) & highs
}

// mayOpen returns which bytes of x may come before a figure: a blank, a bracket, and more.
func mayOpen(x uint64) uint64 {
	return ^(x&^highs+ones*(0x80-'0')|x)&highs | equals(x, '[')
}

// fill copies pieces of the body to the buffer. A word ends at both ends of each.
func (r *Reader) fill(body []byte, pieces []links.Piece, plain bool) {
	references := uint64(highs)
	if plain {
		references = 0
	}
	buf, n, figures := r.buf, r.n, uint64(0)
	for _, p := range pieces {
		at, end := p.From, p.To
		blank := uint64(0x80) // the byte before is blank
		for at < end && body[at] <= ' ' {
			at += bits.TrailingZeros64(blanks(load(body, at))^highs) / 8
		}
		for at < end {
			if n+bufStep > len(buf) {
				r.n = n
				r.makeRoom()
				buf, n = r.buf, r.n
			}
			x := load(body, at)
			size := min(8, end-at)
			inside := uint64(highs) >> (64 - 8*size)
			blankHere := blanks(x) & inside
			if found := digits(x) & inside; found != 0 {
				figures |= found & (mayOpen(x)<<8 | 0x80)
			}
			// All eight bytes can be copied unless there is a blank after a blank, a
			// reference, or a byte beyond ASCII.
			stops := (blankHere&(blankHere<<8|blank) | equals(x, '&')&references | x) & inside
			whole := blankHere >> 7 * 0xff
			binary.LittleEndian.PutUint64(buf[n:], x&^whole|whole&(ones*' '))
			if stops == 0 {
				at += size
				n += size
				blank = blankHere >> (8*size - 8)
				continue
			}
			if size = bits.TrailingZeros64(stops) / 8; size > 0 {
				at += size
				n += size
			}
			switch c := body[at]; {
			case c <= ' ':
				for at++; at < end && body[at] <= ' '; at++ {
				}
			case c == '&':
				decoded, size := r.reference(body[at:end])
				at += size
				for len(decoded) > 0 {
					c, size := utf8.DecodeRune(decoded)
					decoded = decoded[size:]
					n = len(appendCharacter(buf[:n], c))
					figures |= digits(uint64(min(c, utf8.RuneSelf)))
				}
			default:
				for range 8 {
					if at == end || body[at] < utf8.RuneSelf {
						break
					}
					c, size := firstCharacter(body[at:end])
					at += size
					n = len(appendCharacter(buf[:n], c))
				}
			}
			blank = 0x80
			if n > 0 {
				blank = blanks(uint64(buf[n-1])) & 0x80
			}
		}
		buf[n] = ' '
		n += int(1 - blank>>7)
		if figures == 0 && r.run.n == 0 {
			r.sifted = n
			continue
		}
		r.n, figures = n, 0
		r.sift(n)
		n = r.n
	}
	r.n = n
}

// reference decodes the character reference that s begins with, and returns its length. The
// next call overwrites the text. Inlined, it would spill the registers of fill's loop, which
// costs 1 % of reading a page.
//
//go:noinline
func (r *Reader) reference(s []byte) (text []byte, n int) {
	return markup.AppendReference(r.decoded[:0], s, markup.InText)
}

// makeRoom hashes the words of the buffer except the last ones, which may belong to a stamp.
func (r *Reader) makeRoom() {
	r.sift(bytes.LastIndexByte(r.buf[:r.n], ' ') + 1)
	keep := r.sifted
	if r.run.n > 0 {
		keep = r.run.entries[0].from
	} else {
		for range 2 {
			if word := r.wordBefore(keep); word >= 0 {
				keep = word
			}
		}
	}
	r.take(keep)
	if r.taken += keep; r.taken >= pauseStep && r.pause != nil {
		r.taken = 0
		r.pause()
	}
	r.n = copy(r.buf, r.buf[keep:r.n])
	r.sifted -= keep
	r.floor = max(0, r.floor-keep)
	for i := range r.run.entries[:r.run.n] {
		r.run.entries[i].from -= keep
		r.run.entries[i].to -= keep
	}
	if 2*r.n > len(r.buf) { // a very long word
		r.buf = append(make([]byte, 0, 2*len(r.buf)), r.buf...)[:2*len(r.buf)]
	}
}

// firstCharacter is utf8.DecodeRune, faster for most characters of two and three bytes.
func firstCharacter(b []byte) (c rune, size int) {
	const follows, rest = 0x80, 0x3F // a byte that continues a character, and its bits
	switch lead := b[0]; {
	case 0xC2 <= lead && lead < 0xE0 && len(b) > 1 && b[1]&^rest == follows:
		return rune(lead&0x1F)<<6 | rune(b[1]&rest), 2
	case 0xE0 < lead && lead < 0xF0 && lead != 0xED && len(b) > 2 && b[1]&^rest == follows && b[2]&^rest == follows:
		return rune(lead&0x0F)<<12 | rune(b[1]&rest)<<6 | rune(b[2]&rest), 3
	}
	return utf8.DecodeRune(b)
}

// appendCharacter appends a character. buf has room for 6 bytes.
func appendCharacter(buf []byte, c rune) []byte {
	switch {
	case isUnspaced(c):
		return append(utf8.AppendRune(appendBlank(buf), c), ' ')
	case c == 0xAD || c == 0x200B || c == 0xFEFF:
		// These are invisible: soft hyphen, zero width space, byte order mark.
		return buf
	case c <= ' ' || c == 0x85 || c == 0xA0 || 0x1680 <= c && c <= 0x3000 && unicode.IsSpace(c):
		// All white space is in this range.
		return appendBlank(buf)
	}
	return utf8.AppendRune(buf, c)
}

// appendBlank appends a blank, except after another or at the beginning.
func appendBlank(buf []byte) []byte {
	if len(buf) == 0 || buf[len(buf)-1] == ' ' {
		return buf
	}
	return append(buf, ' ')
}

// unspaced are the scripts that put no space between words.
var unspaced = []*unicode.RangeTable{unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar}

// unspacedBits has a bit for each of their characters in the first plane: a look-up in the tables
// takes ten times as long as all else that is done with a character.
var unspacedBits = func() (set [1 << 16 / 64]uint64) {
	for _, script := range unspaced {
		for _, r := range script.R16 {
			for c := uint32(r.Lo); c <= uint32(r.Hi); c += uint32(r.Stride) {
				set[c/64] |= 1 << (c % 64)
			}
		}
	}
	return set
}()

// isUnspaced reports whether a character belongs to one of these.
func isUnspaced(c rune) bool {
	if uint(c)/64 < uint(len(unspacedBits)) {
		return unspacedBits[uint(c)/64]>>(uint(c)%64)&1 != 0
	}
	return unicode.In(c, unspaced...)
}
