package fingerprint

import (
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestCharacters compares the fast ways through characters with those of the standard library.
func TestCharacters(t *testing.T) {
	check := func(b []byte) {
		t.Helper()
		c, size := firstCharacter(b)
		if want, wantSize := utf8.DecodeRune(b); c != want || size != wantSize {
			t.Fatalf("% x: %q of %d bytes, expected %q of %d", b, c, size, want, wantSize)
		}
	}
	for c := range rune(0x40000) {
		if isUnspaced(c) != unicode.In(c, unspaced...) {
			t.Fatalf("isUnspaced(%U) = %v", c, isUnspaced(c))
		}
		if blank := string(appendCharacter([]byte("x"), c)) == "x "; c > ' ' && blank != unicode.IsSpace(c) {
			t.Fatalf("%U is a blank: %v", c, blank)
		}
		if b := []byte(string(c)); c >= utf8.RuneSelf {
			check(b)
			check(b[:len(b)-1])
			check(append(b[:len(b)-1], 'x'))
		}
	}
	for lead := 0x80; lead < 0x100; lead++ {
		for next := range 0x100 {
			check([]byte{byte(lead), byte(next), 0x80, 0x80})
		}
	}
}
