package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"
)

// graph has an arrow from A to B if A uses B. Nodes are numbered in the order of their names.
type graph struct {
	names []string
	to    [][]bool
}

func newGraph(names []string) *graph {
	g := &graph{names: slices.Clone(names)}
	slices.Sort(g.names)
	for range g.names {
		g.to = append(g.to, make([]bool, len(g.names)))
	}
	return g
}

func (g *graph) add(from, to string) {
	a, _ := slices.BinarySearch(g.names, from)
	b, _ := slices.BinarySearch(g.names, to)
	if a != b {
		g.to[a][b] = true
	}
}

// exact is the size of the largest circle whose best order is searched among all.
const exact = 16

// up returns the arrows that run up in the order of the nodes in which fewest do. Only arrows
// within a circle can. For circles of more than 16 nodes the order is a good one, not surely the
// best: that of the difference between a node's arrows out and in, in which each node is moved to
// its best place until no move helps.
func (g *graph) up() (arrows [][2]string) {
	for _, circle := range g.circles() {
		order := g.bestOrder(circle)
		if len(circle) > exact {
			order = g.goodOrder(circle)
		}
		arrows = append(arrows, g.upIn(order)...)
	}
	slices.SortFunc(arrows, func(a, b [2]string) int {
		return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1]))
	})
	return arrows
}

// upIn returns the arrows that run up in an order of nodes, the first of which is on top.
func (g *graph) upIn(order []int) (arrows [][2]string) {
	for i, a := range order {
		for _, b := range order[:i] {
			if g.to[a][b] {
				arrows = append(arrows, [2]string{g.names[a], g.names[b]})
			}
		}
	}
	return arrows
}

// circles returns the strongly connected components of more than one node.
func (g *graph) circles() (circles [][]int) {
	n := len(g.names)
	reach := make([][]bool, n)
	for i := range reach {
		reach[i] = slices.Clone(g.to[i])
	}
	for k := range n { // Warshall
		for i := range n {
			if reach[i][k] {
				for j := range n {
					reach[i][j] = reach[i][j] || reach[k][j]
				}
			}
		}
	}
	seen := make([]bool, n)
	for i := range n {
		if seen[i] || !reach[i][i] {
			continue
		}
		var circle []int
		for j := range n {
			if reach[i][j] && reach[j][i] {
				circle, seen[j] = append(circle, j), true
			}
		}
		circles = append(circles, circle)
	}
	return circles
}

// bestOrder orders a circle so that fewest arrows run up: the best order of each set of nodes is
// that of one node fewer, and this node below them.
func (g *graph) bestOrder(circle []int) []int {
	n := len(circle)
	if n > exact {
		return nil
	}
	out := make([]uint32, n) // the nodes that a node uses
	for i, a := range circle {
		for j, b := range circle {
			if g.to[a][b] {
				out[i] |= 1 << j
			}
		}
	}
	fewest := make([]int, 1<<n)
	lowest := make([]int, 1<<n)
	for set := uint32(1); set < 1<<n; set++ {
		fewest[set] = math.MaxInt
		for i := range n {
			if rest := set &^ (1 << i); rest != set {
				if up := fewest[rest] + bits.OnesCount32(out[i]&rest); up < fewest[set] {
					fewest[set], lowest[set] = up, i
				}
			}
		}
	}
	order := make([]int, n)
	for set := uint32(1<<n - 1); set != 0; {
		i := lowest[set]
		set &^= 1 << i
		order[bits.OnesCount32(set)] = circle[i]
	}
	return order
}

func (g *graph) goodOrder(circle []int) []int {
	order := slices.Clone(circle)
	excess := func(a int) (n int) {
		for _, b := range circle {
			if g.to[a][b] {
				n++
			}
			if g.to[b][a] {
				n--
			}
		}
		return n
	}
	slices.SortStableFunc(order, func(a, b int) int { return excess(b) - excess(a) })
	for moved := true; moved; {
		moved = false
		for _, a := range circle {
			from := slices.Index(order, a)
			rest := slices.Delete(slices.Clone(order), from, from+1)
			up := 0 // of a's arrows, if it stood first: those of the others to it
			for _, b := range rest {
				if g.to[b][a] {
					up++
				}
			}
			best, place, now := up, 0, up
			for i, b := range rest {
				if g.to[b][a] {
					up--
				}
				if g.to[a][b] {
					up++
				}
				if up < best {
					best, place = up, i+1
				}
				if i+1 == from {
					now = up
				}
			}
			if best < now {
				order, moved = slices.Insert(rest, place, a), true
			}
		}
	}
	return order
}

