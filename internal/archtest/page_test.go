package archtest

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var code = regexp.MustCompile("`([^`]+)`")

// TestArchitecturePage: what ARCHITECTURE.md says of where each idea lives is true: the files are
// there, and what the reader is to look for is in one of them.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(page), "\n| idea | file | look for |\n")
	if !ok {
		t.Fatal("ARCHITECTURE.md has no table of ideas")
	}
	rows := 0
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) != 5 {
			break // the end of the table
		}
		var text strings.Builder
		for _, m := range code.FindAllStringSubmatch(cells[2], -1) {
			text.Write(source(t, m[1]))
		}
		for _, m := range code.FindAllStringSubmatch(cells[3], -1) {
			name := m[1][strings.LastIndex(m[1], ".")+1:]
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `\b`).MatchString(text.String()) {
				t.Errorf("%s:%s is not in%s", strings.TrimSpace(cells[1]), name, cells[2])
			}
		}
		rows++
	}
	if rows < 40 {
		t.Errorf("%d ideas, expected the whole table", rows)
	}
}

// source returns the text of a file, or of all Go files of a folder.
func source(t *testing.T, name string) (text []byte) {
	t.Helper()
	path := filepath.Join("../..", name)
	if !strings.HasSuffix(name, ".go") {
		path = filepath.Join(path, "*.go")
	}
	names, _ := filepath.Glob(path)
	if len(names) == 0 {
		t.Errorf("ARCHITECTURE.md names %s, which does not exist", name)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, b...)
	}
	return text
}

// TestPackagesPage: ARCHITECTURE.md's table of packages has each package of the product.
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
		parent := ""
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) { // `internal/a`, `b` and `a`, `a/b`
			name := strings.TrimSuffix(m[1], "/…")
			listed[name], listed[parent+name] = true, true
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
