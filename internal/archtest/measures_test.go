package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// measure is a count of something that makes a program hard to read, and the most of it that there
// should be. Where there is more, ratchet.txt holds the number: it can only fall.
type measure struct {
	name  string
	title string // in the table of ADR 19
	mark  int
	sum   bool // the mark is for all subjects together, otherwise for each
	count func(*testing.T) map[string]int
}

var measures = []measure{
	{"methods", "methods of a type, promoted ones and functions of its package that take it first included", 60, false, countMethods},
	{"fields", "fields of a struct, promoted ones and those of parts without methods included; records and options excepted", mostFields, false, countFields},
	{"facade", "exported methods of `Frontier`", 25, false, countFacade},
	{"parts", "exported methods of `Frontier` and of the parts that it returns", 72, true, countParts},
	{"arrows", "arrows between files of a package that run back up", 30, true, countArrows},
	{"folders", "imports between folders that run back up", 0, true, countFolders},
	{"owners", "fields of the frontier's hosts and origins that more than one part sets", 0, true, countOwners},
	{"returns", "returns to a file on the way of an outcome through the frontier", 30, false, countReturns},
	{"public", "public packages", 29, false, countPublic},
	{"unlisted", "public packages that docs/library.md does not list, or that have no example that is run", 0, true, countUnlisted},
	{"root-tests", "test files of the root package", 12, false, countRootTests},
	{"clauses", "comments that define a noun by a clause", 0, true, countClauses},
	{"names", "declared names with words that only this program uses", 0, true, countNames},
	{"columns", "lines with a comment and more than 100 columns", 0, true, countColumns},
}

// declaredTypes calls f for each type that the product declares and is no interface.
func declaredTypes(p *product, f func(r *room, name string, tn *types.TypeName)) {
	for folder, r := range p.rooms {
		for _, obj := range r.info.Defs {
			tn, ok := obj.(*types.TypeName)
			if !ok || tn.IsAlias() || types.IsInterface(tn.Type()) {
				continue // type parameters are interfaces too
			}
			f(r, path.Join(folder, tn.Name()), tn)
		}
	}
}

func countMethods(t *testing.T) map[string]int {
	n := make(map[string]int)
	declaredTypes(checked(t), func(r *room, name string, tn *types.TypeName) {
		methods := types.NewMethodSet(types.NewPointer(tn.Type())).Len()
		for _, other := range r.types.Scope().Names() {
			if fn, ok := r.types.Scope().Lookup(other).(*types.Func); ok && takesFirst(fn, tn) {
				methods++
			}
		}
		n[name] = max(n[name], methods)
	})
	return n
}

// takesFirst says whether a function could be a method of a type.
func takesFirst(fn *types.Func, tn *types.TypeName) bool {
	params := fn.Signature().Params()
	if params.Len() == 0 {
		return false
	}
	first := params.At(0).Type()
	if p, ok := first.(*types.Pointer); ok {
		first = p.Elem()
	}
	named, ok := first.(*types.Named)
	return ok && named.Obj() == tn
}

const mostFields = 25

// largeStructs may have more fields than others, each with the reason.
var largeStructs = map[string]string{
	"Page":                         "a record, with its content",
	"cmd/weft/ofURL":               "a record",
	"cmd/weft/recordedURL":         "a record: a URL and its last record",
	"export/page":                  "a record: a row of the table pages",
	"httpclient/Options":           "options",
	"record/Record":                "a record",
	"record/Summary":               "a record",
	"inspect/Status":               "a record: the answer of weft status",
	"internal/engine/Config":       "options",
	"record/Stats":                 "a record: the progress of a crawl",
	"record/Figures":               "a record: a crawl for monitoring",
	"inspect/Figures":              "a record: the same, with what hosts wait for",
	"internal/fetch/Outcome":       "a record: a worker's report of a lease",
	"internal/frontier/OriginInfo": "a record: one row of weft hosts",
	"internal/job/Plan":            "options: those that a job freezes",
	"internal/job/storedSummary":   "a record: the summary on disk",
	"internal/job/plain":           "a record: storedSummary without its methods",
	"internal/webtest/Rates":       "options: one rate for each kind of page",
}

func countFields(t *testing.T) map[string]int {
	n := make(map[string]int)
	declaredTypes(checked(t), func(r *room, name string, tn *types.TypeName) {
		if s, ok := tn.Type().Underlying().(*types.Struct); ok {
			n[name] = max(n[name], fieldCount(r.types, s))
		}
	})
	for name := range largeStructs {
		if n[name] <= mostFields {
			t.Errorf("%s is listed in largeStructs and needs not be", name)
		}
		delete(n, name)
	}
	return n
}

