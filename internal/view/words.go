package view

import (
	"fmt"
	"regexp"
)

// linksAway returns a depth in words.
func linksAway(n int) string {
	if n == 1 {
		return "1 link"
	}
	return fmt.Sprintf("%d links", n)
}

// matching returns the index of the first expression that matches; −1: none does.
func matching(expressions []string, s string) (int, error) {
	for i, text := range expressions {
		re, err := regexp.Compile(text)
		if err != nil {
			return -1, err
		}
		if re.MatchString(s) {
			return i, nil
		}
	}
	return -1, nil
}
