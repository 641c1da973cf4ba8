package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"testing"
)

const (
	mostLines  = 80 // of a function
	mostFields = 25 // of a struct
)

// largeStructs may have more than mostFields, each with the reason.
var largeStructs = map[string]string{
	"Options":                    "options",
	"httpclient/Options":         "options",
	"record/Record":              "a record",
	"internal/job/Plan":          "options: those that a job freezes",
	"internal/job/storedSummary": "a record: the summary on disk",
	"internal/webtest/Rates":     "options: one rate for each kind of page",
}

// TestFunctionsAreShort: outside tests no function has more than 80 lines.
func TestFunctionsAreShort(t *testing.T) {
	for _, f := range files(t) {
		if f.test {
			continue
		}
		for _, decl := range f.ast.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			lines := f.fset.Position(fn.End()).Line - f.fset.Position(fn.Pos()).Line + 1
			name := path.Join(f.pkg, funcName(fn))
			if lines > mostLines {
				t.Errorf("%s: %s has %d lines, more than %d", f.at(fn), name, lines, mostLines)
			}
		}
	}
}

// funcName is the name of a function, or Type.Method.
func funcName(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return fn.Name.Name
	}
	recv := fn.Recv.List[0].Type
	for {
		switch r := recv.(type) {
		case *ast.StarExpr:
			recv = r.X
		case *ast.IndexExpr:
			recv = r.X
		case *ast.IndexListExpr:
			recv = r.X
		default:
			return fmt.Sprintf("%s.%s", recv.(*ast.Ident).Name, fn.Name.Name)
		}
	}
}

// TestStructsAreSmall: no struct outside tests has more than 25 fields; one in another counts
// there.
func TestStructsAreSmall(t *testing.T) {
	used := make(map[string]bool)
	for _, f := range files(t) {
		if f.test {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok {
				return true
			}
			s, ok := spec.Type.(*ast.StructType)
			if !ok {
				return true
			}
			name := path.Join(f.pkg, spec.Name.Name)
			fields := fieldCount(s)
			if fields <= mostFields {
				return true
			}
			if _, ok := largeStructs[name]; !ok {
				t.Errorf("%s: %s has %d fields, more than %d", f.at(spec), name, fields, mostFields)
			}
			used[name] = true
			return true
		})
	}
	for name := range largeStructs {
		if !used[name] {
			t.Errorf("%s is listed in largeStructs and needs not be", name)
		}
	}
}

// fieldCount counts the fields of a struct, with those of anonymous structs in it.
func fieldCount(s *ast.StructType) int {
	n := 0
	for _, field := range s.Fields.List {
		if inner, ok := field.Type.(*ast.StructType); ok {
			n += fieldCount(inner)
			continue
		}
		n += max(1, len(field.Names))
	}
	return n
}

// rootTests is the number of test files that the root may have: those of its API. A crawl is tested
// beside the package that does the work, over package crawltest.
const rootTests = 12

// TestRootTests: the root tests the API, and no crawl.
func TestRootTests(t *testing.T) {
	n := 0
	for _, f := range files(t) {
		if f.test && f.pkg == "." {
			n++
		}
	}
	if n > rootTests {
		t.Errorf("%d test files at the root, expected at most %d", n, rootTests)
	}
}
