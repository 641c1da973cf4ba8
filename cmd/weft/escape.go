package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/term"
)

// printable makes text from the Web safe for one line on a terminal: it escapes everything
// that is not printable, line feeds included.
func printable(s string) string { return escape(s, "") }

// escape is printable with an exception for the runes in keep.
func escape(s, keep string) string {
	if isPlain(s) {
		return s
	}
	fine := func(r rune) bool { return unicode.IsPrint(r) || strings.ContainsRune(keep, r) }
	if utf8.ValidString(s) && strings.IndexFunc(s, func(r rune) bool { return !fine(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], string(utf8.RuneError)):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case fine(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// isPlain reports whether a text is printable ASCII, as most are.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// terminal returns a writer to f that escapes the text if f is a terminal.
func terminal(f *os.File) io.Writer {
	if term.IsTerminal(f.Fd()) {
		return escaped{f}
	}
	return f
}

// escaped writes whole lines to a terminal, escaped.
type escaped struct{ w io.Writer }

func (e escaped) Write(p []byte) (int, error) {
	if _, err := io.WriteString(e.w, escape(string(p), "\n\t")); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escapedJSON writes whole values of JSON, in which it escapes what is not printable. They mean the
// same, and a pipe to a terminal is safe.
type escapedJSON struct{ w io.Writer }

func (e escapedJSON) Write(p []byte) (int, error) {
	plain := p
	if !isPlain(string(bytes.TrimSuffix(p, []byte("\n")))) {
		plain = nil
		for _, r := range string(p) {
			if r == '\n' || unicode.IsPrint(r) {
				plain = utf8.AppendRune(plain, r)
				continue
			}
			for _, unit := range utf16.AppendRune(nil, r) {
				plain = fmt.Appendf(plain, `\u%04x`, unit)
			}
		}
	}
	if _, err := e.w.Write(plain); err != nil {
		return 0, err
	}
	return len(p), nil
}
