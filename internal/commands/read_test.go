package commands_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
	"github.com/weftcrawl/weft/read"
)

// articles is a site of a few pages with a menu and a footer on each, in two languages.
func articles(w http.ResponseWriter, r *http.Request) {
	n := 0
	if _, err := fmt.Sscanf(r.URL.Path, "/a/%d.html", &n); err != nil && r.URL.Path != "/" || n > 14 {
		http.NotFound(w, r)
		return
	}
	language := []string{"en", "de-AT"}[n%2]
	fmt.Fprintf(w, "<!doctype html><html lang=%s><title>Article %d</title><div class=menu><p>Our site</p><p>Log in</p></div><h1>Article %[2]d</h1>", language, n)
	text := "This is paragraph %d of the article that has the number %d, and it says a little more than that."
	if language != "en" {
		text = "Das ist der Absatz %d des Artikels, der die Nummer %d hat, und er sagt noch ein wenig mehr als das."
	}
	for i := range 15 {
		fmt.Fprintf(w, "<p>"+text+" <a href=/a/%d.html>See also</a>", i, n, i)
	}
	fmt.Fprint(w, "<div class=foot><p>Printed on paper</p></div>")
}

// TestRead reads a job in all the ways that the command has.
func TestRead(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, articles)
	dir := wefttest.Crawl(t, wefttest.Done, "--warc", "--job", "job", s.URL).Dir
	run := func(code int, args ...string) wefttest.Ended {
		t.Helper()
		e := wefttest.In(t, dir, append([]string{"read"}, args...)...)
		if e.Code != code {
			t.Errorf("read %q: exit %d, expected %d: %s%s", args, e.Code, code, e.Stdout, e.Stderr)
		}
		return e
	}
	if e := run(wefttest.Done, "job"); e.Stdout != "16 texts in job/markdown\n" {
		t.Errorf("%s", e.Stdout)
	}
	if e := run(wefttest.Done, "job", "-o", "elsewhere"); e.Stdout != "16 texts in elsewhere\n" {
		t.Errorf("%s", e.Stdout)
	}
	if e := run(wefttest.Done, "job", "--language", "de", "-o", "de.jsonl"); e.Stdout != "7 texts in de.jsonl\n" {
		t.Errorf("%s", e.Stdout)
	}
	if e := run(wefttest.Done, "job", "-o", "all.jsonl", "--chunks", "200", "--where", "depth > 0"); !strings.HasSuffix(e.Stdout, " chunks of 15 texts in all.jsonl\n") {
		t.Errorf("%s", e.Stdout)
	}
	for _, args := range [][]string{{"-o", "all.jsonl", "--chunks", "200"}, {"-o", "all.jsonl"}, {"-o", "none.md"}, {"-o", "elsewhere"}} {
		before, _ := os.ReadFile(filepath.Join(dir, "all.jsonl"))
		e := run(wefttest.Failed, append([]string{"job", "--where", `url contains "nothing"`}, args...)...)
		after, _ := os.ReadFile(filepath.Join(dir, "all.jsonl"))
		_, err := os.Lstat(filepath.Join(dir, "none.md"))
		if string(before) != string(after) || err == nil || !strings.Contains(e.Stderr, "no page to write, expected at least one page of the job to match") {
			t.Errorf("%q: a condition that no page meets: %s", args, e.Stderr)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "all.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var c read.Chunk
		if err := json.Unmarshal([]byte(line), &c); err != nil || len(c.Text) > 200 || len(c.Trail) != 1 || c.Change != read.New || strings.Contains(c.Text, "Printed") {
			t.Errorf("%v in %s", err, line)
		}
	}
	if n := strings.Count(string(text), "\n"); n < 45 {
		t.Errorf("%d chunks", n)
	}
	for _, change := range []string{" new, ", " unchanged\n"} {
		e := run(wefttest.Done, "job", "-o", "all.jsonl", "--chunks", "200", "--chunk-overlap", "60", "--where", "depth > 0")
		if !strings.Contains(e.Stdout, " chunks of 15 texts in all.jsonl: ") || !strings.Contains(e.Stdout, change) || !strings.Contains(e.File("all.jsonl"), `,"overlap":5`) {
			t.Errorf("%s%.1000s", e.Stdout, e.File("all.jsonl"))
		}
	}
	if e := run(wefttest.Done, "job", s.URL+"/a/3.html", "--chunks", "200", "-o", "-"); strings.Count(e.Stdout, `"index":`) < 3 || strings.Count(e.Stdout, "\n") != strings.Count(e.Stdout, `"index":`) {
		t.Errorf("%s", e.Stdout)
	}
	run(wefttest.Misused, "job", "-o", "-", "--chunks", "100", "--chunk-overlap", "51")
	run(wefttest.Misused, "job", "-o", "-", "--chunk-overlap", "1")
	if e := run(wefttest.Done, "job", "-o", "-", "--text"); strings.Count(e.Stdout, "\n") != 16 || !strings.HasSuffix(e.Stderr, "16 texts\n") {
		t.Errorf("%d lines, %s", strings.Count(e.Stdout, "\n"), e.Stderr)
	}
	if e := run(wefttest.Done, "job", s.URL+"/a/3.html"); !strings.HasPrefix(e.Stdout, "# Article 3\n") || strings.Contains(e.Stdout, "Log in") {
		t.Errorf("%s", e.Stdout)
	}
	if e := run(wefttest.Done, "job", "--explain", s.URL+"/a/3.html"); !strings.Contains(e.Stdout, "on 15 of 15 pages of the site\n  body/div.menu\n  Our site Log in\n") {
		t.Errorf("%s", e.Stdout)
	}
	if e := run(wefttest.Done, "job", "--llms-txt"); !strings.HasPrefix(e.Stdout, "# Article 0\n") || !strings.Contains(e.Stdout, "\n## a\n\n- [Article 1]("+s.URL+"/a/1.html): Das ist der Absatz 0") {
		t.Errorf("%s", e.Stdout)
	}
	run(wefttest.Failed, "job", s.URL+"/missing")
	run(wefttest.Misused, "job", "--where", "nothing > 1")
	run(wefttest.Misused, "job", "--markdown", "--text")
	run(wefttest.Misused, "--no-duplicates", s.URL)
	for _, output := range []string{"all.jsonl/x", "job/pages.jsonl"} {
		wefttest.Expect(t, output, run(wefttest.Misused, "job", "-o", output, "--format", "files").Stderr,
			`weft: --output "`+output+`": not a directory, expected a folder, FILE.md, FILE.txt or FILE.jsonl`+"\n")
	}
	for output, want := range map[string]string{"all.md": "16 texts in all.md\n", "all.txt": "16 texts in all.txt\n"} {
		e := run(wefttest.Done, "job", "-o", output)
		text := e.File(output)
		if e.Stdout != want || strings.Count(text, "\nurl: ") != 16 || strings.Count(text, "\n# Article ") != map[string]int{"all.md": 16}[output] {
			t.Errorf("%s: %s%s, %s", output, e.Stdout, e.Stderr, text)
		}
	}
	for _, args := range []string{"-o all.csv", "-o new.md --text", "-o new.txt --markdown"} {
		if e := run(wefttest.Misused, append([]string{"job"}, strings.Fields(args)...)...); !strings.Contains(e.Stderr, "expected a folder, FILE.md for Markdown, FILE.txt for text, or FILE.jsonl") {
			t.Errorf("%s: %s", args, e.Stderr)
		}
	}
	for output, want := range map[string]string{"/proc/none/x": "no such file or directory", "/dev/full": "no space left on device"} {
		for _, args := range [][]string{{"job", "--llms-txt"}, {"job", "--format", "jsonl"}, {s.URL + "/a/3.html"}, {"job", s.URL + "/a/3.html"}} {
			if e := wefttest.In(t, dir, append(append([]string{"read"}, args...), "-o", output)...); e.Code == wefttest.Done || !strings.Contains(e.Stderr, `weft: --output "`+output+`": `+want) {
				t.Errorf("%q to %s: exit %d, %s", args, output, e.Code, e.Stderr)
			}
		}
	}
	if e := run(wefttest.Failed, "job", "-o", "/proc/none/x"); e.Stderr != `weft: --output "/proc/none/x": no such file or directory`+"\n" {
		t.Errorf("%s", e.Stderr)
	}
	for _, file := range []string{"all.jsonl", "none.jsonl"} {
		// One leads to a file, as /dev/stdout does, and one to none.
		link := filepath.Join(dir, "link-to-"+file)
		if err := os.Symlink(file, link); err != nil {
			t.Fatal(err)
		}
		run(wefttest.Done, "job", "-o", link)
		if to, err := os.Readlink(link); to != file {
			t.Errorf("a link was replaced: %v", err)
		}
		if info, err := os.Stat(link); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", link, err)
		}
	}
	if e := run(wefttest.Misused, s.URL, "--explain", "job"); !strings.Contains(e.Stderr, `--explain "job": expected one page, or a JOB`) {
		t.Error(e.Stderr)
	}
	run(wefttest.Misused, "job", "--language", "english")
	run(wefttest.Misused, "job", "--chunks", "200")
	run(wefttest.Misused, s.URL, "--chunks", "200")
	run(wefttest.Misused)
}

