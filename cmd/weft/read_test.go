package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	s := newAsked(t, false, articles)
	dir := crawls(t, exitDone, "--warc", "--job", "job", s.URL).dir
	run := func(code int, args ...string) ended {
		t.Helper()
		e := weftIn(t, dir, append([]string{"read"}, args...)...)
		if e.code != code {
			t.Errorf("read %q: exit %d, expected %d: %s%s", args, e.code, code, e.stdout, e.stderr)
		}
		return e
	}
	if e := run(exitDone, "job"); e.stdout != "16 texts in job/markdown\n" {
		t.Errorf("%s", e.stdout)
	}
	if e := run(exitDone, "job", "-o", "elsewhere"); e.stdout != "16 texts in elsewhere\n" {
		t.Errorf("%s", e.stdout)
	}
	if e := run(exitDone, "job", "--language", "de", "-o", "de.jsonl"); e.stdout != "7 texts in de.jsonl\n" {
		t.Errorf("%s", e.stdout)
	}
	if e := run(exitDone, "job", "-o", "all.jsonl", "--chunks", "200", "--where", "depth > 0"); !strings.HasSuffix(e.stdout, " chunks of 15 texts in all.jsonl\n") {
		t.Errorf("%s", e.stdout)
	}
	for _, args := range [][]string{{"-o", "all.jsonl", "--chunks", "200"}, {"-o", "all.jsonl"}, {"-o", "none.md"}, {"-o", "elsewhere"}} {
		before, _ := os.ReadFile(filepath.Join(dir, "all.jsonl"))
		e := run(exitError, append([]string{"job", "--where", `url contains "nothing"`}, args...)...)
		after, _ := os.ReadFile(filepath.Join(dir, "all.jsonl"))
		_, err := os.Lstat(filepath.Join(dir, "none.md"))
		if string(before) != string(after) || err == nil || !strings.Contains(e.stderr, "no page to write, expected at least one page of the job to match") {
			t.Errorf("%q: a condition that no page meets: %s", args, e.stderr)
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
		e := run(exitDone, "job", "-o", "all.jsonl", "--chunks", "200", "--chunk-overlap", "60", "--where", "depth > 0")
		if !strings.Contains(e.stdout, " chunks of 15 texts in all.jsonl: ") || !strings.Contains(e.stdout, change) || !strings.Contains(e.file("all.jsonl"), `,"overlap":5`) {
			t.Errorf("%s%.1000s", e.stdout, e.file("all.jsonl"))
		}
	}
	if e := run(exitDone, "job", s.URL+"/a/3.html", "--chunks", "200", "-o", "-"); strings.Count(e.stdout, `"index":`) < 3 || strings.Count(e.stdout, "\n") != strings.Count(e.stdout, `"index":`) {
		t.Errorf("%s", e.stdout)
	}
	run(exitUsage, "job", "-o", "-", "--chunks", "100", "--chunk-overlap", "51")
	run(exitUsage, "job", "-o", "-", "--chunk-overlap", "1")
	if e := run(exitDone, "job", "-o", "-", "--text"); strings.Count(e.stdout, "\n") != 16 || !strings.HasSuffix(e.stderr, "16 texts\n") {
		t.Errorf("%d lines, %s", strings.Count(e.stdout, "\n"), e.stderr)
	}
	if e := run(exitDone, "job", s.URL+"/a/3.html"); !strings.HasPrefix(e.stdout, "# Article 3\n") || strings.Contains(e.stdout, "Log in") {
		t.Errorf("%s", e.stdout)
	}
	if e := run(exitDone, "job", "--explain", s.URL+"/a/3.html"); !strings.Contains(e.stdout, "on 15 of 15 pages of the site\n  body/div.menu\n  Our site Log in\n") {
		t.Errorf("%s", e.stdout)
	}
	if e := run(exitDone, "job", "--llms-txt"); !strings.HasPrefix(e.stdout, "# Article 0\n") || !strings.Contains(e.stdout, "\n## a\n\n- [Article 1]("+s.URL+"/a/1.html): Das ist der Absatz 0") {
		t.Errorf("%s", e.stdout)
	}
	run(exitError, "job", s.URL+"/missing")
	run(exitUsage, "job", "--where", "nothing > 1")
	run(exitUsage, "job", "--markdown", "--text")
	run(exitUsage, "--no-duplicates", s.URL)
	for _, output := range []string{"all.jsonl/x", "job/pages.jsonl"} {
		expect(t, output, run(exitUsage, "job", "-o", output, "--format", "files").stderr,
			`weft: --output "`+output+`": not a directory, expected a folder, FILE.md, FILE.txt or FILE.jsonl`+"\n")
	}
	for output, want := range map[string]string{"all.md": "16 texts in all.md\n", "all.txt": "16 texts in all.txt\n"} {
		e := run(exitDone, "job", "-o", output)
		text := e.file(output)
		if e.stdout != want || strings.Count(text, "\nurl: ") != 16 || strings.Count(text, "\n# Article ") != map[string]int{"all.md": 16}[output] {
			t.Errorf("%s: %s%s, %s", output, e.stdout, e.stderr, text)
		}
	}
	for _, args := range []string{"-o all.csv", "-o new.md --text", "-o new.txt --markdown"} {
		if e := run(exitUsage, append([]string{"job"}, strings.Fields(args)...)...); !strings.Contains(e.stderr, "expected a folder, FILE.md for Markdown, FILE.txt for text, or FILE.jsonl") {
			t.Errorf("%s: %s", args, e.stderr)
		}
	}
	for output, want := range map[string]string{"/proc/none/x": "no such file or directory", "/dev/full": "no space left on device"} {
		for _, args := range [][]string{{"job", "--llms-txt"}, {"job", "--format", "jsonl"}, {s.URL + "/a/3.html"}, {"job", s.URL + "/a/3.html"}} {
			if e := weftIn(t, dir, append(append([]string{"read"}, args...), "-o", output)...); e.code == exitDone || !strings.Contains(e.stderr, `weft: --output "`+output+`": `+want) {
				t.Errorf("%q to %s: exit %d, %s", args, output, e.code, e.stderr)
			}
		}
	}
	if e := run(exitError, "job", "-o", "/proc/none/x"); e.stderr != `weft: --output "/proc/none/x": no such file or directory`+"\n" {
		t.Errorf("%s", e.stderr)
	}
	for _, file := range []string{"all.jsonl", "none.jsonl"} {
		// One leads to a file, as /dev/stdout does, and one to none.
		link := filepath.Join(dir, "link-to-"+file)
		if err := os.Symlink(file, link); err != nil {
			t.Fatal(err)
		}
		run(exitDone, "job", "-o", link)
		if to, err := os.Readlink(link); to != file {
			t.Errorf("a link was replaced: %v", err)
		}
		if info, err := os.Stat(link); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", link, err)
		}
	}
	if e := run(exitUsage, s.URL, "--explain", "job"); !strings.Contains(e.stderr, `--explain "job": expected one page, or a JOB`) {
		t.Error(e.stderr)
	}
	run(exitUsage, "job", "--language", "english")
	run(exitUsage, "job", "--chunks", "200")
	run(exitUsage, s.URL, "--chunks", "200")
	run(exitUsage)
}

