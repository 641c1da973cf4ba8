package render

import (
	"errors"
	"fmt"
	"strings"
)

var errEnd = errors.New("it ends too early")

// CheckSelector returns why no browser can read a CSS selector; nil: one may. It looks at brackets,
// at what stands before names, and at combinators: a browser knows more of CSS than Weft does.
func CheckSelector(text string) error {
	var open []byte                // closing brackets to come
	compound, escaped := false, -1 // escaped: the end of the last escape
	for i := 0; i < len(text); i++ {
		inside, c := len(open) > 0, text[i]
		switch {
		case c == '\\':
			i += escapeAt(text[i+1:])
			escaped, compound = i, true
		case c == '"' || c == '\'':
			n := stringAt(text[i+1:], c)
			if !inside {
				return unexpected(text[i:])
			}
			i += n
		case c == '/' && strings.HasPrefix(text[i:], "/*"):
			n := strings.Index(text[i+2:], "*/")
			if n < 0 {
				return errEnd
			}
			i += n + 3
		case c == '[' && inside && open[len(open)-1] == ']':
			return unexpected(text[i:])
		case c == '[' && !beginsName(strings.TrimLeft(text[i+1:], " \t\n*|")) && !strings.HasPrefix(text[i+1:], "/*"):
			return unexpected(text[i:])
		case c == '[' || c == '(':
			open = append(open, map[byte]byte{'[': ']', '(': ')'}[c])
			compound = true
		case c == ']' || c == ')':
			if !inside || open[len(open)-1] != c {
				return unexpected(text[i:])
			}
			open = open[:len(open)-1]
		case inside:
		case c == '.' || c == '#' || c == ':':
			rest := text[i+1:]
			if c == ':' && strings.HasPrefix(rest, ":") {
				rest = rest[1:]
				i++
			}
			if !beginsName(rest) {
				return unexpected(text[i:])
			}
			compound = true
		case c == ',' || c == '>' || c == '+' || c == '~':
			if !compound {
				return unexpected(text[i:])
			}
			compound = false
		case strings.IndexByte("{};@!$%^?=<`", c) >= 0:
			return unexpected(text[i:])
		case c != ' ' && c != '\t' && c != '\n':
			if c >= '0' && c <= '9' && (i == 0 || i-1 != escaped && strings.IndexByte(" \t\n,>+~", text[i-1]) >= 0) {
				return unexpected(text[i:])
			}
			compound = true
		}
	}
	if !compound {
		return errEnd
	}
	return nil
}

// escapeAt returns the length of what an escape escapes: a character, or its number in hexadecimal,
// which a space may end.
func escapeAt(text string) int {
	n := len(text) - len(strings.TrimLeft(text, "0123456789abcdefABCDEF"))
	switch {
	case n == 0:
		return 1
	case n > 5:
		n = 6
	}
	if strings.HasPrefix(text[n:], " ") {
		n++
	}
	return n
}

// stringAt returns the length of a string with its closing quote.
func stringAt(text string, quote byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i + 1
		}
	}
	return len(text) // CSS closes it
}

// beginsName reports whether a text begins with a name.
func beginsName(text string) bool {
	text = strings.TrimPrefix(text, "-")
	if text == "" {
		return false
	}
	c := text[0]
	return c == '_' || c == '-' || c == '\\' || c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func unexpected(text string) error {
	return fmt.Errorf("unexpected %.10q in a CSS selector", text)
}
