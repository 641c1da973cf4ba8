package partition_test

import (
	"fmt"
	"testing"

	"github.com/weftcrawl/weft/internal/shard/partition"
)

// TestOf pins partitions: a value that changes would tear running crawls apart.
func TestOf(t *testing.T) {
	for _, test := range []struct {
		host string
		site string
		at   int
	}{
		{"example.org", "example.org", 207},
		{"www.example.org", "example.org", 207},
		{"www.example.org.", "example.org", 207},
		{"a.b.example.co.uk", "example.co.uk", 438},
		{"someone.github.io", "someone.github.io", 248},
		{"github.io", "github.io", 274},
		{"localhost", "localhost", 449},
		{"localhost.", "localhost", 449},
		{"192.0.2.1", "192.0.2.1", 835},
		{"[2001:db8::1]", "[2001:db8::1]", 662},
		{"xn--bcher-kva.example", "xn--bcher-kva.example", 571},
	} {
		if site := partition.Site(test.host); site != test.site {
			t.Errorf("%s: site %s, want %s", test.host, site, test.site)
		}
		if at := partition.Of(test.host, partition.Default); at != test.at {
			t.Errorf("%s: partition %d, want %d", test.host, at, test.at)
		}
	}
}

// TestSpread: sites with similar names, of numbers that are no power of two either, come to
// partitions of much the same size: within six standard deviations of the mean.
func TestSpread(t *testing.T) {
	for _, n := range []int{1000, 1024} {
		count := make([]int, n)
		for i := range 100 * n {
			count[partition.Of(fmt.Sprintf("site%d.example", i), n)]++
		}
		for at, c := range count {
			if c < 40 || c > 160 {
				t.Errorf("partition %d of %d has %d sites, want about 100", at, n, c)
			}
		}
	}
}
