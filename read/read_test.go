package read

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/results"
	"github.com/weftcrawl/weft/weburl"
)

// served is a site whose pages a test changes.
type served struct {
	mu    sync.Mutex
	pages map[string]string
}

func (s *served) set(path, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages[path] = text; text == "" {
		delete(s.pages, path)
	}
}

func (s *served) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.pages[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprint(w, text)
}

// manual is a site of chapters, with a menu and a footer on each page.
func manual() *served {
	s := &served{pages: make(map[string]string)}
	var menu strings.Builder
	for i := range 20 {
		fmt.Fprintf(&menu, "<li><a href=/chapter/%d.html>Chapter %d</a>", i, i)
	}
	for i := range 20 {
		s.pages[fmt.Sprintf("/chapter/%d.html", i)] = chapter(i, menu.String(), "")
	}
	s.pages["/"] = "<title>Manual</title><meta name=description content='All about it.'><h1>Manual</h1><ul>" + menu.String() + "</ul>"
	return s
}

func chapter(i int, menu, more string) string {
	return fmt.Sprintf(`<title>Chapter %[1]d</title><div class=top><p>A manual of things</p><p>Sign in</p></div><ul class=menu>%[2]s</ul>
		<div class=body><h1>Chapter %[1]d</h1><h2>Description</h2><p>Chapter %[1]d says that there are %[1]d things and more of them.</p>
		<pre>make install</pre><p>See below.</p><h2>Example</h2><p>The thing number %[1]d is like this.%[3]s</p>
		<table><tr><th>Name<th>Value<tr><td>thing<td>%[1]d</table></div>
		<div class=foot><h3>Help</h3><p>Made with care</p><p>Imprint</p></div>`, i, menu, more)
}

// crawled crawls a site into a job.
func crawled(t *testing.T, url, dir string, update bool) {
	t.Helper()
	o := weft.Options{Job: dir, Keep: weft.Keep{Archive: true}, HTTP: weft.HTTP{AllowPrivate: true}, Reach: weft.Reach{NoRobots: true}, Rerun: weft.Rerun{Update: update}}
	if !update {
		o.Seeds = []string{url}
	}
	for _, err := range weft.Crawl(t.Context(), o) {
		if err != nil && !strings.Contains(err.Error(), "404") {
			t.Log(err)
		}
	}
}

