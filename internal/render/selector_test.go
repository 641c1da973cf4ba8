package render_test

import (
	"testing"

	"github.com/weftcrawl/weft/internal/render"
)

// TestCheckSelector: what no browser can read is refused, and nothing that one may know.
func TestCheckSelector(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"a", "*", ".more", "#a > b", "a, b", "a:has(> img)", "::part(x)", "li:nth-child(2n + 1 of .x)", "a[href='[[']", `a[title="]" i]`, "a[href", "a[ href ]", "a[*|href]", "a[|href]", "a[/* */href]",
		`.\31 0`, "é.ü", "--x", "a:is(.b, #c) ~ d+e", "x /* [[ */ y", "&.a", "*|a", "a:not([b])", "h1", ":root", "._a",
	} {
		if err := render.CheckSelector(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", " ", "a[[", ":::x", "a..b", "a,", ",a", "> a", "a >", "a]", "a)", "a(]", "5", "a > 5", "#", "a {", "'a'", "a:", "a $", "/* a", "a[", "a[]", "a[=b]", ":not([", "a[5]"} {
		if render.CheckSelector(text) == nil {
			t.Errorf("%q is taken", text)
		}
	}
}
