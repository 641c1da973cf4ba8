// Package near finds the word that is meant by a misspelt one.
package near

import "strings"

// Slips returns the number of bytes to insert, delete or replace to turn a into b: the Levenshtein
// distance.
func Slips(a, b string) int {
	row := make([]int, len(b)+1) // distances of the part of a so far to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := before
			if a[i] != b[j] {
				change++
			}
			before = row[j+1]
			row[j+1] = min(change, before+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// longest bounds the words that are compared, in bytes.
const longest = 64

// Word returns the word that a name begins, or that a few slips turn it into; "" for none.
func Word(name string, words []string) string {
	if len(name) < 2 || len(name) > longest {
		return ""
	}
	nearest, least := "", max(1, min(len(name)/3, 3))+1
	for _, w := range words {
		n := Slips(name, w)
		if strings.HasPrefix(w, name) {
			n = 0
		}
		if n < least {
			nearest, least = w, n
		}
	}
	return nearest
}
