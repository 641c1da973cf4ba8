package archtest

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"
	"testing"
)

// parts are the files of the frontier's parts. Hosts and origins are records that they share.
var parts = map[string]string{
	"agenda":     "agenda backlog level levels queue redirects refill refilling seen shorter",
	"politeness": "addresses delay failures group pace politeness prompt robots robots_cache robots_leases turn",
	"residency":  "batch dormant eviction ownership partitions reading recall residency tally",
	"journal":    "journal",
}

var shared = []string{"host", "origin"}

// countOwners counts the fields of the shared records, and of what these are made of, that more
// than one part sets. A file of no part counts as one.
func countOwners(t *testing.T) map[string]int {
	p := checked(t)
	r := p.rooms["internal/frontier"]
	partOf := make(map[string]string)
	for part, files := range parts {
		for name := range strings.FieldsSeq(files) {
			partOf[name+".go"] = part
		}
	}
	fields := make(map[*types.Var]string)
	for _, name := range shared {
		addFields(fields, r.types.Scope().Lookup(name).Type())
	}
	setBy := make(map[*types.Var][]string)
	for _, f := range r.files {
		name := p.file(f)
		part := partOf[name]
		delete(partOf, name)
		if part == "" {
			part = name
		}
		for _, field := range r.sets(f) {
			if fields[field] != "" && !slices.Contains(setBy[field], part) {
				setBy[field] = append(setBy[field], part)
			}
		}
	}
	for name, part := range partOf {
		t.Errorf("%s is listed as a file of %s, and there is none", name, part)
	}
	n := make(map[string]int)
	for field, by := range setBy {
		if len(by) > 1 {
			slices.Sort(by)
			t.Logf("%s: set by %s", fields[field], strings.Join(by, ", "))
			n["internal/frontier/"+fields[field]] = 1
		}
	}
	return n
}

// addFields adds the fields of a struct of one package, and of the structs there that they are or
// point to. Exported ones are messages.
func addFields(fields map[*types.Var]string, of types.Type) {
	if p, ok := of.(*types.Pointer); ok {
		of = p.Elem()
	}
	named, ok := of.(*types.Named)
	if !ok || named.Obj().Exported() {
		return
	}
	s, ok := named.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for f := range s.Fields() {
		if fields[f] == "" {
			fields[f] = named.Obj().Name() + "." + f.Name()
			addFields(fields, f.Type())
		}
	}
}

// sets returns the fields that the code of a file sets: by an assignment to them, or to a part of
// them, and by a literal.
func (r *room) sets(f *ast.File) (fields []*types.Var) {
	field := func(e ast.Expr) *types.Var {
		id, ok := e.(*ast.Ident)
		if sel, isSelector := e.(*ast.SelectorExpr); isSelector {
			id, ok = sel.Sel, true
		}
		if !ok {
			return nil
		}
		v, _ := r.info.Uses[id].(*types.Var)
		return v
	}
	set := func(e ast.Expr) {
		for v := field(e); v != nil && v.IsField(); v = field(e) {
			fields = append(fields, v)
			sel, ok := e.(*ast.SelectorExpr)
			if !ok {
				return
			}
			e = sel.X
			if outer := field(e); outer == nil || isPointer(outer.Type()) {
				return
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, e := range n.Lhs {
				set(e)
			}
		case *ast.IncDecStmt:
			set(n.X)
		case *ast.KeyValueExpr:
			set(n.Key)
		}
		return true
	})
	return fields
}

func isPointer(t types.Type) bool {
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}
