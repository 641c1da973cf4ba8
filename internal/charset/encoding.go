package charset

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// An Encoding is one of the 40 of the Encoding Standard. There is one value per name, so pointers
// can be compared.
type Encoding struct {
	name string
	// decode appends src in UTF-8 to dst, in time linear in src and at most three bytes for
	// each of src.
	decode func(dst, src []byte) []byte
	room   func(src []byte) int // the most bytes that decode appends
	ascii  bool                 // ASCII bytes mean themselves
}

// Name returns the name in the Encoding Standard in lower case, such as "windows-1252".
func (e *Encoding) Name() string { return e.name }

// Decode returns body in UTF-8, without the byte order mark of e. Bytes without a meaning in e
// become U+FFFD, as in the Encoding Standard. The text shares memory with the body if that is
// valid UTF-8, or ASCII where that is the same. It is at most three times as long.
func (e *Encoding) Decode(body []byte) []byte { return e.Prepare(body).Text() }

// Undecoded is a body whose encoding is known, before it is decoded.
type Undecoded struct {
	Encoding *Encoding
	Room     int // the most bytes that Text makes; 0: the text shares memory with the body

	body  []byte // without a byte order mark
	ascii int    // bytes of body that mean themselves
}

// Prepare finds out how much room decoding body takes.
func (e *Encoding) Prepare(body []byte) Undecoded {
	u := Undecoded{Encoding: e, body: body}
	switch {
	case e == utf8Encoding:
		if u.body = bytes.TrimPrefix(body, []byte(markUTF8)); utf8.Valid(u.body) {
			return u
		}
	case e == utf16LE:
		u.body = bytes.TrimPrefix(body, []byte(markUTF16LE))
	case e == utf16BE:
		u.body = bytes.TrimPrefix(body, []byte(markUTF16BE))
	case e.ascii:
		if u.ascii = asciiPrefix(body); u.ascii == len(body) {
			return u
		}
	}
	u.Room = u.ascii + e.room(u.body[u.ascii:])
	return u
}

// roomy is the room, in bytes, from which Text takes all of it at once: growing would leave as much
// in garbage.
const roomy = 1 << 20

// Text returns the body in UTF-8: see Encoding.Decode.
func (u Undecoded) Text() []byte {
	if u.Room == 0 {
		return u.body
	}
	room := u.Room
	if room < roomy {
		room = min(room, len(u.body)+len(u.body)/2) // most often enough
	}
	text := make([]byte, u.ascii, room)
	copy(text, u.body)
	return u.Encoding.decode(text, u.body[u.ascii:])
}

// roomOfAny is the room of an encoding with one to three bytes of text for each byte.
func roomOfAny(src []byte) int { return 3 * len(src) }

// roomOfUTF16 is the room for at most three bytes of text for each unit, and for half of one.
func roomOfUTF16(src []byte) int { return (3*len(src) + 3) / 2 }

// roomBeyondASCII is the room of an encoding with one to three bytes of text for each byte that is
// not ASCII, and ASCII that means itself.
func roomBeyondASCII(src []byte) int { return len(src) + 2*countHigh(src) }

// countHigh returns the number of bytes that are not ASCII.
func countHigh(b []byte) (n int) {
	const high = 0x8080808080808080
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b) & high)
	}
	for _, c := range b {
		n += int(c >> 7)
	}
	return n
}

// Byte order marks.
const (
	markUTF8    = "\xef\xbb\xbf"
	markUTF16LE = "\xff\xfe"
	markUTF16BE = "\xfe\xff"
)

// Lookup returns the encoding with this label, such as "latin1", or nil (the standard's "get an
// encoding").
func Lookup(label string) *Encoding {
	label = strings.Trim(label, "\t\n\f\r ")
	if len(label) > maxLabel {
		return nil
	}
	for i := range len(label) {
		if label[i] <= ' ' || label[i] >= 0x7f { // htmlindex folds and trims by Unicode
			return nil
		}
	}
	text, err := htmlindex.Get(label)
	if err != nil {
		return nil
	}
	name, err := htmlindex.Name(text)
	if err != nil {
		return nil
	}
	return encodings[name]
}