// TestReadPage reads one page, from the Web and from a file.
func TestReadPage(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, articles)
	if e := wefttest.Run(t, "read", s.URL+"/a/5.html"); e.Code != wefttest.Done || !strings.HasPrefix(e.Stdout, "# Article 5\n") || !strings.Contains(e.Stdout, "[See also]("+s.URL+"/a/7.html)") {
		t.Errorf("exit %d, %s%s", e.Code, e.Stdout, e.Stderr)
	}
	if e := wefttest.Run(t, "read", s.URL+"/missing"); e.Code != wefttest.Failed {
		t.Errorf("exit %d, %s", e.Code, e.Stderr)
	}
	picture := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(picture, []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), 0o666); err != nil {
		t.Fatal(err)
	}
	if e := wefttest.Run(t, "read", picture); e.Code != wefttest.Failed || e.Stdout != "" || !strings.Contains(e.Stderr, `a.png: content type "image/png", expected HTML`) {
		t.Errorf("a picture: exit %d, %q, %s", e.Code, e.Stdout, e.Stderr)
	}
	nothing := filepath.Join(t.TempDir(), "nothing.html")
	if err := os.WriteFile(nothing, []byte("<!doctype html><div id=app></div><script>render()</script>"), 0o666); err != nil {
		t.Fatal(err)
	}
	if e := wefttest.Run(t, "read", nothing); e.Code != wefttest.Failed || !strings.HasSuffix(e.Stderr, "nothing.html\": no text: it looks empty without scripts, which only --render runs\n") {
		t.Errorf("a page without text: exit %d, %s", e.Code, e.Stderr)
	}
	cmd, stderr := wefttest.Command(t, "read", "--whole", "--base", "https://example.org/x/", "--text=false", "-")
	cmd.Stdin = strings.NewReader("<title>T\x1b[31m</title><h1>A</h1><p><a href=b>link</a>")
	out, err := cmd.Output()
	if want := "# A\n\n[link](https://example.org/x/b)\n"; err != nil || string(out) != want {
		t.Errorf("%v, %q, expected %q: %s", err, out, want, stderr)
	}
}

