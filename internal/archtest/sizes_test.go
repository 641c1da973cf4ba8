package archtest

import (
	"fmt"
	"go/ast"
	"path"
	"testing"
)

const mostLines = 80 // of a function

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
