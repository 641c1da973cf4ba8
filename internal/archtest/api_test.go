package archtest

import (
	"go/types"
	"strings"
	"testing"
)

// inner lists the names of public packages whose types are of internal ones, and why.
var inner = map[string]string{
	"weft.Options.Config": "the door of ADR 43", "weft.Options.Unfollowed": "the same",

	"httpclient.Options.Meter":      "a client of a crawl shares the memory of bodies",
	"httpclient.Response.Hand":      "the same",
	"httpclient.Response.CountWith": "the same",

	"cluster.Plan.Options": "the frozen options of a crawl, as the servers have them",
}

// TestPublicAPI: what a program of another module can name it can also read about. No exported name
// of a public package is an alias of an internal type, or has one in its type, but those of inner.
func TestPublicAPI(t *testing.T) {
	p := checked(t)
	met := make(map[string]bool)
	for _, folder := range publicPackages(t) {
		r := p.rooms[folder]
		if r == nil {
			continue // it has no file for Linux
		}
		name := func(parts ...string) string { return r.types.Name() + "." + strings.Join(parts, ".") }
		look := func(what string, typ types.Type) {
			if !strings.Contains(types.TypeString(typ, nil), module+"/internal/") {
				return
			}
			met[what] = true
			if inner[what] == "" {
				t.Errorf("%s is %s", what, typ)
			}
		}
		scope := r.types.Scope()
		for _, id := range scope.Names() {
			o := scope.Lookup(id)
			if !o.Exported() {
				continue
			}
			typ, ok := o.(*types.TypeName)
			if !ok || typ.IsAlias() {
				look(name(id), o.Type())
				look(name(id), types.Unalias(o.Type()))
				continue
			}
			named, ok := typ.Type().(*types.Named)
			if !ok {
				continue
			}
			if s, ok := named.Underlying().(*types.Struct); ok {
				for f := range s.Fields() {
					if f.Exported() {
						look(name(id, f.Name()), f.Type())
					}
				}
			} else {
				look(name(id), named.Underlying())
			}
			for m := range named.Methods() {
				if m.Exported() {
					look(name(id, m.Name()), m.Type())
				}
			}
		}
	}
	for what := range inner {
		if !met[what] {
			t.Errorf("%s is listed, and has no internal type", what)
		}
	}
}
