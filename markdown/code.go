package markdown

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// code converts code in a line. Links in it stay links.
func (c *converter) code(n *html.Node) {
	switch {
	case c.outer[n]:
		c.container(n)
	case c.run.inside[code] > 0:
		c.children(n)
	default:
		c.run.span(span{kind: code}, func() { c.children(n) })
	}
}

// appendCode appends a code span.
func appendCode(to []byte, code string, cell bool) []byte {
	if cell && strings.Contains(code, `\|`) { // readers differ in what they make of one more backslash
		return appendCodeTag(to, code)
	}
	if cell {
		code = strings.ReplaceAll(code, "|", `\|`)
	}
	fence := strings.Repeat("`", longestRun(code, '`', 0)+1)
	to = append(to, fence...)
	if pad := code[0] == '`' || code[len(code)-1] == '`' || code[0] == ' ' && code[len(code)-1] == ' ' && strings.TrimSpace(code) != ""; pad {
		return append(append(append(append(to, ' '), code...), ' '), fence...)
	}
	return append(append(to, code...), fence...)
}

// appendCodeTag appends code as HTML, in which no character means anything.
func appendCodeTag(to []byte, code string) []byte {
	to = append(to, "<code>"...)
	for i := range len(code) {
		if isPunct(code[i]) {
			to = fmt.Appendf(to, "&#%d;", code[i])
		} else {
			to = append(to, code[i])
		}
	}
	return append(to, "</code>"...)
}

// longestRun returns the length of the longest run of a byte, at least least.
func longestRun(s string, b byte, least int) int {
	n := 0
	for i := range len(s) {
		if s[i] != b {
			n = 0
			continue
		}
		n++
		least = max(least, n)
	}
	return least
}