// fileGraph is the graph of a package's files: one uses another if its code names a function or a
// method that is declared there, or a field that is given one. Methods of interfaces have no code
// anywhere.
func (p *product) fileGraph(r *room) *graph {
	var names []string
	for _, f := range r.files {
		names = append(names, p.file(f))
	}
	g := newGraph(names)
	given, gives := r.given()
	for _, f := range r.files {
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if fn := r.function(id); fn != nil {
				g.add(p.file(f), p.file(fn))
			}
			if field := r.field(id); field != nil && !gives[id] {
				for _, fn := range given[field] {
					g.add(p.file(f), p.file(fn))
				}
			}
			return true
		})
	}
	return g
}

// given returns the functions that the package gives its fields by name, as methods of values, or
// in literals, which stand for all that they name; and the places where it does so.
func (r *room) given() (given map[*types.Var][]*types.Func, places map[*ast.Ident]bool) {
	given, places = make(map[*types.Var][]*types.Func), make(map[*ast.Ident]bool)
	give := func(to, value ast.Expr) {
		id := selected(to)
		field := r.field(id)
		if field == nil {
			return
		}
		places[id] = true
		_, literal := ast.Unparen(value).(*ast.FuncLit)
		if !literal && selected(value) == nil {
			return
		}
		ast.Inspect(value, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && r.function(id) != nil {
				given[field] = append(given[field], r.function(id))
			}
			return true
		})
	}
	for _, f := range r.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				give(n.Key, n.Value)
			case *ast.AssignStmt:
				for i, to := range n.Lhs {
					if len(n.Lhs) == len(n.Rhs) {
						give(to, n.Rhs[i])
					}
				}
			}
			return true
		})
	}
	return given, places
}

// selected is the identifier of a variable, or of what is selected of a value; nil: it is neither.
func selected(e ast.Expr) *ast.Ident {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

// field returns the field of a struct of this package that an identifier selects, if it does.
func (r *room) field(id *ast.Ident) *types.Var {
	v, ok := r.info.Uses[id].(*types.Var)
	if !ok || !v.IsField() || v.Pkg() != r.types {
		return nil
	}
	return v.Origin()
}

// positioned is a node of syntax, or an object.
type positioned interface{ Pos() token.Pos }

// file is the name of the file in which something stands.
func (p *product) file(at positioned) string {
	return filepath.Base(p.fset.Position(at.Pos()).Filename)
}

// function returns the function or method of this package that an identifier uses, if it does.
func (r *room) function(id *ast.Ident) *types.Func {
	fn, ok := r.info.Uses[id].(*types.Func)
	if !ok || fn.Pkg() != r.types {
		return nil
	}
	fn = fn.Origin()
	if recv := fn.Signature().Recv(); recv != nil && types.IsInterface(recv.Type()) {
		return nil
	}
	return fn
}

// folderGraph is the graph of the product's folders: one uses another if a package in it imports
// one there. A folder is that of a package with all below it; those in internal/ and cmd/ count for
// themselves.
func (p *product) folderGraph() *graph {
	var names []string
	for name := range p.rooms {
		names = append(names, topFolder(name))
	}
	slices.Sort(names)
	g := newGraph(slices.Compact(names))
	for _, name := range slices.Sorted(maps.Keys(p.rooms)) {
		for _, to := range p.rooms[name].imports {
			g.add(topFolder(name), topFolder(to))
		}
	}
	return g
}

func topFolder(name string) string {
	parts := strings.SplitN(name, "/", 3)
	if len(parts) > 1 && (parts[0] == "internal" || parts[0] == "cmd") {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// route is a walk along the calls of a function within its package, in the order of the code. A
// field that was given functions calls these. A call into another file is a stop, and a stop in a
// file that was entered before is a return. The calls of a function count once.
type route struct {
	stops, returns, functions int
	back                      []string // the returns
}

func (p *product) route(r *room, from *types.Func) (way route) {
	bodies := make(map[*types.Func]*ast.FuncDecl)
	for _, f := range r.files {
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
				bodies[r.info.Defs[fn.Name].(*types.Func)] = fn
			}
		}
	}
	given, gives := r.given()
	files := make(map[string]bool)
	entered := make(map[*types.Func]bool)
	var enter func(fn *types.Func)
	call := func(fn, to *types.Func) {
		if bodies[to] == nil {
			return
		}
		if p.file(to) != p.file(fn) {
			way.stops++
			if files[p.file(to)] {
				way.returns++
				way.back = append(way.back, fmt.Sprintf("%s calls %s", fn.FullName(), to.FullName()))
			}
		}
		if !entered[to] {
			enter(to)
		}
	}
	enter = func(fn *types.Func) {
		entered[fn] = true
		way.functions++
		files[p.file(fn)] = true
		ast.Inspect(bodies[fn].Body, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if to := r.function(id); to != nil {
				call(fn, to)
			}
			if field := r.field(id); field != nil && !gives[id] {
				for _, to := range given[field] {
					call(fn, to)
				}
			}
			return true
		})
	}
	enter(from)
	return way
}
