package check

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// write makes files below a new folder, and changes to it.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// found lists the findings of a report, and closes it.
func found(t *testing.T, r *Report, err error) (all []string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range r.Findings() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s:%d:%d %s %s", f.Page, f.Line, f.Column, f.Rule, f.URL))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return all
}

// TestFiles checks HTML and Markdown on disk: links to files, folders and fragments, by the rules
// of GitHub for ids of headings.
func TestFiles(t *testing.T) {
	write(t, map[string]string{
		"docs/README.md": "---\ntitle: \"[x](front)\"\n---\n# Hello, *World*!\n\n[sub](sub/) [gone](gone.md) [ref][r] [frag](sub/page.html#b%20c)\n" +
			"[bad](sub/page.html#no) <a name=\"old\"></a> [a](#hello-world) [b](#old) [c](#none) [d](/other.md#größe-1) [up](../up.md#x-1)\n" +
			"![img](i.png) <mailto:a@b@c> [web](http://example.org/) [line](code.go#L10)\n\n```\n[code](none.md)\n```\n\n[r]: nothing.html\n",
		"docs/other.md": "# Größe\n## Größe\n",
		"docs/sub/page.html": "<p id='b c'><a href=../README.md>x</a>\n<img src=\"none.png\"><a href=./>folder</a><a href='page.html?v=1#top'>self</a>" +
			"<p id='c%20d'><a href='#c%20d'>written alike</a><a href='#c%2520d'>and encoded</a>",
		"docs/code.go":        "package x",
		"docs/.hidden/a.html": "<a href=none>",
		"up.md":               "# X\n# X\n[not checked](none)\n",
	})
	r, err := files(t.Context(), []string{"docs"}, "", Options{})
	got := found(t, r, err)
	want := []string{
		"docs/README.md:6:20 broken-link docs/gone.md",
		"docs/README.md:7:7 missing-fragment docs/sub/page.html#no",
		"docs/README.md:7:76 missing-fragment docs/README.md#none",
		"docs/README.md:8:8 broken-link docs/i.png",
		"docs/README.md:8:23 invalid-mail mailto:a@b@c",
		"docs/README.md:14:6 broken-link docs/nothing.html",
		"docs/sub/page.html:2:11 broken-link docs/sub/none.png",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	off, err := offSite(t.Context(), []string{"docs"}, Options{})
	if err != nil || !slices.Equal(off, []string{"http://example.org/"}) {
		t.Errorf("%q, %v", off, err)
	}
	if _, err := files(t.Context(), []string{"docs/code.go"}, "", Options{}); err == nil {
		t.Error("no error for a file of another type")
	}
	if err := os.Symlink("docs", "link"); err != nil {
		t.Fatal(err)
	}
	r, err = files(t.Context(), []string{"link"}, "", Options{})
	if got := found(t, r, err); len(got) != len(want) || got[0] != "link/README.md:6:20 broken-link link/gone.md" {
		t.Errorf("by a symbolic link: %q", got)
	}
}

// TestFilesCounted: a check of files says what it has read, what it has passed over, and where
// links lead; documents that it does not read are counted once.
func TestFilesCounted(t *testing.T) {
	write(t, map[string]string{
		"docs/a.md": "# A\n[b](b.html) [c](c.pdf) [c](./c.pdf#page=2) [d](d.docx) [web](http://example.org/) [mail](mailto:a@b.test)", "docs/b.html": "<title>b</title><a href=a.md#a>a</a>",
		"docs/app.html": "<title>app</title><div id=root></div><script src=app.js></script>", "docs/app.js": "", "docs/c.pdf": "", "docs/d.docx": "", "docs/sub/e.markdown": "E", "docs/f.rst": "",
	})
	r, err := files(t.Context(), []string{"docs"}, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := writeText(&out, r, Style{}); err != nil {
		t.Fatal(err)
	}
	const want = `warning  the page looks empty without scripts (an empty mount), which only --render runs: links that they make are not checked  needs-scripts
         on docs/app.html

nothing is broken, 1 warning, 0 notes in 1 problem
4 pages (2 HTML, 2 Markdown) of 8 files, 8 links (6 to files, 1 to the Web); 0 URLs: 0 ok, 0 broken, 0 unknown; 1 link not checked
1 page looks empty without scripts, which only --render runs
2 documents not read: 1 PDF, 1 Word
`
	if out.String() != want {
		t.Errorf("%s\nwant %s", out.String(), want)
	}
	if got := found(t, r, nil); len(got) != 1 {
		t.Errorf("%q", got)
	}
	write(t, map[string]string{"a.md": "# A\n[b](gone.md)"})
	if r, err = files(t.Context(), []string{"a.md"}, "", Options{}); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := writeText(&out, r, Style{}); err != nil || !strings.Contains(out.String(), "\n         on a.md:2:5  <a href> “b”\n") {
		t.Errorf("%v: %s", err, out.String())
	}
	found(t, r, nil)
}

// TestHostileFiles: what a stranger may put into a repository neither ends a check nor holds it up:
// folders, devices and pipes with the names of documents, symbolic links in a circle, many
// headings alike, and links on one line.
func TestHostileFiles(t *testing.T) {
	var long strings.Builder
	for range 1500 {
		long.WriteString("# x\n")
	}
	for range 1500 {
		long.WriteString("[a](%67one&amp;.md) ")
	}
	write(t, map[string]string{
		"docs/a.md": "[folder](folder.md#x) [device](device.md#x) [pipe](pipe.md#x) [self](self/self/self/a.md#none) [b](self/b.md#none)\n",
		"docs/b.md": "# B\n", "docs/folder.md/x": "", "docs/long.md": long.String(), "::error::x.md": "[x](::stop::y.md)",
	})
	for name, to := range map[string]string{"docs/device.md": "/dev/zero", "docs/self": ".", "docs/pipe.md": ""} {
		err := os.Symlink(to, name)
		if to == "" {
			err = syscall.Mkfifo(name, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r, err := files(t.Context(), []string{"."}, "", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Totals.Rules[BrokenLink]; d != 1501 {
		t.Errorf("%d broken links", d)
	}
	all := slices.DeleteFunc(found(t, r, nil), func(f string) bool { return strings.HasPrefix(f, "docs/long.md:") })
	want := []string{
		"./::error::x.md:1:5 broken-link ./::stop::y.md",
		"docs/a.md:1:70 missing-fragment docs/self/self/self/a.md#none", "docs/a.md:1:100 missing-fragment docs/self/b.md#none",
	}
	if !slices.Equal(all, want) {
		t.Errorf("%q\nwant %q", all, want)
	}
	if _, err := readFile("docs/pipe.md"); err == nil {
		t.Error("a pipe was read")
	}
	if err := syscall.Mkfifo("pages.jsonl", 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Job(t.Context(), ".", Options{}); err == nil {
		t.Error("a job whose records are a pipe was read")
	}
}

// TestFilesAsPublished: a link that begins with a slash leads into the folder, whatever else this
// machine has there, and one that begins with two, to another host.
func TestFilesAsPublished(t *testing.T) {
	write(t, map[string]string{"docs/a b.html": "<a href=/tmp/>x</a><a href=' /in'>y</a><script src=//cdn.test:8080/x.js></script>" + strings.Repeat("Some text. ", 20), "docs/in": ""})
	r, err := files(t.Context(), []string{"docs"}, "", Options{})
	if got, want := found(t, r, err), []string{"docs/a b.html:1:9 broken-link /tmp/"}; !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	web := makeJob(t, answer("https://cdn.test:8080/x.js", 404, ""))
	if r, err = files(t.Context(), []string{"docs"}, web, Options{}); err != nil || r.Totals.URLs != 1 || r.Totals.Broken != 1 {
		t.Errorf("%+v, %v", r, err)
	}
	if got := found(t, r, err); len(got) != 2 || got[1] != "docs/a b.html:1:52 broken-link https://cdn.test:8080/x.js" {
		t.Errorf("%q", got)
	}
	off, err := offSite(t.Context(), []string{"docs"}, Options{})
	if err != nil || !slices.Equal(off, []string{"https://cdn.test:8080/x.js"}) {
		t.Errorf("%q, %v", off, err)
	}
}

// TestMarkdownBombs: a short document that would take minutes or gigabytes is an error; a document
// that a person writes is not.
func TestMarkdownBombs(t *testing.T) {
	row := strings.Repeat("|a", 50) + "|\n"
	for name, c := range map[string]struct {
		source string
		want   error
		cut    bool
	}{
		"quotes":      {strings.Repeat(">", 200_000), errNested, false},
		"lists":       {strings.Repeat("- ", 20_000) + "a", errNested, false},
		"cells":       {strings.Repeat("a|", 2000) + "\n" + strings.Repeat("-|", 2000) + "\n" + strings.Repeat("|\n", 5000), errCells, false},
		"references":  {strings.Repeat("[a] ", 200) + "\n\n[a]: /" + strings.Repeat("x", 10_000), errRendered, false},
		"table":       {row + strings.Repeat("|-", 50) + "|\n" + strings.Repeat(row, 1000), nil, false},
		"rule":        {strings.Repeat("-", 5000) + "\n" + strings.Repeat("> ", 50) + "a", nil, false},
		"definitions": {strings.Repeat("[a]: b\n", 20_000), errDefs, false},
		"labels":      {strings.Repeat("[a](", 5000), nil, true},
		"stars":       {strings.Repeat("*a **b _c", 5000), nil, true},
		"list":        {strings.Repeat("- [a](b) *c*\n", 2000), nil, false},
	} {
		if _, cut, err := renderWithin(mostSpent/1024, 1<<20, []byte(c.source)); err != c.want || cut > 0 != c.cut {
			t.Errorf("%s: cut at %d, %v, want %v", name, cut, err, c.want)
		}
	}
}

// TestFilesNamed: the symbols that files of SVG have are known, what takes a form is no file, and a
// check that is stopped says so.
func TestFilesNamed(t *testing.T) {
	write(t, map[string]string{
		"a.html":     `<title>a</title><svg><use href="icons.svg#cart"/><use xlink:href=icons.svg#none /></svg><form action=/send method=post></form><q cite=gone.html>x</q><img alt data-src=gone.png>`,
		"icons.svg":  `<svg xmlns="http://www.w3.org/2000/svg"><symbol id="cart"/><image href="gone.png"/></svg>`,
		"z/b.html":   `<title>b</title><a href=gone.html>x</a>`,
		"z/c/d.html": `<title>d</title><a href=gone.html>x</a>`,
	})
	r, err := files(t.Context(), []string{"a.html"}, "", Options{})
	want := []string{"a.html:1:66 missing-fragment icons.svg#none", "a.html:1:135 broken-link gone.html", "a.html:1:168 broken-link gone.png"}
	if got := found(t, r, err); !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	asked := 0
	r, err = files(t.Context(), []string{"z"}, "", Options{Stop: until{t.Context(), func() bool { asked++; return asked > 1 }}})
	if got, want := found(t, r, err), []string{"z/b.html:1:25 broken-link z/gone.html"}; !slices.Equal(got, want) || r.Part != interrupted || r.Totals.Pages != 1 {
		t.Errorf("stopped: %q, %q, %+v", r.Part, got, r.Totals)
	}
}
