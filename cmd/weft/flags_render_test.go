package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// scripted is a site whose page has an empty element and a script. The test is skipped if nothing
// runs it.
func scripted(t *testing.T, script string) *wefttest.Asked {
	t.Helper()
	if _, err := weft.FindBrowser(""); err != nil {
		t.Skip(err)
	}
	return wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, script)
		case r.URL.Path == "/" && r.Method == http.MethodGet:
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<!doctype html><title>List</title><div id=root></div><button id=button>more</button><div style='height: 3000px'></div><i>end</i><script src=/app.js></script>")
		default:
			http.NotFound(w, r)
		}
	})
}

// reveals expects a link that a page shows in the end to be followed with these options.
func reveals(t *testing.T, script string, options ...string) {
	t.Helper()
	s := scripted(t, "const show = () => { document.body.insertAdjacentHTML('beforeend', '<a href=/found>found</a>') }; "+script)
	crawlArgs(t, exitDone, append(options, "--render=always", "--job", "job", s.URL)...)
	if !strings.Contains(s.Paths(), "/found") {
		t.Errorf("%q: the link was not followed: %s", options, s.Paths())
	}
}

func effectRender(t *testing.T) {
	reveals(t, "show()", "--render")
	if e := weftRun(t, "crawl", "--render=often", "http://127.0.0.1:1/"); e.code != exitUsage || !strings.Contains(e.stderr, "expected one of auto, always, never") {
		t.Errorf("exit %d: %s", e.code, e.stderr)
	}
}

func effectScroll(t *testing.T) {
	reveals(t, "new IntersectionObserver(all => all[0].isIntersecting && show()).observe(document.querySelector('i'))", "--scroll", "9")
}

func effectBlock(t *testing.T) {
	s := scripted(t, "1")
	dir := t.TempDir()
	ads, apis := filepath.Join(dir, "ads"), filepath.Join(dir, "apis")
	for file, rules := range map[string]string{ads: "ads.test\n/[0-9]/\n", apis: "! the rest\n/app.js$script\n"} {
		if err := os.WriteFile(file, []byte(rules), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for requested, lists := range [][]string{{"--block", ads, "--block", apis}, {"--block", ads}} {
		e := crawlArgs(t, exitDone, append(lists, "--render", "--job", "job", s.URL)...)
		if n := strings.Count(e.stderr, fmt.Sprintf("--block %q: 1 of 2 rules skipped, the first in line 2: a regular expression", ads)); n != 1 {
			t.Errorf("skipped rules: %s", e.stderr)
		}
		expect(t, "refused", strings.Contains(e.file("job/pages.jsonl"), "/app.js blocked: /app.js$script"), requested == 0)
		expect(t, "requested", strings.Count(s.Paths(), "/app.js"), requested)
	}
	for file, want := range map[string]string{filepath.Join(dir, "none"): "no such file", ads: "--block: expected together with --render"} {
		if e := weftRun(t, "crawl", "--block", file, s.URL); e.code != exitUsage || !strings.Contains(e.stderr, want) {
			t.Errorf("exit %d: %s, expected %s", e.code, e.stderr, want)
		}
	}
}

// pictured expects a crawl to keep a picture of a page as a file that the record names, and in the
// archive; of a later visit, in place of the earlier one.
func pictured(t *testing.T, flag, folder, ext, mime, begins string) {
	t.Helper()
	s := scripted(t, "1")
	e := crawlArgs(t, exitDone, flag, "--warc", "--assets", "none", "--job", "job", s.URL)
	name := strings.Replace(strings.TrimPrefix(s.URL, "http://"), ":", "_", 1) + "/index" + ext
	if records := e.file("job/pages.jsonl"); !strings.Contains(records, fmt.Sprintf(`"%s/%s"`, folder, name)) || strings.Contains(records, `"missing"`) {
		t.Errorf("the record names no %s/%s: %s", folder, name, records)
	}
	path := filepath.Join("job", folder, name)
	if text := e.file(path); !strings.HasPrefix(text, begins) {
		t.Errorf("%.20q", text)
	}
	if err := os.WriteFile(filepath.Join(e.dir, path), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if e := weftIn(t, e.dir, "crawl", "--update", "job", flag); e.code != exitDone {
		t.Errorf("exit %d: %s", e.code, e.stderr)
	}
	if text := e.file(path); !strings.HasPrefix(text, begins) {
		t.Errorf("updated: %.20q", text)
	}
	archives, _ := filepath.Glob(filepath.Join(e.dir, "job", "archive", "*.warc.gz"))
	kept := weftIn(t, e.dir, append([]string{"warc", "ls"}, archives...)...).stdout
	if n := strings.Count(kept, "conversion   -  "+mime); n != 2 {
		t.Errorf("%d pictures in the archive: %s", n, kept)
	}
	if e := weftIn(t, e.dir, append([]string{"warc", "check"}, archives...)...); e.code != exitDone {
		t.Errorf("the archive: %s%s", e.stdout, e.stderr)
	}
}

// TestLimitsInWords: each limit of a page has words, which name no constant.
func TestLimitsInWords(t *testing.T) {
	for cut, want := range map[string]string{
		"": "", "time": "30 s", "requests": "500 requests", "bytes": "brought more than 128 MiB", "crash": "failed after a while: crash",
	} {
		if got := lackOf(cut); !strings.Contains(got, want) || (got == "") != (cut == "") {
			t.Errorf("%s: %q, expected %q", cut, got, want)
		}
	}
}
