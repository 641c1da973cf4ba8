package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var code = regexp.MustCompile("`([^`]+)`")

// TestArchitecturePage: what ARCHITECTURE.md says of where each idea lives is true: the files are
// there, and each declares what the reader is to look for in it.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "\n| idea | files, each with what to look for there |\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no table of ideas")
	}
	rows := 0
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 4 {
			break // the end of the table
		}
		if rows++; rows == 1 { // the line below the head
			continue
		}
		for place := range strings.SplitSeq(cells[2], ";") {
			spans := code.FindAllStringSubmatch(place, -1)
			if len(spans) < 2 {
				t.Errorf("%s:%s, expected a file and what to look for in it", strings.TrimSpace(cells[1]), place)
				continue
			}
			has := declared(t, spans[0][1])
			for _, m := range spans[1:] {
				if !has(m[1]) {
					t.Errorf("%s: %s does not declare %s", strings.TrimSpace(cells[1]), spans[0][1], m[1])
				}
			}
		}
	}
	if rows < 40 {
		t.Errorf("%d ideas, expected the whole table", rows)
	}
}

// TestMeasuredCommits: pages of figures name commits of this repository.
func TestMeasuredCommits(t *testing.T) {
	git := func(args ...string) string {
		out, err := exec.Command("git", args...).Output()
		if err != nil {
			return "" // there is no repository
		}
		return strings.TrimSpace(string(out))
	}
	if git("rev-parse", "--is-shallow-repository") != "false" {
		return // commits may be unknown
	}
	named := regexp.MustCompile(`\b[0-9a-f]{7,12}\b`)
	for _, pages := range []string{"../../docs/bench/*.md", "../../docs/proof/*.md"} {
		all, _ := filepath.Glob(pages) // the pattern is valid
		for _, page := range all {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, "https://github.com/") {
					continue // a commit of another program
				}
				for _, name := range named.FindAllString(line, -1) {
					is := strings.ContainsAny(name, "abcdef") && strings.ContainsAny(name, "0123456789")
					if is && git("cat-file", "-t", name) != "commit" {
						t.Errorf("%s: %s is no commit: %s", page, name, line)
					}
				}
			}
		}
	}
}

// declared returns whether a name is declared in a Go file, or in one of a folder: that of a
// function, a type, a constant, a variable, a method or a field, with the name of its type or
// without. What is no name, such as Accept-Encoding, is one of its strings; and other files have it
// as a word.
func declared(t *testing.T, file string) func(name string) bool {
	t.Helper()
	path := filepath.Join("../..", file)
	if filepath.Ext(file) == "" {
		path = filepath.Join(path, "*.go")
	}
	paths, _ := filepath.Glob(path)
	if len(paths) == 0 {
		t.Errorf("ARCHITECTURE.md names %s, which does not exist", file)
	}
	names := make(map[string]bool)
	var text []byte
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, b...)
		if strings.HasSuffix(path, ".go") {
			f, err := parser.ParseFile(token.NewFileSet(), path, b, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				addNames(names, d)
			}
		}
	}
	return func(name string) bool {
		if len(names) > 0 && isName.MatchString(name) {
			return names[name]
		}
		return regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).Match(text)
	}
}

var isName = regexp.MustCompile(`^\w+(\.\w+)?$`)

// addNames adds the names that a declaration declares.
func addNames(names map[string]bool, d ast.Decl) {
	if fn, ok := d.(*ast.FuncDecl); ok {
		names[funcName(fn)], names[fn.Name.Name] = true, true
		return
	}
	for _, spec := range d.(*ast.GenDecl).Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				names[name.Name] = true
			}
		case *ast.TypeSpec:
			names[spec.Name.Name] = true
			var fields *ast.FieldList
			switch typ := spec.Type.(type) {
			case *ast.StructType:
				fields = typ.Fields
			case *ast.InterfaceType:
				fields = typ.Methods
			}
			if fields == nil {
				continue
			}
			for _, field := range fields.List {
				for _, name := range field.Names {
					names[spec.Name.Name+"."+name.Name], names[name.Name] = true, true
				}
			}
		}
	}
}

// pureRow is the end of a row about pure packages.
var pureRow = regexp.MustCompile(`\. Pure(: [^|]*)?\s*$`)

// TestPackagesPage: ARCHITECTURE.md's table of packages has each package of the product, and says
// which are pure.
func TestPackagesPage(t *testing.T) {
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	listed := make(map[string]bool)
	for row := range strings.Lines(string(page)) {
		cells := strings.Split(row, "|")
		if len(cells) != 4 || !strings.HasPrefix(cells[1], " `") {
			continue
		}
		isPure := pureRow.MatchString(cells[2])
		parent := ""
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) { // `internal/a`, `b` and `a`, `a/b`
			name := strings.TrimSuffix(m[1], "/…")
			listed[name], listed[parent+name] = true, true
			if isPure != slices.Contains(pure, parent+name) {
				t.Errorf("ARCHITECTURE.md says that %s is pure: %t; the list of archtest differs", parent+name, isPure)
			}
			if at := strings.LastIndex(m[1], "/"); parent == "" && at >= 0 {
				parent = m[1][:at+1]
			}
		}
	}
	for _, f := range files(t) {
		above := path.Dir(f.pkg) // a page need not name a part of a room
		if f.pkg != "." && !listed[f.pkg] && !listed[above] {
			t.Errorf("ARCHITECTURE.md has no row for %s", f.pkg)
			listed[f.pkg] = true
		}
	}
}

// TestGlossary: a noun is defined by a noun.
func TestGlossary(t *testing.T) {
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, glossary, ok := strings.Cut(string(page), "\n## Glossary\n")
	if !ok {
		t.Fatal("CONTRIBUTING.md has no glossary")
	}
	clause := regexp.MustCompile(`^\| [^|]* \| (what|who|why|how|where|whether|which)\b`)
	rows := 0
	for row := range strings.Lines(glossary) {
		if clause.MatchString(row) {
			t.Errorf("a clause defines a noun: %s", row)
		}
		if strings.HasPrefix(row, "| ") {
			rows++
		}
	}
	if rows < 100 {
		t.Errorf("%d rows, expected the whole glossary", rows)
	}
}

// TestChangelogIsShort: the notes of a release are read, not searched.
func TestChangelogIsShort(t *testing.T) {
	page, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := 0
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "## ") {
			lines = 0
		}
		if lines++; lines == 81 {
			t.Errorf("CHANGELOG.md: the notes that go on here have more than 80 lines: %s", line)
		}
	}
}
