package main

import (
	"strings"

	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft/internal/near"
)

// nearFlag returns the long flag that is meant by a name that no flag has: one that a few slips
// turn into it, that it begins, whose name it ends with, as --max-depth does, or that ends with it,
// as --post-data with --data; "" for none.
func nearFlag(flags *pflag.FlagSet, name string) string {
	name = strings.ToLower(name)
	nearest, least := "", max(2, len(name)/4)+1
	flags.VisitAll(func(f *pflag.Flag) {
		n := near.Slips(name, f.Name)
		switch {
		case len(name) < 2 || f.Hidden:
			return
		case len(name) < 4:
			n *= 2 // any short name is two slips from any other
		case strings.HasPrefix(f.Name, name), strings.HasSuffix(name, "-"+f.Name), strings.HasSuffix(f.Name, "-"+name):
			n = min(n, 1)
		}
		if n < least {
			nearest, least = f.Name, n
		}
	})
	return nearest
}
