package commands_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestGate: with cookies, every command that crawls gets a page that is behind a gate; without
// them, the redirects are a circle.
func TestGate(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
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
	run := func(code int, args ...string) wefttest.Ended {
		t.Helper()
		e := wefttest.Run(t, args...)
		if e.Code != code {
			t.Errorf("%q: exit %d, expected %d: %s%s", args, e.Code, code, e.Stdout, e.Stderr)
		}
		return e
	}
	e := run(wefttest.Done, "crawl", "--accept-cookies", "--warc", "--job", "job", s.URL)
	if !strings.Contains(e.Stderr, "2 pages") || !strings.Contains(e.Stderr, "1 redirect,") {
		t.Errorf("the report: %s", e.Stderr)
	}
	if e := wefttest.In(t, e.Dir, "cat", "job", s.URL); !strings.Contains(e.Stdout, "page /<") {
		t.Errorf("the archive has %q", e.Stdout)
	}
	if e := wefttest.In(t, e.Dir, "urls", "job"); strings.Count(e.Stdout, "\n") != 3 {
		t.Errorf("URLs:\n%s", e.Stdout)
	}
	e = run(wefttest.Done, "mirror", "-q", "--accept-cookies", "-o", "copy", s.URL)
	files, _ := filepath.Glob(filepath.Join(e.Dir, "copy/*/index.html"))
	if len(files) != 1 {
		t.Fatalf("files %q", files)
	}
	if page, err := os.ReadFile(files[0]); err != nil || !strings.Contains(string(page), "page /<") {
		t.Errorf("%s, %v", page, err)
	}
	if e := run(wefttest.Done, "check", "-q", "--accept-cookies", s.URL); strings.Contains(e.Stdout, "circle") {
		t.Error(e.Stdout)
	}
	if e := run(wefttest.Broken, "check", "-q", s.URL); !strings.Contains(e.Stdout, "circle") {
		t.Error(e.Stdout)
	}
}