func start(t *testing.T, s *served) (url, job string) {
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	job = filepath.Join(t.TempDir(), "job")
	crawled(t, server.URL+"/", job, false)
	return server.URL, job
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		_, name, found := strings.Cut(name, "/") // without the host, which has a port
		if found {
			files[name] = string(text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestFolder(t *testing.T) {
	site := manual()
	url, job := start(t, site)
	to := filepath.Join(t.TempDir(), "out")
	var o Options
	run := func(want Counts) map[string]string {
		t.Helper()
		got, err := Folder(t.Context(), job, to, o)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%+v, expected %+v", got, want)
		}
		return tree(t, to)
	}
	files := run(Counts{Pages: 21, New: 21})
	text := files["chapter/7.html.md"]
	for _, want := range []string{"---\ntitle: \"Chapter 7\"\nurl: \"" + url + "/chapter/7.html\"\n", "## Description", "```\nmake install\n```", "See below.", "| thing | 7 |"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for _, other := range []string{"Sign in", "Chapter 6", "Imprint", "Help"} {
		if strings.Contains(text, other) {
			t.Errorf("%q is in\n%s", other, text)
		}
	}
	if _, ok := files["index.html.md"]; !ok || len(files) != 21 {
		t.Errorf("%d files", len(files))
	}
	run(Counts{Pages: 21, Unchanged: 21})

	// A site crawled again: one chapter changes, one goes, and one comes.
	site.set("/chapter/3.html", chapter(3, "<li><a href=/chapter/new.html>New</a>", " And more."))
	site.set("/chapter/4.html", "")
	site.set("/chapter/new.html", chapter(99, "", ""))
	crawled(t, url+"/", job, true)
	before := modified(t, to, url, "chapter/5.html.md")
	files = run(Counts{Pages: 21, New: 1, Changed: 1, Unchanged: 19, Gone: 1})
	if !strings.Contains(files["chapter/3.html.md"], "And more.") {
		t.Errorf("chapter 3 is\n%s", files["chapter/3.html.md"])
	}
	if _, is := files["chapter/4.html.md"]; is {
		t.Error("chapter 4 is gone, and its file is not")
	}
	if _, is := files["chapter/new.html.md"]; !is {
		t.Error("the new chapter has no file")
	}
	if modified(t, to, url, "chapter/5.html.md") != before {
		t.Error("the file of a chapter that has not changed was written")
	}

	o.Where = `url contains "/chapter/"` // the last page goes
	if files = run(Counts{Pages: 20, Unchanged: 20, Gone: 1}); files["index.html.md"] != "" {
		t.Error("the first page is gone, and its file is not")
	}

	o.Where = `url contains "/chaptre/"` // mistyped
	if c, err := Folder(t.Context(), job, to, o); err == nil {
		t.Errorf("%+v, expected an error", c)
	}
	if !maps.Equal(tree(t, to), files) {
		t.Error("the texts are gone")
	}
}

func modified(t *testing.T, to, url, name string) string {
	t.Helper()
	host, _ := orderOf(url + "/")
	info, err := os.Stat(filepath.Join(to, host, name))
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(info.ModTime(), info.Sys())
}

// TestFolderInterrupted: what is stopped at any page is completed by the next run, as if it had not
// been stopped, and no file is half written.
func TestFolderInterrupted(t *testing.T) {
	_, job := start(t, manual())
	whole := filepath.Join(t.TempDir(), "whole")
	if _, err := Folder(t.Context(), job, whole, Options{}); err != nil {
		t.Fatal(err)
	}
	want := tree(t, whole)
	for _, after := range []int{0, 1, 7} {
		to := filepath.Join(t.TempDir(), "out")
		ctx, stop := context.WithCancel(t.Context())
		left := after
		_, err := Folder(ctx, job, to, Options{wanted: func(string) bool {
			if left--; left < 0 {
				stop()
			}
			return true
		}})
		if err == nil {
			t.Error("no error, expected one of the context")
		}
		for name, text := range tree(t, to) {
			if want[name] != text {
				t.Errorf("%s is\n%s\nexpected\n%s", name, text, want[name])
			}
		}
		if _, err := os.Stat(filepath.Join(to, Index)); err == nil {
			t.Error("there is an index")
		}
		c, err := Folder(t.Context(), job, to, Options{})
		if err != nil || c != (Counts{Pages: 21, New: 21}) {
			t.Errorf("%+v, %v", c, err)
		}
		if got := tree(t, to); len(got) != len(want) {
			t.Errorf("%d files, expected %d", len(got), len(want))
		}
	}
}

func TestLines(t *testing.T) {
	site := manual()
	url, job := start(t, site)
	run := func(earlier string, o Options) (string, map[string]Page, Counts) {
		t.Helper()
		var b strings.Builder
		c, err := Lines(t.Context(), job, &b, strings.NewReader(earlier), o)
		if err != nil {
			t.Fatal(err)
		}
		pages := make(map[string]Page)
		for line := range strings.Lines(b.String()) {
			var p Page
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			pages[strings.TrimPrefix(p.URL, url)] = p
		}
		return b.String(), pages, c
	}
	first, pages, _ := run("", Options{Text: true})
	p := pages["/chapter/2.html"]
	if p.Change != New || p.Title != "Chapter 2" || !strings.Contains(p.Text, "thing\t2") || p.Markdown != "" || len(p.Hash) != 64 {
		t.Errorf("%+v", p)
	}
	site.set("/chapter/2.html", chapter(2, "", " New words."))
	site.set("/chapter/9.html", "")
	crawled(t, url+"/", job, true)
	_, pages, c := run(first, Options{Text: true})
	if c != (Counts{Pages: 20, Changed: 1, Unchanged: 19, Gone: 1}) {
		t.Errorf("%+v", c)
	}
	for path, change := range map[string]Change{"/chapter/2.html": Changed, "/chapter/9.html": Gone, "/chapter/1.html": Unchanged} {
		if got := pages[path].Change; got != change {
			t.Errorf("%s is %s, expected %s", path, got, change)
		}
	}
	if _, pages, _ = run("", Options{Where: `url endsWith "7.html"`}); len(pages) != 2 {
		t.Errorf("%d pages end in 7.html", len(pages))
	}
}

// TestChunkLines: chunks are lines, in the order of pages; each says whether its page had it when
// the same file was written, and those that are gone have a line behind the others of their page.
func TestChunkLines(t *testing.T) {
	site := manual()
	url, job := start(t, site)
	run := func(earlier string, o Options) (text string, lines []string, c Counts) {
		t.Helper()
		var b strings.Builder
		c, err := Lines(t.Context(), job, &b, strings.NewReader(earlier), o)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(b.String()) {
			var one Chunk
			if err := json.Unmarshal([]byte(line), &one); err != nil {
				t.Fatal(err)
			}
			if path := strings.TrimPrefix(one.URL, url); path == "/chapter/2.html" || path == "/chapter/9.html" {
				lines = append(lines, fmt.Sprintf("%s %d %s %s", path, one.Index, one.Change, strings.Join(strings.Fields(one.Text), " ")))
			}
		}
		return b.String(), lines, c
	}
	o := Options{Chunk: 60, Text: true}
	first, lines, c := run("", o)
	if c.Chunks != strings.Count(first, "\n") || c.New != c.Chunks || c.Pages != 21 || c.Chunks < 2*c.Pages {
		t.Errorf("%+v of %d lines", c, strings.Count(first, "\n"))
	}
	if want := "/chapter/2.html 1 new Description Chapter 2 says that there are 2 things and"; !strings.Contains(strings.Join(lines, "\n"), want) {
		t.Errorf("expected %q of\n%s", want, strings.Join(lines, "\n"))
	}
	site.set("/chapter/2.html", strings.Replace(chapter(2, "", ""), "thing number 2", "other number 2", 1))
	site.set("/chapter/9.html", "")
	crawled(t, url+"/", job, true)
	second, lines, c := run(first, o)
	if c.Pages != 20 || c.New != 1 || c.Gone != 1+strings.Count(first, "/chapter/9.html") || c.New+c.Unchanged != c.Chunks || c.Changed != 0 {
		t.Errorf("%+v", c)
	}
	if got := strings.Join(lines, "\n"); !strings.Contains(got, `
/chapter/2.html 4 new Example The other number 2 is like this.
/chapter/2.html 5 unchanged Name Value thing 2
/chapter/2.html 0 gone `+`
/chapter/9.html 0 gone `) {
		t.Errorf("a changed page, and one that is gone:\n%s", got)
	}
	if _, _, c = run(second, o); c.New != 0 || c.Gone != 0 || c.Unchanged != c.Chunks {
		t.Errorf("again: %+v", c)
	}
	pages, _, _ := run("", Options{Text: true})
	if _, _, c = run(pages, o); c.New != c.Chunks || c.Gone != 0 {
		t.Errorf("after lines of pages: %+v", c)
	}
	for _, damaged := range []string{first[:len(first)/2], "{}", "x", `{"url":"` + url + `/chapter/2.html","id":"1"}` + "\n" + `{"url":"` + url + `/chapter/2.html","id":"1"}`} {
		if _, _, c = run(damaged, o); c.New+c.Unchanged != c.Chunks || c.Pages != 20 {
			t.Errorf("after %.40q: %+v", damaged, c)
		}
	}
}

// TestNoDuplicates: a text is written once, whatever stands around it; one that differs in a word
// is another.
func TestNoDuplicates(t *testing.T) {
	site := manual()
	again := chapter(3, "<li><a href=/>Start</a>", "")
	site.set("/print/3.html", strings.Replace(again, "Imprint", "Printed on paper", 1))
	site.set("/print/4.html", chapter(4, "", " Once more."))
	site.set("/", site.pages["/"]+"<a href=/print/3.html>3</a> <a href=/print/4.html>4</a>")
	url, job := start(t, site)
	for o, want := range map[bool]string{false: "/chapter/3.html /chapter/4.html /print/3.html /print/4.html", true: "/chapter/3.html /chapter/4.html /print/4.html"} {
		var b strings.Builder
		c, err := Lines(t.Context(), job, &b, nil, Options{NoDuplicates: o})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(b.String()) {
			var p Page
			if err := json.Unmarshal([]byte(line), &p); err != nil {
				t.Fatal(err)
			}
			if path := strings.TrimPrefix(p.URL, url); strings.HasSuffix(path, "/3.html") || strings.HasSuffix(path, "/4.html") {
				got = append(got, path)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("with NoDuplicates %t there are %s of %d, expected %s", o, got, c.Pages, want)
		}
	}
}

func TestFind(t *testing.T) {
	url, job := start(t, manual())
	p, err := Find(t.Context(), job, url+"/chapter/7.html", Options{})
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, r := range p.Removed {
		rules = append(rules, fmt.Sprintf("%s %s %d/%d", r.Rule, r.Text, r.Pages, r.Of))
	}
	got := strings.Join(rules, "\n")
	for _, want := range []string{"site A manual of things Sign in 20/21", "site Help Made with care Imprint 20/21"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in\n%s", want, got)
		}
	}
	if _, err := Find(t.Context(), job, url+"/nothing", Options{}); !errors.Is(err, ErrNoPage) {
		t.Errorf("error %v, expected that there is no such page", err)
	}
	if p, err = Find(t.Context(), job, url+"/chapter/7.html", Options{Whole: true}); err != nil || !strings.Contains(p.Markdown, "Imprint") {
		t.Errorf("%v, the whole page lacks its footer:\n%s", err, p.Markdown)
	}
}

func TestLLMsTxt(t *testing.T) {
	url, job := start(t, manual())
	var b strings.Builder
	if err := LLMsTxt(t.Context(), job, &b, Options{}); err != nil {
		t.Fatal(err)
	}
	want := "\n\n## chapter\n\n- [Chapter 0](" + url + "/chapter/0.html): Chapter 0 says that there are 0 things and more of them.\n"
	if !strings.HasPrefix(b.String(), "# Manual\n") || !strings.Contains(b.String(), want) || strings.Count(b.String(), "\n- ") != 20 {
		t.Errorf("got\n%s\nexpected\n%s…", b.String(), want)
	}
}

// TestNoBodies: a job without bodies is an error that says so.
func TestNoBodies(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "pages.jsonl"), []byte(`{"url":"http://a.test/","status":200,"content_type":"text/html"}`+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Folder(t.Context(), dir, t.TempDir(), Options{}); !errors.Is(err, results.ErrNoBody) {
		t.Errorf("error %v", err)
	}
}

// TestHostileFolder: whatever URLs there are and whatever is in the folder, nothing is written
// outside.
func TestHostileFolder(t *testing.T) {
	outside := t.TempDir()
	to := t.TempDir()
	root, err := os.OpenRoot(to)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	host, _ := orderOf("http://a.test/")
	for _, err := range []error{
		os.Mkdir(filepath.Join(to, host), 0o777),
		os.Symlink(outside, filepath.Join(to, host, "link")),
		os.Mkdir(filepath.Join(to, host, "other"), 0o777),
		os.Symlink("other", filepath.Join(to, host, "inside")),
		os.Symlink(filepath.Join(outside, "file"), filepath.Join(to, host, "x.md")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	f := &folder{root: root, ext: ".md"}
	defer f.leave()
	names := make(map[string]string)
	for _, url := range []string{
		"http://a.test/../../etc/passwd", "http://a.test/%2e%2e/%2e%2e/x", "http://a.test/a%00b", "http://a.test/CON", "http://a.test/x.md/y",
		"http://a.test/" + strings.Repeat("long", 1000), "http://a.test/" + strings.Repeat("d/", 400), "http://a.test/.weft.part",
		"http://a.test/A", "http://a.test/a", "http://a.test/b?q=../../c", "http://a.test/x", "http://a.test/x/", "http://a.test/link/in", "http://a.test/inside/in",
	} {
		_, name := orderOf(url)
		e := &entry{name: name}
		e.record.URL = url
		file, err := f.nameOf(e)
		if err != nil {
			t.Fatal(err)
		}
		if !filepath.IsLocal(file) {
			t.Errorf("%s: %q is not local", url, file)
		}
		if other := names[strings.ToLower(file)]; other != "" {
			t.Errorf("%s and %s are both %s", url, other, file)
		}
		names[strings.ToLower(file)] = url
		err = f.write(file, []byte("text"))
		if isLink := strings.HasSuffix(url, "/in"); isLink != (err != nil) {
			t.Errorf("%s: %v", url, err)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside are %v, %v", left, err)
	}
	if info, err := os.Lstat(filepath.Join(to, host, "x.md")); err != nil || !info.Mode().IsRegular() {
		t.Errorf("x.md is %v, %v, expected a file", info, err)
	}
}

// TestHostileFront: whatever a title holds, it is one line of YAML that reads as the title.
func TestHostileFront(t *testing.T) {
	for _, title := range []string{
		"plain", `"quoted" \ back`, "a: b # c", "- x", "two\n---\nlines", "esc \x1b[31m red", "\u2028 \u0085 \u202e", "<b>&amp;", "!!python/object", "\xff", "😀 ok", `\u003c`, "null", "~",
	} {
		text := "<title>" + strings.NewReplacer("&", "&amp;", "<", "&lt;").Replace(title) + "</title><p>x"
		p := One(Source{URL: mustURL(t, "http://a.test/"), ContentType: "text/html; charset=utf-8", Body: []byte(text)}, Options{})
		lines := strings.Split(p.front(), "\n")
		value, ok := strings.CutPrefix(lines[1], "title: ")
		var read string
		if err := json.Unmarshal([]byte(value), &read); !ok || err != nil || read != p.Title {
			t.Errorf("%q: %q is read as %q, %v, expected %q", title, lines[1], read, err, p.Title)
		}
		if strings.ContainsAny(p.front(), "\x1b\x07\u2028\u0085\u202e") || strings.Count(p.front(), "---\n") != 2 {
			t.Errorf("%q: %q", title, p.front())
		}
	}
}

func mustURL(t testing.TB, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestLarge: of a page that is long or deep, some text comes.
func TestLarge(t *testing.T) {
	for name, body := range map[string]string{
		"long":   "<p>Begin</p>" + strings.Repeat("<p>word</p>", 420_000),
		"nested": "<p>Begin</p>" + strings.Repeat("<div>", 50_000) + "deep",
		"spans":  "<p>Begin " + strings.Repeat("<b><i>", 20_000) + "deep",
		"cells":  "<p>Begin</p><table>" + strings.Repeat("<tr><td colspan=1000>x", 10_000),
	} {
		p := One(Source{URL: mustURL(t, "http://a.test/"), ContentType: "text/html", Body: []byte(body)}, Options{Whole: true})
		if !strings.Contains(p.Markdown, "Begin") || len(p.Markdown) > 40<<20 {
			t.Errorf("%s: %d bytes, %.100q", name, len(p.Markdown), p.Markdown)
		}
	}
}

func TestEncodings(t *testing.T) {
	for _, test := range []struct{ name, contentType, body, want string }{
		{"windows-1251", "text/html; charset=windows-1251", "<p>\xcf\xf0\xe8\xe2\xe5\xf2", "Привет\n"},
		{"shift_jis", "text/html", "<meta charset=shift_jis><p>\x93\xfa\x96\x7b", "日本\n"},
		{"big5", "text/html; charset=big5", "<p>\xa4\xa4\xa4\xe5", "中文\n"},
		{"utf-16", "text/html", "\xfe\xff\x00<\x00p\x00>\x05\xe9", "ש\n"},
		{"broken", "text/html; charset=utf-8", "<p>a\xffb", "a\uFFFDb\n"},
	} {
		p := One(Source{URL: mustURL(t, "http://a.test/"), ContentType: test.contentType, Body: []byte(test.body)}, Options{Text: true})
		if p.Text != test.want {
			t.Errorf("%s: %q, expected %q", test.name, p.Text, test.want)
		}
	}
}

// TestOverview: an index by letters is left out, and of pages with one title the path tells which.
func TestOverview(t *testing.T) {
	const host = "https://a.test/"
	f := &folderOf{name: "Pages"}
	for _, l := range []listed{
		{url: host + "genindex.html", title: "Index"}, {url: host + "genindex-A.html", title: "Index"}, {url: host + "genindex-B.html", title: "Index"},
		{url: host + "genindex-all.html", title: "Index"}, {url: host + "genindex-_.html", title: "Index"}, {url: host + "genindex-Symbols.html", title: "Index"},
		{url: host + "plan-b.html", title: "Plan B"}, {url: host + "api/type.html", title: "Types"}, {url: host + "api/typeobj.html", title: "Types"},
	} {
		f.insert(l)
	}
	f.trim()
	got := (&overview{all: []*folderOf{f}}).String("Site", "")
	want := "# Site\n\n## Pages\n\n- [Types (api/type)](" + host + "api/type.html)\n- [Types (api/typeobj)](" + host + "api/typeobj.html)\n" +
		"- [Index](" + host + "genindex.html)\n- [Plan B](" + host + "plan-b.html)\n"
	if got != want {
		t.Errorf("got\n%s\nexpected\n%s", got, want)
	}
	for text, want := range map[string]int{"It takes types (e.g. all). And so": 26, "Short, i.e. whole.": 0, "Ends. ": 5} {
		if got := sentence(text); got != want {
			t.Errorf("%q: the first sentence has %d bytes, expected %d", text, got, want)
		}
	}
	for text, is := range map[string]bool{
		"The stack class provides a stack, pushing and popping.":           true,
		"It reads a file. Then it is closed, and the next one":             true,
		"// In header: <boost/lockfree/stack.hpp> and more of it.":         false,
		"template<typename T, typename ... Options> class queue":           false,
		"namespace std { void swap(int a, int b); } // Required for sort.": false,
		"Creating Address and Network and Interface objects":               false,
	} {
		if isSentence(text) != is {
			t.Errorf("%q: sentence is %v, expected %v", text, !is, is)
		}
	}
}

// TestHeadingStays: a heading with which the text begins is not among what was left out.
func TestHeadingStays(t *testing.T) {
	url, err := weburl.Parse("https://example.org/")
	if err != nil {
		t.Fatal(err)
	}
	body := `<title>Pods | Ships</title><header><nav class=navbar><ul><li><a href=/docs>Documentation</a><li><a href=/blog>Blog</a></ul></nav></header>
<aside class=sidebar><nav><ul><li><a href=/a>Home</a><li><a href=/b>Setup</a><li><a href=/c>Concepts</a></ul></nav></aside><main class="col-12 td-main" role=main><div class=td-content><h1>Pods</h1>
<p>Pods are the smallest units of computing that you can create and manage in a harbour, with storage and network that they share.</p>
<p>What is in a pod is always at one place, at one time, and runs in one context, so that a pod is a model of one machine.</p>
<h2>Using pods</h2><p>Pods are mostly not created by hand, but by what manages them; see the page on managers for more about how they are used.</p></div></main><footer>Imprint</footer>`
	p := One(Source{URL: url, ContentType: "text/html", Body: []byte(body)}, Options{})
	text := fmt.Sprint(p.Removed)
	if !strings.HasPrefix(p.Markdown, "# Pods\n") || strings.Contains(text, "h1 Pods ") || !strings.Contains(text, "Imprint") {
		t.Errorf("left out %s of\n%s", text, p.Markdown)
	}
}
