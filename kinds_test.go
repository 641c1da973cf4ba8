package weft_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/golden"
)

// TestKinds checks that every error kind is documented exactly once.
func TestKinds(t *testing.T) {
	want := make(map[string]bool)
	for _, k := range httpclient.Kinds() {
		want[string(k)] = true
	}
	delete(want, string(httpclient.KindCanceled)) // appears in no record
	for _, name := range declared(t, "record/kinds.go", "Kind") {
		want[name] = true
	}
	for _, k := range weft.Kinds() {
		if !want[k.Name] {
			t.Errorf("%q is listed twice, or no record has it", k.Name)
		}
		delete(want, k.Name)
		if k.Meaning == "" || strings.ContainsAny(k.Meaning, "\n|") || len(k.Meaning) > 100 {
			t.Errorf("%s: meaning %q, expected text for one table row", k.Name, k.Meaning)
		}
	}
	for name := range want {
		t.Errorf("%q has no meaning", name)
	}
}

// declared returns the values of the constants in a file whose names start with prefix.
func declared(t *testing.T, path, prefix string) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if c, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(c.Names[0].Name, prefix) {
			name, err := strconv.Unquote(c.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		return true
	})
	return names
}

// TestReasons checks that every reason is documented exactly once.
func TestReasons(t *testing.T) {
	want := make(map[string]bool)
	for _, name := range declared(t, "internal/scope/reasons.go", "Reason") {
		want[name] = true
	}
	for _, r := range weft.Reasons() {
		if !want[r.Name] {
			t.Errorf("%q is listed twice, or no link has it", r.Name)
		}
		delete(want, r.Name)
		if r.Meaning == "" || strings.ContainsAny(r.Meaning, "\n|") || len(r.Meaning) > 100 {
			t.Errorf("%s: meaning %q, expected text for one table row", r.Name, r.Meaning)
		}
	}
	for name := range want {
		t.Errorf("%q has no meaning", name)
	}
}

// TestKindsPage checks that docs/error-kinds.md is generated from Kinds and Reasons. See
// internal/golden for how to update it.
func TestKindsPage(t *testing.T) {
	const path = "docs/error-kinds.md"
	var b strings.Builder
	b.WriteString(`# Error kinds

A URL whose fetch failed has an ` + "`error_kind`" + ` in its [record](records.md#pagesjsonl), and an
` + "`error`" + ` that says more. The report, ` + "`weft status`" + ` and ` + "`Summary.Errors`" + ` count URLs by kind.
A status such as 404 is a response, not an error. ` + "`weft help kinds`" + ` prints this table, and
` + "`weft.Kinds`" + ` returns it.

| kind | means |
|---|---|
`)
	for _, k := range weft.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k.Name, k.Meaning)
	}
	b.WriteString(`
## Why a link is not followed

A link that is not followed has no record. The report, ` + "`weft status`" + ` and
` + "`Summary.NotFollowed`" + ` count such links by reason, once for each mention; a hook may add
reasons of its own. The last two reasons concern URLs instead of mentions: the report,
` + "`Summary.OverLimit`" + ` and ` + "`Summary.OverVariants`" + ` count these. ` + "`weft why JOB URL`" + ` explains a
single URL. ` + "`weft help kinds`" + ` prints this table, and ` + "`weft.Reasons`" + ` returns it.

| reason | means |
|---|---|
`)
	for _, r := range weft.Reasons() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", r.Name, r.Meaning)
	}
	golden.Equal(t, path, b.String())
}
