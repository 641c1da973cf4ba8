package charset

import (
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// decodeUTF8 replaces each maximal subpart of an invalid sequence by one U+FFFD.
func decodeUTF8(dst, src []byte) []byte {
	text, _, err := transform.Append(unicode.UTF8.NewDecoder(), dst, src)
	if err != nil {
		panic("charset: utf-8: " + err.Error()) // it replaces invalid bytes and returns no error
	}
	return text
}

// decodeUTF16 replaces each lone surrogate by U+FFFD.
func decodeUTF16(dst, src []byte, bigEndian bool) []byte {
	unit := func(i int) rune {
		if bigEndian {
			return rune(src[i])<<8 | rune(src[i+1])
		}
		return rune(src[i+1])<<8 | rune(src[i])
	}
	whole := len(src) &^ 1
	for i := 0; i < whole; i += 2 {
		r := unit(i)
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if i+2 < whole {
				second = unit(i + 2)
			}
			if p := utf16.DecodeRune(r, second); p != utf8.RuneError {
				r = p
				i += 2
			} else if r < 0xdc00 && i+2 == whole && len(src) > whole {
				return utf8.AppendRune(dst, utf8.RuneError) // one for all that is cut at the end
			}
		}
		dst = utf8.AppendRune(dst, r) // lone surrogates as U+FFFD
	}
	if len(src) > whole {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	return dst
}

// decodeReplacement is for encodings that can hide markup from a scanner: a page in one is a single
// error.
func decodeReplacement(dst, src []byte) []byte {
	if len(src) == 0 {
		return dst
	}
	return utf8.AppendRune(dst, utf8.RuneError)
}
