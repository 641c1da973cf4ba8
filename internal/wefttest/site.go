package wefttest

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

	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/record"
)

// Site is a server that counts requests.
type Site struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int // by path
}

// NewSite starts a site, which ends with the test. Without a browser the test is skipped.
func NewSite(t *testing.T, serve http.HandlerFunc) *Site {
	t.Helper()
	if _, err := render.Find(""); err != nil {
		t.Skip(err)
	}
	s := &Site{asked: make(map[string]int)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[r.URL.Path]++
		s.mu.Unlock()
		serve(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// Shows is a site of pages by path: a line with a Content-Type, or the path of a redirect, and the
// body below.
func Shows(t *testing.T, pages map[string]string) *Site {
	t.Helper()
	return NewSite(t, func(w http.ResponseWriter, r *http.Request) {
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

// Times returns how often each path was requested, but for robots.txt.
func (s *Site) Times() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := maps.Clone(s.asked)
	delete(all, "/robots.txt")
	return all
}

// Records returns those of a job, by the paths of their URLs.
func (s *Site) Records(t *testing.T, job string) map[string]*record.Record {
	t.Helper()
	return RecordsOf(t, job, s.URL)
}

// RecordsOf returns the records of a job by their URLs, without what these begin with. A URL has
// one.
func RecordsOf(t *testing.T, job, base string) map[string]*record.Record {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(job, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]*record.Record)
	for line := range bytes.Lines(text) {
		r := new(record.Record)
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

// LinksTo returns links to so many pages of a path.
func LinksTo(n int, path string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<a href=%s%d>x</a>", path, i)
	}
	return b.String()
}