// TestReadWithoutBodies: a job that has no bodies says what is missing, before a crawl that would
// be in vain.
func TestReadWithoutBodies(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, articles)
	dir := wefttest.Crawl(t, wefttest.Done, "--job", "job", s.URL).Dir
	if e := wefttest.In(t, dir, "read", "job"); e.Code != wefttest.Failed || !strings.Contains(e.Stderr, "no bodies, expected a job of weft crawl --markdown") {
		t.Errorf("exit %d, %s", e.Code, e.Stderr)
	}
	before := len(s.Got())
	if e := wefttest.In(t, dir, "crawl", "--update", "job", "--markdown"); e.Code != wefttest.Misused || len(s.Got()) != before {
		t.Errorf("exit %d, %s", e.Code, e.Stderr)
	}
}

// TestReadDeep: the text behind a million tags is read; of a page that is too long, its beginning,
// and the status says so.
func TestReadDeep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, page := range map[string]string{
		"deep.html": strings.Repeat("<b>", 1_000_000) + "<p>the text",
		"long.html": "<p>the text<!--" + strings.Repeat("-", 5<<20) + "--><p>more",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if e := wefttest.In(t, dir, "read", "--text", "deep.html"); e.Code != wefttest.Done || e.Stdout != "the text\n" {
		t.Errorf("deep: exit %d, %q %q", e.Code, e.Stdout, e.Stderr)
	}
	e := wefttest.In(t, dir, "read", "--text", "long.html")
	if e.Code != wefttest.Failed || e.Stdout != "the text\n" || !strings.HasPrefix(e.Stderr, `weft: "long.html": page longer than`) {
		t.Errorf("long: exit %d, %q %q", e.Code, e.Stdout, e.Stderr)
	}
}