// fieldCount counts the fields of a struct, with those of embedded structs, of anonymous ones in
// it, and of those of its package that have no behaviour of their own: a struct does not get
// smaller by such a part. Of another module's, it counts those that this one can see.
func fieldCount(pkg *types.Package, s *types.Struct) (n int) {
	for field := range s.Fields() {
		typ := field.Type()
		if p, ok := typ.(*types.Pointer); ok && field.Embedded() {
			typ = p.Elem()
		}
		inner, isStruct := typ.Underlying().(*types.Struct)
		_, named := types.Unalias(typ).(*types.Named)
		switch {
		case !isStruct || named && !field.Embedded() && !isBare(pkg, types.Unalias(typ).(*types.Named)):
			n++
		case named && !strings.HasPrefix(types.Unalias(typ).(*types.Named).Obj().Pkg().Path(), module):
			visible := 0
			for f := range inner.Fields() {
				if f.Exported() {
					visible++
				}
			}
			n += max(1, visible)
		default:
			n += fieldCount(pkg, inner)
		}
	}
	return n
}

// isBare reports whether a struct is of a package and has no methods, and is no record and no
// options, whose fields are all exported.
func isBare(pkg *types.Package, named *types.Named) bool {
	if named.Obj().Pkg() != pkg || types.NewMethodSet(types.NewPointer(named)).Len() > 0 {
		return false
	}
	for field := range named.Underlying().(*types.Struct).Fields() {
		if !field.Exported() {
			return true
		}
	}
	return false
}

func countFacade(t *testing.T) map[string]int {
	const facade = "internal/frontier/Frontier"
	return map[string]int{facade: countParts(t)[facade]}
}

// countParts counts the exported methods of the frontier, and of the types of its package that it
// returns without an argument.
func countParts(t *testing.T) map[string]int {
	pkg := checked(t).rooms["internal/frontier"].types
	n := make(map[string]int)
	var count func(types.Object)
	count = func(part types.Object) {
		name := path.Join("internal/frontier", part.Name())
		n[name] = 0
		for m := range types.NewMethodSet(types.NewPointer(part.Type())).Methods() {
			if !m.Obj().Exported() {
				continue
			}
			n[name]++
			if s := m.Obj().(*types.Func).Signature(); s.Params().Len() == 0 && s.Results().Len() == 1 {
				of := s.Results().At(0).Type()
				if p, ok := of.(*types.Pointer); ok {
					of = p.Elem()
				}
				named, ok := of.(*types.Named)
				if ok && named.Obj().Pkg() == pkg && n[path.Join("internal/frontier", named.Obj().Name())] == 0 {
					count(named.Obj())
				}
			}
		}
	}
	count(pkg.Scope().Lookup("Frontier"))
	return n
}

func countArrows(t *testing.T) map[string]int {
	p := checked(t)
	n := make(map[string]int)
	for folder, r := range p.rooms {
		up := p.fileGraph(r).up()
		n[folder] = len(up)
		for _, arrow := range up {
			t.Logf("%s: %s uses %s", folder, arrow[0], arrow[1])
		}
	}
	return n
}

func countFolders(t *testing.T) map[string]int {
	n := make(map[string]int)
	for _, arrow := range checked(t).folderGraph().up() {
		n[arrow[0]]++
	}
	return n
}

// wayIn is the method by which the outcome of a fetch enters the frontier.
const wayIn = "Frontier.Done"

func countReturns(t *testing.T) map[string]int {
	p := checked(t)
	r := p.rooms["internal/frontier"]
	for _, f := range r.files {
		for _, decl := range f.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok && funcName(fn) == wayIn {
				way := p.route(r, r.info.Defs[fn.Name].(*types.Func))
				t.Logf("%s: %d functions, %d stops, %d returns", wayIn, way.functions, way.stops, way.returns)
				for _, call := range way.back {
					t.Log(call)
				}
				return map[string]int{"internal/frontier/" + wayIn: way.returns}
			}
		}
	}
	t.Fatalf("internal/frontier has no %s: name the method by which an outcome enters", wayIn)
	return nil
}

