package rendered_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestPagesDoNotWait: pages that ask for one URL, whose response is kept for none of them, ask for
// it at once.
func TestPagesDoNotWait(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked, all := 0, make(chan struct{})
	api := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		if r.URL.Path != "/config" {
			return
		}
		mu.Lock()
		if asked++; asked == 2 {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all:
			fmt.Fprint(w, "at once")
		case <-r.Context().Done(): // its page has gone on
		}
	})
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<title>x</title><script>fetch('%s/config').then(r => r.text()).then(text => document.title += text)</script>", api.URL)
	})
	e := wefttest.Crawl(t, wefttest.Done, "--render=always", "--allow-private", "--delay", "0s", "--per-host", "4", "--job", "job", s.URL+"/a", s.URL+"/b")
	for path, r := range s.Records(t, filepath.Join(e.Dir, "job")) {
		if r.Title != "xat once" {
			t.Errorf("%s: %q, %+v", path, r.Title, r.Rendered)
		}
	}
}

// TestAnswersToOrigins: what a server says to a page of one origin is not what others get, nor the
// record of the URL.
func TestAnswersToOrigins(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	plain := 0
	cdn := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		w.Header().Set("Vary", "Origin")
		if r.URL.Path != "/a.js" {
			return
		}
		if origin := r.Header.Get("Origin"); origin != "" {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			http.Error(w, "none for you", http.StatusNotFound)
			return
		}
		mu.Lock()
		plain++
		mu.Unlock()
		fmt.Fprint(w, "document.title += ' script'")
	})
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/":
			fmt.Fprintf(w, "<title>x</title><script crossorigin src=%s/a.js></script><a href=/b>b</a>", cdn.URL)
		case "/b":
			fmt.Fprintf(w, "<title>x</title><script src=%s/a.js></script>", cdn.URL)
		}
	})
	e := wefttest.Crawl(t, wefttest.Done, "--render=always", "--allow-private", "--delay", "0s", "--job", "job", s.URL)
	if r := s.Records(t, filepath.Join(e.Dir, "job"))["/b"]; r == nil || r.Title != "x script" || plain != 1 {
		t.Errorf("%+v, asked %d times by no origin: %s", r, plain, strings.TrimSpace(e.Stderr))
	}
}
