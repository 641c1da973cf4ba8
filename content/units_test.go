package content_test

import (
	"strings"
	"testing"

	"github.com/weftcrawl/weft/content"
)

// TestUnits: short lists and the like behind an article are content, and whole; lists of links are
// none.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		behind string
		kept   string // the words behind the article
	}{
		{"<ul><li>Red<li>Green<li>Blue</ul>", "Red Green Blue"},
		{"<div><ol><li>Red<li>Green</ol></div>", "Red Green"},
		{"<dl><dt>Quay<dd>A wall<dt>Bank<dd>A shop</dl>", "Quay A wall Bank A shop"},
		{"<blockquote>Ships come</blockquote>", "Ships come"},
		{"<details><summary>More</summary>Tiny words</details>", "More Tiny words"},
		{"<table><tr><td>Name<td>Harbour</table>", "Name Harbour"},
		{"<h2>Colours</h2><ul><li>Red<li>Green</ul>", "Colours Red Green"},
		{"<ul><li>Red things are nice to have, often.<li><a href=/g>Green</a><li>Blue<ul><li><a href=/n>Navy</a></ul></ul>", "Red things are nice to have, often. Green Blue Navy"},
		{"<h2>See also</h2><ul><li><a href=/q>Quay</a><li><a href=/r>Rail</a></ul>", ""},
		{"<nav><ul><li>Red<li>Green</ul></nav>", ""},
	} {
		_, text := extract(t, page(prose+c.behind), content.Options{})
		_, behind, _ := strings.Cut(text, "which is a library now.")
		if got := strings.TrimSpace(behind); got != c.kept {
			t.Errorf("%s: %q, expected %q", c.behind, got, c.kept)
		}
	}
}