// publicPackages are the folders of the packages that a program of another module may import.
func publicPackages(t *testing.T) (folders []string) {
	for folder, r := range checked(t).rooms {
		inside := slices.ContainsFunc(strings.Split(folder, "/"), func(s string) bool { return s == "internal" || s == "examples" })
		if !inside && r.types.Name() != "main" {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	return folders
}

func countPublic(t *testing.T) map[string]int {
	return map[string]int{"all": len(publicPackages(t))}
}

// printed is the comment with what an example prints, without which it is not run.
var printed = regexp.MustCompile(`(?mi)^\t// (?:unordered )?output:`)

// listedPackage is a row of the table of docs/library.md: the package, or several.
var listedPackage = regexp.MustCompile("(?m)^\\|((?: *\\[?`[a-z0-9/]+`(?:\\]\\([^)]*\\))?,?)+) *\\|")

func countUnlisted(t *testing.T) map[string]int {
	page, err := os.ReadFile("../../docs/library.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Packages\n")
	var names []string
	for _, row := range listedPackage.FindAllStringSubmatch(table, -1) {
		for _, name := range code.FindAllStringSubmatch(row[1], -1) {
			names = append(names, name[1])
		}
	}
	public := publicPackages(t)
	n := make(map[string]int)
	for _, folder := range public {
		example, err := os.ReadFile(path.Join("../..", folder, "example_test.go"))
		if name := cmp.Or(strings.TrimPrefix(folder, "."), "weft"); err != nil || !printed.Match(example) || !slices.Contains(names, name) {
			n[name] = 1
		}
	}
	for _, name := range names {
		if name != "weft" && !slices.Contains(public, name) {
			n[name] = 1 // listed, and none
		}
	}
	return n
}

// countRootTests: the root tests its API; a crawl is tested beside the package that does the work.
func countRootTests(t *testing.T) map[string]int {
	n := 0
	for _, f := range files(t) {
		if f.pkg == "." && f.test {
			n++
		}
	}
	return map[string]int{".": n}
}

// Definitions that say what a noun does instead of what it is: defines of anything, tells of a
// noun, as only functions may, bare without the noun, as behind a field. A time may be "when …", as
// in the standard library, and a switch may report whether.
var (
	defines = regexp.MustCompile(`^` + defined + ` (?:is|are) ` + clause)
	tells   = regexp.MustCompile(`^` + defined + ` (?:says?|has|have|counts?|tells?|holds?|knows?|decides?|chooses?|describes?|shows?|names?|lists?|bounds?|limits?|exceeds?|begins?|ends?|lasts?) ` + clause)
	bare    = regexp.MustCompile(`^(?i:what|why|which|where|who|whom|whose|(?:(?:about|for|from|of|until) )?how)\b`)
	item    = regexp.MustCompile(`^[ \t]*- [\w ]+: `)
)

const (
	defined = `(?:(?:A|An|The|Each|Package|Command) )?([\w.]+(?:,? (?:and|or) [\w.]+|, [\w.]+)*)`
	clause  = `(?:(?:about|as|at|by|for|from|in|of|on|to|up to|until|with) )?(?:what|how|why|which|whether|where|when|who|whom|whose)\b`
)

func countClauses(t *testing.T) map[string]int {
	n := make(map[string]int)
	for _, f := range allFiles(t) {
		for _, c := range clauses(f.ast) {
			t.Logf("%s: %s", f.at(c.of), c.text)
			n[f.pkg]++
		}
	}
	return n
}

// described is a comment in one line.
type described struct {
	of   *ast.CommentGroup
	text string
}

// clauses returns the comments of a file that define a noun by a clause.
func clauses(f *ast.File) (found []described) {
	for paragraph := range strings.SplitSeq(f.Doc.Text(), "\n\n") {
		if text := oneLine(paragraph); defines.MatchString(text) {
			found = append(found, described{f.Doc, text})
		}
	}
	for line := range strings.Lines(f.Doc.Text()) {
		if name := item.FindString(line); name != "" && bare.MatchString(line[len(name):]) {
			found = append(found, described{f.Doc, oneLine(line)})
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		names, function := nouns(n)
		for _, doc := range docs(n) {
			text := oneLine(doc.Text())
			tell := tells.FindStringSubmatch(text)
			switch {
			case defines.MatchString(text), mayBeBare(n) && bare.MatchString(text),
				tell != nil && !function && slices.ContainsFunc(strings.Fields(tell[1]), func(word string) bool {
					return slices.Contains(names, strings.TrimSuffix(word, ","))
				}):
				found = append(found, described{doc, text})
			}
		}
		return true
	})
	return found
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// mayBeBare reports whether the comments of a declaration need not begin with its name.
func mayBeBare(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		return n.Lparen.IsValid()
	case *ast.ValueSpec, *ast.Field:
		return true
	}
	return false
}

// nouns returns the names that the comments of a declaration are about, and reports whether they
// are of functions.
func nouns(n ast.Node) (names []string, function bool) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return nil, true
	case *ast.GenDecl:
		if !n.Lparen.IsValid() {
			return nouns(n.Specs[0])
		}
	case *ast.Field:
		_, function = n.Type.(*ast.FuncType)
	}
	for _, id := range declaredNames(n) {
		names = append(names, id.Name)
	}
	return names, function
}

