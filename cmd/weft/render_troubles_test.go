package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestRenderTroubles: commands of one page name its failed requests and scripts in one line, and
// pass over requests that Weft refuses.
func TestRenderTroubles(t *testing.T) {
	t.Parallel()
	if _, err := weft.FindBrowser(""); err != nil {
		t.Skip(err)
	}
	s := newAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/large":
			fmt.Fprint(w, "<!doctype html><div id=root></div><script src=/3mb.js></script><script>throw Error('one\\x1b[31m')</script><script>broken()</script>")
		case "/3mb.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, "/*", strings.Repeat("x", 3<<20), "*/")
		case "/fine":
			fmt.Fprint(w, "<!doctype html><p>Text<img src=/a.png><script>fetch('/x', {method: 'PUT'})</script>")
		default:
			http.NotFound(w, r)
		}
	})
	for _, command := range [][]string{{"read"}, {"links"}, {"extract", "--extract", "x=p"}, {"fetch"}} {
		e := weftRun(t, append(command, "--render=always", "--max-body", "1MiB", s.URL+"/large")...)
		want := "weft: " + s.URL + "/large: a request failed: " + s.URL + "/3mb.js ("
		if !strings.Contains(e.stderr, want) || !strings.Contains(e.stderr, "2 scripts failed, the first: Error: one") || strings.Contains(e.stderr, "\x1b") || strings.Count(e.stderr, "failed") != 2 {
			t.Errorf("%q: %s", command, e.stderr)
		}
	}
	if e := weftRun(t, "read", "--render=always", s.URL+"/fine"); e.code != exitDone || strings.Contains(e.stderr, "failed") {
		t.Errorf("exit %d: %s", e.code, e.stderr)
	}
}
