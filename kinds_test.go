package weft_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/http1"
)

// TestKinds: every error kind there is has a meaning, once.
func TestKinds(t *testing.T) {
	want := make(map[string]bool)
	for _, k := range http1.Kinds() {
		want[string(k)] = true
	}
	delete(want, string(http1.KindCanceled)) // has no record
	for _, name := range declaredKinds(t) {
		want[name] = true
	}
	for _, k := range weft.Kinds() {
		if !want[k.Name] {
			t.Errorf("%q: told twice, or no record has it", k.Name)
		}
		delete(want, k.Name)
		if k.Meaning == "" || strings.ContainsAny(k.Meaning, "\n|") || len(k.Meaning) > 100 {
			t.Errorf("%s: %q, expected a line of a table", k.Name, k.Meaning)
		}
	}
	for name := range want {
		t.Errorf("%q has no meaning", name)
	}
}

// declaredKinds are the values of the package's own constants.
func declaredKinds(t *testing.T) (names []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "kinds.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if c, ok := n.(*ast.ValueSpec); ok && strings.HasPrefix(c.Names[0].Name, "Kind") {
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

// TestKindsPage: the page that people read is made of Kinds. With WEFT_GOLDEN=write it
// is written.
func TestKindsPage(t *testing.T) {
	const path = "docs/error-kinds.md"
	var b strings.Builder
	b.WriteString(`# Error kinds

A URL that could not be fetched as it should has an ` + "`error_kind`" + ` in its record; its ` + "`error`" + ` says more. The report, ` + "`weft status`" + ` and
` + "`Summary.Errors`" + ` count by kind, and ` + "`weft help kinds`" + ` prints this table, which ` + "`weft.Kinds`" + ` returns. A status such as 404 is an answer, and no
error.

| kind | means |
|---|---|
`)
	for _, k := range weft.Kinds() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", k.Name, k.Meaning)
	}
	if os.Getenv("WEFT_GOLDEN") == "write" {
		if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if page, err := os.ReadFile(path); err != nil || string(page) != b.String() {
		t.Errorf("%s: %v, expected\n%s", path, err, &b)
	}
}
