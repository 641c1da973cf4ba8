package unseen

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Characters returns a text without its unseen characters, and their number.
func Characters(s string) (string, int) {
	if isPlain(s) {
		return s, 0
	}
	var b strings.Builder
	b.Grow(len(s))
	n := 0
	before := ' ' // the last one that was kept
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		after, _ := utf8.DecodeRuneInString(s)
		if isUnseen(before, r, after) {
			n++
			continue
		}
		b.WriteRune(r)
		before = r
	}
	return b.String(), n
}

// isPlain reports whether a text is ASCII without controls.
func isPlain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x7F || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// isUnseen reports whether a character has no shape between two others.
func isUnseen(before, r, after rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r == '\u200C' || r == '\u200D': // joiners: of scripts, and of pictures
		return !isJoined(before) || !isJoined(after)
	case r >= '\uFE00' && r <= '\uFE0F': // the picture, or the sign
		return isSelector(before) || before <= ' ' || unicode.IsLetter(before) && before < 0x3000
	case r >= 0xE0100 && r <= 0xE01EF: // another form of a Chinese character
		return !unicode.Is(unicode.Han, before)
	case r == '\u00AD' || r == '\u034F' || r == '\u115F' || r == '\u1160' || r == '\u3164' || r == '\uFFA0' || r == '\u2800':
		return true // a hyphen, a joiner and fillers without width or ink
	case r == '\u17B4' || r == '\u17B5' || r >= '\u180B' && r <= '\u180F':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !isOfNumber(r) || r >= 0xE0000 && r <= 0xE0FFF || unicode.Is(unicode.Noncharacter_Code_Point, r)
}

// isOfNumber reports whether a format character is drawn around the number or verse that follows.
func isOfNumber(r rune) bool {
	return r >= '\u0600' && r <= '\u0605' || r == '\u06DD' || r == '\u070F' || r == '\u0890' || r == '\u0891' || r == '\u08E2' || r == 0x110BD || r == 0x110CD
}

func isSelector(r rune) bool {
	return r >= '\uFE00' && r <= '\uFE0F' || r >= 0xE0100 && r <= 0xE01EF
}

// isJoined reports whether a character is of a script, or a picture, that joiners stand in.
func isJoined(r rune) bool {
	return r >= 0x300 && r != '\u200C' && r != '\u200D' && (unicode.IsLetter(r) && !unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic) || unicode.IsMark(r) || unicode.Is(unicode.So, r) || unicode.Is(unicode.Sk, r) || r == '\u2640' || r == '\u2642')
}
