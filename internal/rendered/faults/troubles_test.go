package faults_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestRenderTroubles: commands of one page name its failed requests and scripts in one line, and
// pass over requests that Weft refuses.
func TestRenderTroubles(t *testing.T) {
	t.Parallel()
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
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
		e := wefttest.Run(t, append(command, "--render=always", "--max-body", "1MiB", s.URL+"/large")...)
		want := "weft: " + s.URL + "/large: a request failed: " + s.URL + "/3mb.js ("
		if !strings.Contains(e.Stderr, want) || !strings.Contains(e.Stderr, "2 scripts failed, the first: Error: one") || strings.Contains(e.Stderr, "\x1b") || strings.Count(e.Stderr, "failed") != 2 {
			t.Errorf("%q: %s", command, e.Stderr)
		}
	}
	if e := wefttest.Run(t, "read", "--render=always", s.URL+"/fine"); e.Code != wefttest.Done || strings.Contains(e.Stderr, "failed") {
		t.Errorf("exit %d: %s", e.Code, e.Stderr)
	}
}