// docs are the comments of a declaration.
func docs(n ast.Node) []*ast.CommentGroup {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return []*ast.CommentGroup{n.Doc}
	case *ast.GenDecl:
		return []*ast.CommentGroup{n.Doc}
	case *ast.TypeSpec:
		return []*ast.CommentGroup{n.Doc, n.Comment}
	case *ast.ValueSpec:
		return []*ast.CommentGroup{n.Doc, n.Comment}
	case *ast.Field:
		return []*ast.CommentGroup{n.Doc, n.Comment}
	}
	return nil
}

// ownWords are words of names that no other program uses for the same.
var ownWords = []string{"aheads", "crew", "hire", "hired", "lapse", "lapsed", "led", "lined", "sight", "sights", "staff", "told", "untold"}

// ownNames are whole names that say nothing.
var ownNames = []string{"goOn", "none", "of", "one"}

func countNames(t *testing.T) map[string]int {
	n := make(map[string]int)
	for _, f := range allFiles(t) {
		ast.Inspect(f.ast, func(node ast.Node) bool {
			for _, id := range declaredNames(node) {
				if slices.ContainsFunc(words(id.Name), func(w string) bool { return slices.Contains(ownWords, w) }) {
					n[f.pkg]++
				}
			}
			if fn, ok := node.(*ast.FuncDecl); ok {
				if slices.Contains(ownNames, fn.Name.Name) {
					n[f.pkg]++
				}
				if fn.Recv != nil && strings.HasPrefix(funcName(fn), "Coordinator.") && slices.ContainsFunc(fn.Recv.List[0].Names, func(id *ast.Ident) bool { return id.Name == "d" }) {
					n[f.pkg]++
				}
			}
			return true
		})
	}
	return n
}

// declaredNames are the identifiers that a node declares.
func declaredNames(n ast.Node) (names []*ast.Ident) {
	define := func(tok token.Token, exprs ...ast.Expr) {
		for _, e := range exprs {
			if id, ok := e.(*ast.Ident); ok && tok == token.DEFINE {
				names = append(names, id)
			}
		}
	}
	switch n := n.(type) {
	case *ast.FuncDecl:
		return []*ast.Ident{n.Name}
	case *ast.TypeSpec:
		return []*ast.Ident{n.Name}
	case *ast.ValueSpec:
		return n.Names
	case *ast.Field:
		return n.Names
	case *ast.AssignStmt:
		define(n.Tok, n.Lhs...)
	case *ast.RangeStmt:
		define(n.Tok, n.Key, n.Value)
	}
	return names
}

// words splits a name at its capitals and underlines, and returns its words in lower case.
func words(name string) (words []string) {
	start := 0
	for i, c := range name {
		if unicode.IsUpper(c) || c == '_' {
			words, start = append(words, strings.ToLower(name[start:i])), i
		}
	}
	words = append(words, strings.ToLower(name[start:]))
	for i, w := range words {
		words[i] = strings.Trim(w, "_")
	}
	return words
}

// countColumns counts lines that are a comment or end with one. A tab is one column.
func countColumns(t *testing.T) map[string]int {
	n := make(map[string]int)
	for _, f := range allFiles(t) {
		source, err := os.ReadFile(path.Join("../..", f.pkg, f.name))
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(source), "\n")
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				line := lines[f.fset.Position(c.Pos()).Line-1]
				if strings.HasPrefix(c.Text, "//") && utf8.RuneCountInString(line) > 100 {
					n[f.pkg]++
				}
			}
		}
	}
	return n
}

// held is a line of ratchet.txt.
type held struct{ measure, subject string }

