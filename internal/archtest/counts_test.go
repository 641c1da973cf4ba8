package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"slices"
	"testing"
)

// program type-checks a package of several files, without imports.
func program(t *testing.T, sources ...string) (*product, *room) {
	t.Helper()
	p := &product{fset: token.NewFileSet()}
	r := &room{folder: "p", info: &types.Info{Uses: make(map[*ast.Ident]types.Object), Defs: make(map[*ast.Ident]types.Object)}}
	for i, source := range sources {
		f, err := parser.ParseFile(p.fset, fmt.Sprintf("%c.go", 'a'+i), "package p\n"+source, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		r.files = append(r.files, f)
	}
	pkg, err := new(types.Config).Check(module+"/p", p.fset, r.files, r.info)
	if err != nil {
		t.Fatal(err)
	}
	r.types = pkg
	p.rooms = map[string]*room{"p": r}
	return p, r
}

func TestFieldCount(t *testing.T) {
	_, r := program(t, `
type inner struct{ a, b, c int }
type able struct{ l, m int }
func (*able) act() {}
type options struct{ N, O int }
type outer struct {
	*inner
	part inner
	able able
	opts options
	d, e int
	f    struct{ g, h int }
	i    []struct{ j, k int }
	error
}`)
	outer := r.types.Scope().Lookup("outer").Type().Underlying().(*types.Struct)
	if n := fieldCount(r.types, outer); n != 3+3+1+1+2+2+1+1 {
		t.Errorf("%d fields, expected 14", n)
	}
}

func TestFileGraph(t *testing.T) {
	p, r := program(t,
		`func a() { b(); var x i = t{}; x.up() }`,
		`func b() { c() }; type t struct{}; func (t) up() { a() }`,
		`func c() { f := t.up; _ = f }; type i interface{ up() }`)
	g := p.fileGraph(r)
	if got := fmt.Sprint(g.to); got != "[[false true false] [true false true] [false true false]]" {
		t.Errorf("arrows %s", got)
	}
	if got := fmt.Sprint(len(g.up())); got != "2" {
		t.Errorf("%s arrows run up, expected 2", got)
	}
	way := p.route(r, r.types.Scope().Lookup("a").(*types.Func))
	if way.stops != 4 || way.returns != 2 || way.functions != 4 {
		t.Errorf("the way %+v", way)
	}
}

func TestSets(t *testing.T) {
	_, r := program(t, `
type inner struct{ a, b int }
type outer struct {
	part inner
	to   *inner
	n, m, l int
}
func f(o *outer) { o.part.a++; o.to.b = o.n; o.m += 1; _ = outer{l: 1} }`)
	var got []string
	for _, v := range r.sets(r.files[0]) {
		got = append(got, v.Name())
	}
	if fmt.Sprint(got) != "[a part b m l]" {
		t.Errorf("fields %s", got)
	}
	fields := make(map[*types.Var]string)
	addFields(fields, r.types.Scope().Lookup("outer").Type())
	if len(fields) != 7 {
		t.Errorf("%d fields, expected 7", len(fields))
	}
}

// TestGiven: a function that is handed over in a field counts where the field is used, and a
// literal stands for what it names.
func TestGiven(t *testing.T) {
	for given, up := range map[string]int{
		`t.low = low{done: t.end}`:                     1,
		`t.low.done = (t.end)`:                         1,
		`t.low.done = func() { t.end() }`:              1,
		`t.low.done = func() {}`:                       0,
		`t.low.other = t.end`:                          0,
		`done := t.end; _ = done; t.low.done = nil`:    0,
		`t.low, t.low.done = low{other: t.end}, t.end`: 1,
	} {
		p, r := program(t,
			`type top struct{ low low }; func (t *top) end() {}; func (t *top) start() { `+given+`; t.low.run() }`,
			`type low struct{ done, other func() }; func (l *low) run() { l.done() }`)
		if got := p.fileGraph(r).up(); len(got) != up {
			t.Errorf("%s: %d arrows run up, expected %d", given, len(got), up)
		}
	}
}

// TestOrder: the order of large circles is no better than the best, and seldom worse.
func TestOrder(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	worse := 0
	for range 200 {
		const n = 9
		g := newGraph([]string{"a", "b", "c", "d", "e", "f", "g", "h", "i"})
		all := make([]int, n)
		for a := range n {
			all[a] = a
			for b := range n {
				g.to[a][b] = a != b && rnd.IntN(4) == 0
			}
		}
		best, good := g.upIn(g.bestOrder(all)), g.upIn(g.goodOrder(all))
		if sorted := slices.Sorted(slices.Values(g.goodOrder(all))); !slices.Equal(sorted, all) || len(good) < len(best) {
			t.Fatalf("%v: %d arrows up, and the best order has %d", sorted, len(good), len(best))
		}
		if len(g.up()) != len(best) {
			t.Errorf("%d arrows up by circles, %d in the best order", len(g.up()), len(best))
		}
		worse += len(good) - len(best)
	}
	if worse > 40 {
		t.Errorf("%d arrows too many in 200 graphs", worse)
	}
}

func TestClauses(t *testing.T) {
	for source, expected := range map[string]int{
		"// shake is what a channel has more during the handshake.\nvar shake int":   1,
		"// Names are how it is called.\nfunc Names() {}":                            1,
		"// warned is of what the user was warned once.\nvar warned int":             1,
		"// a, b and c are when it ends.\nvar a, b, c int":                           1,
		"// bytes is about how much memory it takes.\nfunc bytes() int { return 0 }": 1,
		"// shake is the extra state of a channel.\nvar shake int":                   0,
		"// Has reports whether it is what it was.\nfunc Has() {}":                   0,

		"// fate says what becomes of it.\ntype fate int":           1,
		"// Options say which are meant.\ntype Options struct{}":    1,
		"// most bounds how many there are.\nconst most = 1":        1,
		"// rate is right, whatever they say.\nconst rate = 1":      0,
		"// says returns what becomes of it.\nfunc says() {}":       0,
		"type s struct {\n// a counts what there is.\na int\n}":     1,
		"type s struct {\n// a reports what there is.\na func()\n}": 0,
		"type s struct {\n// a reports whether it is.\na bool\n}":   0,
		"type s struct {\na int // the task whose waits it ends\n}": 0,
		"type i interface {\n// a returns what there is.\na()\n}":   0,
		"const (\n// a has what is left.\na = 1\n)":                 1,
		"const (\na = 1 // what the store has\n)":                   1,
		"const (\na = 1 // Why there is none.\n)":                   1,
		"const (\na = 1 // for how long it lasts\n)":                1,
		"const (\na = 1 // when it ends\n)":                         0,
		"const (\na = 1 // whatever it is\n)":                       0,
	} {
		if n := clausesOf(t, "package p\n"+source); n != expected {
			t.Errorf("%q: %d clauses, expected %d", source, n, expected)
		}
	}
	for doc, expected := range map[string]int{
		"Package p says what is right.":                              0,
		"Package p is what is right.":                                1,
		"Package p works.\n//\n// A phase is what goes out at once.": 1,
		"Package p works.\n//\n//   - phase: what goes out.":         1,
		"Package p works.\n//\n//   - phase: a part. What it is.":    0,
	} {
		if n := clausesOf(t, "// "+doc+"\npackage p"); n != expected {
			t.Errorf("%q: %d clauses, expected %d", doc, n, expected)
		}
	}
}

func clausesOf(t *testing.T, source string) int {
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", source, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	return len(clauses(f))
}

func TestWords(t *testing.T) {
	if got := fmt.Sprint(words("isUntold_Of")); got != "[is untold  of]" {
		t.Errorf("words %s", got)
	}
}
