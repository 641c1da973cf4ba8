//go:build check

package archtest

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/long"
)

// TestOtherSystems: the product compiles where an int has 32 bits, and on macOS; in a long run, its
// tests, too, which with what they import take twice as long.
func TestOtherSystems(t *testing.T) {
	for _, system := range []struct{ os, arch string }{{"linux", "386"}, {"darwin", "arm64"}} {
		t.Run(system.os+"/"+system.arch, func(t *testing.T) {
			t.Parallel()
			c, err := newChecker(system.os, system.arch, long.Or([]string{"./..."}, []string{"-test", "./..."})...)
			if err != nil {
				t.Fatal(err)
			}
			own := 0
			for path, l := range c.listed {
				if !l.own() || strings.HasSuffix(path, ".test") { // a main package of the go command
					continue
				}
				own++
				if _, err := c.check(path); err != nil {
					t.Error(err)
				}
			}
			if own < 100 {
				t.Errorf("%d packages, expected all", own)
			}
		})
	}
}
