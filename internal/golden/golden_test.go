package golden_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/golden"
)

// TestUpdate: with WEFT_UPDATE=1 files are rewritten, and afterwards they match.
func TestUpdate(t *testing.T) {
	const before, after = "a\n----\nold\n====\nb\n----\n", "a\n----\nA\n====\nb\n----\nB\n"
	file := filepath.Join(t.TempDir(), "new", "cases.txt")
	check := func(want string) {
		t.Helper()
		if got, err := os.ReadFile(file); err != nil || string(got) != want {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
	}
	cases := func() {
		golden.Cases(t, file, golden.DoubleRule, func(_ *testing.T, _, input, _ string) string { return strings.ToUpper(input) })
	}
	t.Setenv("WEFT_UPDATE", "1")
	golden.Equal(t, file, before)
	check(before)
	cases()
	check(after)
	t.Setenv("WEFT_UPDATE", "")
	golden.Equal(t, file, after)
	cases()
	if got := golden.Inputs(t, file, golden.DoubleRule); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("inputs %q", got)
	}
}
