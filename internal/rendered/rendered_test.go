// Package rendered_test crawls sites whose pages need a browser, and logs in to them, with the
// command.
package rendered_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/internal/wefttest"
	"github.com/weftcrawl/weft/replay"
)

func TestMain(m *testing.M) { wefttest.Main(m, 6) }

// crawls runs weft crawl with args, and expects an exit code.
func crawls(t *testing.T, code int, args ...string) wefttest.Ended {
	t.Helper()
	e := wefttest.Run(t, append([]string{"crawl"}, args...)...)
	if e.Code != code {
		t.Fatalf("%q: exit %d, expected %d: %s%s", args, e.Code, code, e.Stdout, e.Stderr)
	}
	return e
}

// site is a server that counts requests.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int // by path
}

// newSite starts a site, which ends with the test. Without a browser the test is skipped.
func newSite(t *testing.T, serve http.HandlerFunc) *site {
	t.Helper()
	if _, err := weft.FindBrowser(""); err != nil {
		t.Skip(err)
	}
	s := &site{asked: make(map[string]int)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[r.URL.Path]++
		s.mu.Unlock()
		serve(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// shows is a site of pages by path: a line with a Content-Type, or the path of a redirect, and the
// body below.
func shows(t *testing.T, pages map[string]string) *site {
	t.Helper()
	return newSite(t, func(w http.ResponseWriter, r *http.Request) {
		head, body, ok := strings.Cut(pages[r.URL.Path], "\n")
		switch {
		case !ok:
			http.NotFound(w, r)
		case strings.HasPrefix(head, "/"):
			http.Redirect(w, r, head, http.StatusFound)
		default:
			w.Header().Set("Content-Type", head)
			fmt.Fprint(w, body)
		}
	})
}

// times returns how often each path was requested, but for robots.txt.
func (s *site) times() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := maps.Clone(s.asked)
	delete(all, "/robots.txt")
	return all
}

// replayOf serves a replay of a job until the test ends, and returns the URL of its collection.
func replayOf(t *testing.T, job string) string {
	t.Helper()
	x, err := archive.Open(job)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	s := replay.New(x, "job", func(err error) { t.Error(err) })
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return server.URL + s.Root()
}

// records returns those of a job, by the paths of their URLs.
func (s *site) records(t *testing.T, job string) map[string]*weft.Record {
	t.Helper()
	return recordsOf(t, job, s.URL)
}

// recordsOf returns the records of a job by their URLs, without what these begin with. A URL has
// one.
func recordsOf(t *testing.T, job, base string) map[string]*weft.Record {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(job, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]*weft.Record)
	for line := range bytes.Lines(text) {
		r := new(weft.Record)
		if err := json.Unmarshal(line, r); err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(r.URL, base)
		if all[path] != nil {
			t.Errorf("two records of %s", path)
		}
		all[path] = r
	}
	return all
}
