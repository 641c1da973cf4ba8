package check

import (
	"fmt"
	"strconv"
	"strings"
)

func plural(n int, word string) string {
	switch {
	case n == 1:
		return "1 " + word
	case word == "body":
		word = "bodie"
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// noun is a word in singular or plural.
func noun(n int, word string) string {
	_, word, _ = strings.Cut(plural(n, word), " ")
	return word
}

// number is "12,345".
func number(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
