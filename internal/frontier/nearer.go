package frontier

import (
	"maps"
	"slices"
	"strings"
)

// byName returns origins in an order that is the same every time.
func byName(all map[*origin][]URL) []*origin {
	return slices.SortedFunc(maps.Keys(all), func(a, b *origin) int {
		return strings.Compare(a.name, b.name)
	})
}