// TestReadPage reads one page, from the Web and from a file.
func TestReadPage(t *testing.T) {
	t.Parallel()
	s := newAsked(t, false, articles)
	if e := weftRun(t, "read", s.URL+"/a/5.html"); e.code != exitDone || !strings.HasPrefix(e.stdout, "# Article 5\n") || !strings.Contains(e.stdout, "[See also]("+s.URL+"/a/7.html)") {
		t.Errorf("exit %d, %s%s", e.code, e.stdout, e.stderr)
	}
	if e := weftRun(t, "read", s.URL+"/missing"); e.code != exitError {
		t.Errorf("exit %d, %s", e.code, e.stderr)
	}
	picture := filepath.Join(t.TempDir(), "a.png")
	if err := os.WriteFile(picture, []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"), 0o666); err != nil {
		t.Fatal(err)
	}
	if e := weftRun(t, "read", picture); e.code != exitError || e.stdout != "" || !strings.Contains(e.stderr, `a.png: content type "image/png", expected HTML`) {
		t.Errorf("a picture: exit %d, %q, %s", e.code, e.stdout, e.stderr)
	}
	nothing := filepath.Join(t.TempDir(), "nothing.html")
	if err := os.WriteFile(nothing, []byte("<!doctype html><div id=app></div><script>render()</script>"), 0o666); err != nil {
		t.Fatal(err)
	}
	if e := weftRun(t, "read", nothing); e.code != exitError || !strings.HasSuffix(e.stderr, "nothing.html\": no text: it looks empty without scripts, which only --render runs\n") {
		t.Errorf("a page without text: exit %d, %s", e.code, e.stderr)
	}
	cmd, stderr := weftCommand(t, "read", "--whole", "--base", "https://example.org/x/", "--text=false", "-")
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
	s := newAsked(t, false, articles)
	dir := crawls(t, exitDone, "--job", "job", s.URL).dir
	if e := weftIn(t, dir, "read", "job"); e.code != exitError || !strings.Contains(e.stderr, "no bodies, expected a job of weft crawl --markdown") {
		t.Errorf("exit %d, %s", e.code, e.stderr)
	}
	before := len(s.got())
	if e := weftIn(t, dir, "crawl", "--update", "job", "--markdown"); e.code != exitUsage || len(s.got()) != before {
		t.Errorf("exit %d, %s", e.code, e.stderr)
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
	if e := weftIn(t, dir, "read", "--text", "deep.html"); e.code != exitDone || e.stdout != "the text\n" {
		t.Errorf("deep: exit %d, %q %q", e.code, e.stdout, e.stderr)
	}
	e := weftIn(t, dir, "read", "--text", "long.html")
	if e.code != exitError || e.stdout != "the text\n" || !strings.HasPrefix(e.stderr, `weft: "long.html": page longer than`) {
		t.Errorf("long: exit %d, %q %q", e.code, e.stdout, e.stderr)
	}
}

// TestAppShell: a crawl of a site that only scripts fill says so, in its report and wherever
// somebody looks at the job; and reading it says which documents are not read.
func TestAppShell(t *testing.T) {
	t.Parallel()
	s := newAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
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
	e := crawls(t, exitDone, "--markdown", "--assets", "none", "--job", "job", s.URL)
	want := "1 page looks empty without scripts, which only --render runs: " + s.URL + "/\n"
	if n := strings.Count(e.stderr, want); n != 1 || !strings.Contains(e.stderr, "1 document not read: 1 PDF\n") {
		t.Errorf("%d times in the report, expected once: %s", n, e.stderr)
	}
	for _, args := range [][]string{{"status", "job"}, {"read", "job"}, {"read", "job", "-o", "a.jsonl"}, {"mirror", "--from", "job", "-o", "mirror"}} {
		if e := weftIn(t, e.dir, args...); !strings.Contains(e.stdout+e.stderr, want) {
			t.Errorf("%q: %s%s, expected %q", args, e.stdout, e.stderr, want)
		}
	}
	if e := weftIn(t, e.dir, "status", "--json", "job"); !strings.Contains(e.stdout, `"need_scripts":1,"need_scripts_example":"`+s.URL+`/"`) {
		t.Errorf("%s", e.stdout)
	}
	if e := weftRun(t, "read", s.URL); !strings.Contains(e.stdout+e.stderr, "looks empty without scripts") {
		t.Errorf("one page: %s%s", e.stdout, e.stderr)
	}
	if e := weftRun(t, "read", s.URL+"/static"); strings.Contains(e.stderr, "scripts") {
		t.Errorf("a page with text: %s", e.stderr)
	}
}
