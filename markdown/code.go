package markdown

import (
	"strings"

	"golang.org/x/net/html"
)

// code converts code in a line. Links in it stay links.
func (c *converter) code(n *html.Node) {
	if c.outer[n] {
		c.container(n)
		return
	}
	c.run.inCode++
	c.children(n)
	c.run.inCode--
}

// codeSpan adds code. What stands directly behind a span joins it.
func (c *converter) codeSpan(s string) {
	s = cleaned(s)
	r := &c.run
	words := strings.Join(strings.Fields(s), " ")
	if words == "" {
		if s != "" {
			r.space = max(r.space, blank)
		}
		return
	}
	if isSpace(s[0]) {
		r.space = max(r.space, blank)
	}
	if r.codeEnd > 0 && r.codeEnd == len(r.text) {
		if r.space != noSpace {
			words = " " + words
		}
		words = r.codeText + words
		r.text, r.space = r.text[:r.codeStart], noSpace
	}
	c.due(words)
	r.codeStart, r.codeText = len(r.text), words
	r.text = c.appendCode(r.text, words)
	r.codeEnd = len(r.text)
	if isSpace(s[len(s)-1]) {
		r.space = max(r.space, blank)
	}
}

// appendCode appends a code span.
func (c *converter) appendCode(to []byte, code string) []byte {
	if c.cells > 0 {
		code = strings.ReplaceAll(code, "|", `\|`)
	}
	fence := strings.Repeat("`", longestRun(code, '`', 0)+1)
	to = append(to, fence...)
	if pad := code[0] == '`' || code[len(code)-1] == '`' || code[0] == ' ' && code[len(code)-1] == ' ' && strings.TrimSpace(code) != ""; pad {
		return append(append(append(append(to, ' '), code...), ' '), fence...)
	}
	return append(append(to, code...), fence...)
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