// TestAppShell: a crawl of a site that only scripts fill says so, in its report and wherever
// somebody looks at the job; and reading it says which documents are not read.
func TestAppShell(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, "<title>Shop</title><div id=root></div><script src=app.js></script><link rel=alternate href=/static><link rel=next href=/a.pdf>")
		case "/static":
			fmt.Fprint(w, "<title>Static</title><script></script><h1>Prices</h1><p>"+strings.Repeat("All that one may want to know. ", 9))
		case "/a.pdf":
			w.Header().Set("Content-Type", "application/pdf")
			fmt.Fprint(w, "%PDF-1.4")
		default:
			http.NotFound(w, r)
		}
	})
	e := wefttest.Crawl(t, wefttest.Done, "--markdown", "--assets", "none", "--job", "job", s.URL)
	want := "1 page looks empty without scripts, which only --render runs: " + s.URL + "/\n"
	if n := strings.Count(e.Stderr, want); n != 1 || !strings.Contains(e.Stderr, "1 document not read: 1 PDF\n") {
		t.Errorf("%d times in the report, expected once: %s", n, e.Stderr)
	}
	for _, args := range [][]string{{"status", "job"}, {"read", "job"}, {"read", "job", "-o", "a.jsonl"}, {"mirror", "--from", "job", "-o", "mirror"}} {
		if e := wefttest.In(t, e.Dir, args...); !strings.Contains(e.Stdout+e.Stderr, want) {
			t.Errorf("%q: %s%s, expected %q", args, e.Stdout, e.Stderr, want)
		}
	}
	if e := wefttest.In(t, e.Dir, "status", "--json", "job"); !strings.Contains(e.Stdout, `"need_scripts":1,"need_scripts_example":"`+s.URL+`/"`) {
		t.Errorf("%s", e.Stdout)
	}
	if e := wefttest.Run(t, "read", s.URL); !strings.Contains(e.Stdout+e.Stderr, "looks empty without scripts") {
		t.Errorf("one page: %s%s", e.Stdout, e.Stderr)
	}
	if e := wefttest.Run(t, "read", s.URL+"/static"); strings.Contains(e.Stderr, "scripts") {
		t.Errorf("a page with text: %s", e.Stderr)
	}
}

// TestExtractTo: the items of a job replace what a file had before, even if they are fewer. A file
// that cannot be written is named.
func TestExtractTo(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, articles)
	dir := wefttest.Crawl(t, wefttest.Done, "--warc", "--job", "job", s.URL).Dir
	for _, rule := range []string{"all[]=p", "title=h1"} {
		if e := wefttest.In(t, dir, "extract", "job", "--extract", rule, "-o", "items.jsonl"); e.Code != wefttest.Done {
			t.Fatalf("exit %d, %s", e.Code, e.Stderr)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "items.jsonl"))
	if n := strings.Count(string(text), "\n"); err != nil || n != 16 || strings.Contains(string(text), "all") {
		t.Errorf("%v, %d lines:\n%s", err, n, text)
	}
	e := wefttest.In(t, dir, "extract", "job", "--extract", "title=h1", "-o", "/dev/full")
	wefttest.Expect(t, "a full disk", e.Stderr, `weft: --output "/dev/full": no space left on device`+"\n")
}