// maxLabel exceeds the longest label, in bytes.
const maxLabel = 64

// encodings maps names to encodings.
var encodings = allEncodings()

var (
	utf8Encoding = encodings["utf-8"]
	windows1252  = encodings["windows-1252"]
	utf16LE      = encodings["utf-16le"]
	utf16BE      = encodings["utf-16be"]
)

func allEncodings() map[string]*Encoding {
	all := map[string]*Encoding{}
	add := func(name string, decode func(dst, src []byte) []byte) {
		all[name] = &Encoding{name: name, decode: decode, room: roomBeyondASCII, ascii: true}
	}
	addSingle := func(name string, decodeByte func(byte) rune) {
		t := singleByte(decodeByte)
		all[name] = &Encoding{name: name, decode: t.decode, room: t.room, ascii: true}
	}
	add("utf-8", decodeUTF8)
	add("utf-16le", func(dst, src []byte) []byte { return decodeUTF16(dst, src, false) })
	add("utf-16be", func(dst, src []byte) []byte { return decodeUTF16(dst, src, true) })
	add("replacement", decodeReplacement)
	addSingle("x-user-defined", func(b byte) rune { return 0xf700 + rune(b) })
	for name, m := range map[string]*charmap.Charmap{
		"ibm866": charmap.CodePage866, "iso-8859-2": charmap.ISO8859_2, "iso-8859-3": charmap.ISO8859_3,
		"iso-8859-4": charmap.ISO8859_4, "iso-8859-5": charmap.ISO8859_5, "iso-8859-6": charmap.ISO8859_6,
		"iso-8859-7": charmap.ISO8859_7, "iso-8859-8": charmap.ISO8859_8, "iso-8859-8-i": charmap.ISO8859_8,
		"iso-8859-10": charmap.ISO8859_10, "iso-8859-13": charmap.ISO8859_13, "iso-8859-14": charmap.ISO8859_14,
		"iso-8859-15": charmap.ISO8859_15, "iso-8859-16": charmap.ISO8859_16, "koi8-r": charmap.KOI8R,
		"koi8-u": charmap.KOI8U, "macintosh": charmap.Macintosh, "windows-874": charmap.Windows874,
		"windows-1250": charmap.Windows1250, "windows-1251": charmap.Windows1251, "windows-1252": charmap.Windows1252,
		"windows-1253": charmap.Windows1253, "windows-1254": charmap.Windows1254, "windows-1255": charmap.Windows1255,
		"windows-1256": charmap.Windows1256, "windows-1257": charmap.Windows1257, "windows-1258": charmap.Windows1258,
		"x-mac-cyrillic": charmap.MacintoshCyrillic,
	} {
		addSingle(name, m.DecodeByte)
	}
	for name, m := range map[string]struct {
		index  string // the encoding of x/text that has all its pairs
		decode func(pairs *index, dst, src []byte) []byte
	}{
		"gbk":       {"gb18030", decodeGB18030}, // the standard has one decoder for both
		"gb18030":   {"gb18030", decodeGB18030},
		"big5":      {"big5", decodeBig5},
		"euc-jp":    {"euc-jp", decodeEUCJP},
		"shift_jis": {"shift_jis", decodeShiftJIS},
		"euc-kr":    {"euc-kr", decodeEUCKR},
	} {
		pairs := indexOf(m.index)
		add(name, func(dst, src []byte) []byte {
			return m.decode(pairs(), dst, src)
		})
	}
	jis := indexOf("euc-jp")
	add("iso-2022-jp", func(dst, src []byte) []byte { return decodeISO2022JP(jis(), dst, src) })
	for _, name := range []string{"utf-16le", "utf-16be", "replacement", "iso-2022-jp"} {
		all[name].ascii, all[name].room = false, roomOfAny
	}
	all["utf-16le"].room, all["utf-16be"].room = roomOfUTF16, roomOfUTF16
	return all
}
