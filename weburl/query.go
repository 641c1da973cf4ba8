package weburl

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/japanese"
)

// query is the query state. Non-ASCII characters are written in the document's encoding.
func (p *parser) query(query string) {
	switch scheme := string(p.out[:p.url.schemeEnd]); {
	case !p.special:
		p.out = appendEncoded(p.out, query, querySet)
		return
	case p.encoding != "" && scheme != "ws" && scheme != "wss" && controlSet.in(query):
		if e := newEncoder(p.encoding); e != nil {
			p.out = e.appendQuery(p.out, query)
			return
		}
	}
	p.out = appendEncoded(p.out, query, specialQuerySet)
}

// encoder is one of https://encoding.spec.whatwg.org/, made of golang.org/x/text's and the
// differences between the two: x/text rejects what would not decode to the same text.
type encoder struct {
	name string
	to   *encoding.Encoder // for iso-2022-jp that of euc-jp, whose codes are the same
	page *charmap.Charmap  // if it is a single-byte encoding
	mode isoMode           // the current mode of iso-2022-jp
	buf  [16]byte
}

type isoMode byte

const ( // the first two are the last byte of the sequence that sets them
	isoASCII isoMode = 'B'
	isoRoman isoMode = 'J'
	isoJIS   isoMode = '$'
)

// newEncoder returns the output encoder for an encoding's name or label, nil if it is UTF-8 or
// unknown.
func newEncoder(label string) *encoder {
	enc, err := htmlindex.Get(label)
	if err != nil {
		return nil
	}
	name, _ := htmlindex.Name(enc)
	switch name {
	case "utf-8", "utf-16le", "utf-16be", "replacement":
		return nil
	case "iso-2022-jp":
		enc = japanese.EUCJP
	}
	page, _ := enc.(*charmap.Charmap)
	return &encoder{name: name, page: page, to: enc.NewEncoder(), mode: isoASCII}
}

// appendQuery is "percent-encode after encoding" with the special-query percent-encode set. A
// character missing from the encoding becomes a numeric reference. See
// https://url.spec.whatwg.org/#string-percent-encode-after-encoding.
func (e *encoder) appendQuery(dst []byte, query string) []byte {
	for _, r := range query {
		encoded, lacked := e.rune(r)
		dst = appendEncoded(dst, string(encoded), specialQuerySet)
		if lacked != 0 {
			dst = append(dst, "%26%23"...)
			dst = strconv.AppendInt(dst, int64(lacked), 10)
			dst = append(dst, "%3B"...)
		}
	}
	return appendEncoded(dst, string(e.setMode(e.buf[:0], isoASCII)), specialQuerySet)
}

// rune encodes r. It returns the bytes, valid until the next call, and the character that the
// encoding lacks, or 0.
func (e *encoder) rune(r rune) (encoded []byte, lacked rune) {
	if e.name == "iso-2022-jp" {
		return e.iso2022JP(r)
	}
	if b, ok := e.single(r); ok {
		return append(e.buf[:0], b), 0
	}
	if encoded, ok := e.code(r); ok {
		return encoded, 0
	}
	return nil, r
}

// single returns the characters that are one byte in the standard but missing from
// golang.org/x/text.
func (e *encoder) single(r rune) (b byte, ok bool) {
	switch {
	case r < utf8.RuneSelf:
		return byte(r), true
	case e.name == "shift_jis" || e.name == "euc-jp":
		switch {
		case r == '¥':
			return '\\', true
		case r == '‾':
			return '~', true
		case r == 0x80 && e.name == "shift_jis":
			return 0x80, true
		}
	case r < 0xA0 && strings.HasPrefix(e.name, "windows-"): // unassigned bytes stand for themselves
		return byte(r), e.page.DecodeByte(byte(r)) == utf8.RuneError
	}
	return 0, false
}

// code returns golang.org/x/text's encoding of r where the standard agrees.
func (e *encoder) code(r rune) (code []byte, ok bool) {
	jis := e.name == "shift_jis" || e.name == "euc-jp" || e.name == "iso-2022-jp"
	switch {
	case jis && r == '−':
		r = '－'
	case e.name == "gb18030" && 0xE000 <= r && r <= 0xF8FF:
		// Private: not as in the standard's tables, and useless.
		return nil, false
	}
	var in [utf8.UTFMax]byte
	n, _, err := e.to.Transform(e.buf[:], in[:utf8.EncodeRune(in[:], r)], true)
	if err != nil || jis && n == 3 { // JIS X 0212 is decode-only
		return nil, false
	}
	if e.name == "shift_jis" && (e.buf[0] == 0xED || e.buf[0] == 0xEE) {
		ibmCode(e.buf[:n])
	}
	return e.buf[:n], true
}

// ibmCode replaces NEC's code in Shift_JIS for an IBM extension by IBM's own: golang.org/x/text
// writes the former, the standard never does.
func ibmCode(code []byte) {
	trail := int(code[1]) - 0x40
	if trail > 0x3F { // there is no 0x7F
		trail--
	}
	pointer := (int(code[0])-0xC1)*188 + trail
	switch { // kanji; small Roman numerals; three signs
	case pointer < 8634:
		pointer += 10744 - 8272
	case pointer < 8644:
		pointer += 10716 - 8634
	default:
		pointer += 10737 - 8645
	}
	code[0], code[1] = byte(pointer/188+0xC1), byte(pointer%188+0x40)
	if code[1] >= 0x7F {
		code[1]++
	}
}

// iso2022JP is rune for the one encoding that has modes.
// See https://encoding.spec.whatwg.org/#iso-2022-jp-encoder.
func (e *encoder) iso2022JP(r rune) (encoded []byte, lacked rune) {
	out := make([]byte, 0, 8)
	switch {
	case r == '¥' || r == '‾':
		out = e.setMode(out, isoRoman)
		if r == '¥' {
			return append(out, '\\'), 0
		}
		return append(out, '~'), 0
	case r < utf8.RuneSelf:
		if e.mode == isoJIS || r == '\\' || r == '~' {
			out = e.setMode(out, isoASCII)
		}
		if r == 0x0E || r == 0x0F || r == 0x1B { // would be decoded as a change of mode
			return out, utf8.RuneError
		}
		return append(out, byte(r)), 0
	case 0xFF61 <= r && r <= 0xFF9F:
		r = fullKatakana[r-0xFF61]
	}
	code, ok := e.code(r)
	if !ok {
		if e.mode == isoJIS {
			out = e.setMode(out, isoASCII)
		}
		return out, r
	}
	return append(e.setMode(out, isoJIS), code[0]&0x7F, code[1]&0x7F), 0
}

// setMode appends the sequence that sets the mode, if it changes.
func (e *encoder) setMode(dst []byte, mode isoMode) []byte {
	if e.mode == mode {
		return dst
	}
	e.mode = mode
	if mode == isoJIS {
		return append(dst, "\x1b$B"...)
	}
	return append(dst, 0x1B, '(', byte(mode))
}

// fullKatakana are the wide forms of U+FF61 to U+FF9F, which iso-2022-jp uses instead.
var fullKatakana = []rune("。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜")