func readRatchet(t *testing.T) map[held]int {
	t.Helper()
	text, err := os.ReadFile("ratchet.txt")
	if err != nil {
		t.Fatal(err)
	}
	ratchet := make(map[held]int)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		var h held
		var n int
		if _, err := fmt.Sscan(line, &h.measure, &h.subject, &n); err != nil {
			t.Fatalf("ratchet.txt: %q: %v", line, err)
		}
		ratchet[h] = n
	}
	return ratchet
}

const ratchetHead = `# What is beyond its mark today, by measure (measures_test.go). A number can only fall, and
# when it does, WEFT_UPDATE=1 go test ./internal/archtest writes it here. Blank lines keep the changes
# of several people apart.
`

func writeRatchet(t *testing.T, ratchet map[held]int) {
	t.Helper()
	text := ratchetHead
	for _, m := range measures {
		var lines []string
		for h, n := range ratchet {
			if h.measure == m.name {
				lines = append(lines, fmt.Sprintf("%s %s %d\n", m.name, h.subject, n))
			}
		}
		if len(lines) > 0 {
			slices.Sort(lines)
			text += "\n" + strings.Join(lines, "\n")
		}
	}
	if err := os.WriteFile("ratchet.txt", []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestMeasures: nothing is beyond its mark but what ratchet.txt holds, by no more and no less than
// it says. WEFT_UPDATE=1 lowers what has fallen, and writes the table of ADR 19.
func TestMeasures(t *testing.T) {
	update := os.Getenv("WEFT_UPDATE") == "1"
	ratchet := readRatchet(t)
	known := make(map[string]bool)
	for _, m := range measures {
		known[m.name] = true
		t.Run(m.name, func(t *testing.T) {
			counts := m.count(t)
			for h := range ratchet {
				if h.measure == m.name && counts[h.subject] == 0 {
					counts[h.subject] = 0 // gone
				}
			}
			for _, subject := range slices.Sorted(maps.Keys(counts)) {
				n, h := counts[subject], held{m.name, subject}
				most, isHeld := ratchet[h]
				free := 0
				if !m.sum {
					free = m.mark
				}
				switch {
				case n > max(most, free):
					t.Errorf("%s: %d, and may be %d: %s", subject, n, max(most, free), m.title)
				case !isHeld || n == most && n > free:
				case update && n > free:
					ratchet[h] = n
				case update:
					delete(ratchet, h)
				default:
					t.Errorf("%s: %d, and ratchet.txt says %d: WEFT_UPDATE=1 go test ./internal/archtest lowers it: %s", subject, n, most, m.title)
				}
			}
			m.row(t, counts, update)
		})
	}
	for h := range ratchet {
		if !known[h.measure] {
			t.Errorf("ratchet.txt: there is no measure %q", h.measure)
		}
	}
	if update {
		writeRatchet(t, ratchet)
	}
}

// row holds the row of the measure in the table of ADR 19. It may say more than there is, but not
// less, and not that a mark is missed which is met: so it changes seldom.
func (m *measure) row(t *testing.T, counts map[string]int, update bool) {
	const page = "../../docs/adr/0019-the-rooms-of-a-crawl.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	now, most := 0, ""
	for _, subject := range slices.Sorted(maps.Keys(counts)) {
		if m.sum {
			now += counts[subject]
		} else if counts[subject] > now {
			now, most = counts[subject], subject
		}
	}
	row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(m.title) + ` \| \d+ \| (\d+)(?: \(.*\))? \|$`)
	match := row.FindSubmatch(text)
	if match == nil {
		t.Fatalf("ADR 19 lacks the row | %s | %d | %d |", m.title, m.mark, now)
	}
	said, err := strconv.Atoi(string(match[1]))
	if err != nil {
		t.Fatal(err)
	}
	if said >= now && (said <= m.mark || now > m.mark) {
		return
	}
	if !update {
		t.Errorf("ADR 19 says %d, today it is %d: WEFT_UPDATE=1 go test ./internal/archtest rewrites the table", said, now)
		return
	}
	written := fmt.Sprintf("| %s | %d | %d |", m.title, m.mark, now)
	if len(counts) > 1 && !m.sum {
		written = fmt.Sprintf("| %s | %d | %d (`%s`) |", m.title, m.mark, now, most)
	}
	if err := os.WriteFile(page, row.ReplaceAllLiteral(text, []byte(written)), 0o666); err != nil {
		t.Fatal(err)
	}
}
