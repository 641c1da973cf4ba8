package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGate: with cookies, every command that crawls gets a page that is behind a gate; without
// them, the redirects are a circle.
func TestGate(t *testing.T) {
	t.Parallel()
	s := newAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/gate" {
			http.SetCookie(w, &http.Cookie{Name: "seen", Value: "1", Path: "/"})
			http.Redirect(w, r, r.FormValue("return"), http.StatusFound)
			return
		}
		if _, err := r.Cookie("seen"); err != nil {
			http.Redirect(w, r, "/gate?return="+r.URL.Path, http.StatusFound)
			return
		}
		fmt.Fprintf(w, "<title>page %s</title>", r.URL.Path)
		if r.URL.Path == "/" {
			fmt.Fprint(w, "<a href=/p>p</a>")
		}
	})
	run := func(code int, args ...string) ended {
		t.Helper()
		e := weftRun(t, args...)
		if e.code != code {
			t.Errorf("%q: exit %d, expected %d: %s%s", args, e.code, code, e.stdout, e.stderr)
		}
		return e
	}
	e := run(exitDone, "crawl", "--accept-cookies", "--warc", "--job", "job", s.URL)
	if !strings.Contains(e.stderr, "2 pages") || !strings.Contains(e.stderr, "1 redirect,") {
		t.Errorf("the report: %s", e.stderr)
	}
	if e := weftIn(t, e.dir, "cat", "job", s.URL); !strings.Contains(e.stdout, "page /<") {
		t.Errorf("the archive has %q", e.stdout)
	}
	if e := weftIn(t, e.dir, "urls", "job"); strings.Count(e.stdout, "\n") != 3 {
		t.Errorf("URLs:\n%s", e.stdout)
	}
	e = run(exitDone, "mirror", "-q", "--accept-cookies", "-o", "copy", s.URL)
	files, _ := filepath.Glob(filepath.Join(e.dir, "copy/*/index.html"))
	if len(files) != 1 {
		t.Fatalf("files %q", files)
	}
	if page, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(page), "page /<") {
		t.Errorf("%s, %v", page, err)
	}
	if e := run(exitDone, "check", "-q", "--accept-cookies", s.URL); strings.Contains(e.stdout, "circle") {
		t.Error(e.stdout)
	}
	if e := run(exitBroken, "check", "-q", s.URL); !strings.Contains(e.stdout, "circle") {
		t.Error(e.stdout)
	}
}
