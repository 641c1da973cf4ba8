package main

import (
	"strings"

	"github.com/spf13/pflag"
)

// nearFlag returns the long flag that is meant by a name that no flag has: one that a few slips
// turn into it, that it begins, or whose name it ends with, as --max-depth does; "" for none.
func nearFlag(flags *pflag.FlagSet, name string) string {
	name = strings.ToLower(name)
	nearest, least := "", max(2, len(name)/4)+1
	flags.VisitAll(func(f *pflag.Flag) {
		n := slips(name, f.Name)
		switch {
		case len(name) < 2 || f.Hidden:
			return
		case len(name) < 4:
			n *= 2 // any short name is two slips from any other
		case strings.HasPrefix(f.Name, name), strings.HasSuffix(name, "-"+f.Name):
			n = min(n, 1)
		}
		if n < least {
			nearest, least = f.Name, n
		}
	})
	return nearest
}

// slips returns the number of letters to insert, delete or replace to turn a into b: the
// Levenshtein distance.
func slips(a, b string) int {
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
