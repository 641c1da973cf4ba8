package main

import (
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
)

// mostRows is the most rows of a terminal that a line of the report takes: most URLs are whole and
// can be copied, and one of 2 KB does not push the rest away.
const mostRows = 2

// elided shortens lines that are too long for the terminal in the middle of their longest words. It
// leaves them whole if f is none: then a program or a file gets them.
func elided(text string, f *os.File) string {
	width, _, err := term.GetSize(f.Fd())
	if err != nil || width <= 0 {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, l := range lines {
		lines[i] = elideLine(l, mostRows*width)
	}
	return strings.Join(lines, "")
}

// elideLine shortens the longest words of a line until it has at most so many runes, or no word
// with more than leastWord.
func elideLine(line string, most int) string {
	const leastWord = 20
	for {
		over := len([]rune(line)) - most
		var longest []rune
		for word := range strings.FieldsSeq(line) {
			if runes := []rune(word); len(runes) > len(longest) {
				longest = runes
			}
		}
		if over <= 0 || len(longest) <= leastWord {
			return line
		}
		keep := max(leastWord, len(longest)-over-1) - 1
		short := string(longest[:keep-keep/3]) + "…" + string(longest[len(longest)-keep/3:])
		line = strings.Replace(line, string(longest), short, 1)
	}
}
