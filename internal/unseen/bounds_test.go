package unseen

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestManySelectors: a list of selectors, each of which takes over the declarations of its rule,
// takes little memory.
func TestManySelectors(t *testing.T) {
	var b strings.Builder
	b.WriteString("<style>.a")
	for i := range 60_000 {
		b.WriteString(",.")
		for n := i; n >= 0; n = n/26 - 1 {
			b.WriteByte(byte('a' + n%26))
		}
		if b.Len() > longestStyle-100 {
			break
		}
	}
	b.WriteString("{display:none;opacity:0;color:red}</style><p class=a>x")
	root, err := html.Parse(strings.NewReader(b.String()))
	if err != nil {
		t.Fatal(err)
	}
	if s := sheetOf(root); len(s.rules) > mostRules || len(s.rules) < mostRules/2 {
		t.Errorf("%d rules are kept", len(s.rules))
	}
	if r := Remove(root); r.Elements != 1 {
		t.Errorf("%+v, expected that of the first selector", r)
	}
}
