package httpclient_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/httpclient"
)

// TestKindsAreClosed checks that Kinds lists each declared kind once, that a test other than this
// one expects each, and that no code makes another kind by a conversion or a literal.
func TestKindsAreClosed(t *testing.T) {
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	var declared []string          // names
	values := make(map[string]int) // by declared constant
	tested := make(map[string]bool)
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || name == "kinds_test.go" {
			continue
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		isTest := strings.HasSuffix(name, "_test.go")
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if kind, ok := n.Type.(*ast.Ident); ok && kind.Name == "Kind" && !isTest && len(n.Values) > 0 {
					declared = append(declared, n.Names[0].Name)
					values[strings.Trim(n.Values[0].(*ast.BasicLit).Value, `"`)]++
				}
			case *ast.Ident:
				if isTest && strings.HasPrefix(n.Name, "Kind") {
					tested[n.Name] = true
				}
			case *ast.CallExpr:
				if fun, ok := n.Fun.(*ast.Ident); ok && !isTest && fun.Name == "Kind" {
					t.Errorf("%v: a conversion to Kind", fset.Position(n.Pos()))
				}
			case *ast.KeyValueExpr:
				key, _ := n.Key.(*ast.Ident)
				if _, literal := n.Value.(*ast.BasicLit); literal && !isTest && key != nil && key.Name == "Kind" {
					t.Errorf("%v: a kind that is a literal", fset.Position(n.Pos()))
				}
			}
			return true
		})
	}
	for _, name := range declared {
		if !tested[name] {
			t.Errorf("%s: no test expects it", name)
		}
	}
	kinds := httpclient.Kinds()
	for i, k := range kinds {
		if values[string(k)] != 1 || slices.Contains(kinds[:i], k) {
			t.Errorf("%s: declared %d times, expected once, and once in Kinds", k, values[string(k)])
		}
	}
	if len(kinds) != len(declared) || len(kinds) != len(values) {
		t.Errorf("%d declared, %d in Kinds", len(declared), len(kinds))
	}
}
