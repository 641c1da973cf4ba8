package rendered_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestCrawlHeld: pages whose scripts do not come hold up no other host.
func TestCrawlHeld(t *testing.T) {
	t.Parallel()
	const pages = 60
	text := "<p>" + strings.Repeat("A page with its text. ", 60)
	var asked atomic.Int32
	full, others := make(chan struct{}), make(chan struct{})
	slow := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			return
		}
		select {
		case <-others:
		case <-r.Context().Done():
		}
		w.Header().Set("Content-Type", "text/javascript")
	})
	spa := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			fmt.Fprint(w, text, wefttest.LinksTo(40, "/p"))
		} else {
			fmt.Fprint(w, "<div id=root></div><script src=", slow.URL, "/a.js></script>")
			if asked.Add(1) == 12 {
				close(full)
			}
		}
	})
	static := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/robots.txt" {
			select {
			case <-full:
			case <-r.Context().Done():
			}
		}
		n, _ := strconv.Atoi(r.URL.Path[1:])
		fmt.Fprint(w, text, "<a href=/", min(n+1, pages), ">next</a>")
		if n == pages {
			close(others)
		}
	})
	e := wefttest.Crawl(t, wefttest.Done, "--render", "--allow-private", "--delay", "0s", "--timeout", "20s", "--job", "job", spa.URL, strings.Replace(static.URL, "127.0.0.1", "localhost", 1))
	select {
	case <-others:
	default:
		t.Errorf("%d pages did not come while scripts of another host did not: %s", pages, e.Stderr)
	}
}

// TestCrawlHeldRequests: pages with many requests that do not come hold up no other host, and one
// of them has a part of what they all may have.
func TestCrawlHeldRequests(t *testing.T) {
	t.Parallel()
	const pages = 60
	text := "<p>" + strings.Repeat("A page with its text. ", 60)
	var under, most, lost atomic.Int32
	full, others := make(chan struct{}), make(chan struct{})
	begin := sync.OnceFunc(func() { close(full) })
	slow := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			return
		}
		n := under.Add(1)
		defer under.Add(-1)
		if most.Store(max(n, most.Load())); n == 6 {
			begin()
		}
		select {
		case <-others:
		case <-r.Context().Done():
			lost.Add(1)
		}
		w.Header().Set("Content-Type", "text/javascript")
	})
	spa := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<div id=root></div>")
		for i := range 40 {
			fmt.Fprint(w, "<script async src=", slow.URL, "/", i, ".js></script>")
		}
	})
	static := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/robots.txt" {
			select {
			case <-full:
			case <-r.Context().Done():
			}
		}
		n, _ := strconv.Atoi(r.URL.Path[1:])
		fmt.Fprint(w, text, "<a href=/", min(n+1, pages), ">next</a>")
		if n == pages {
			close(others)
		}
	})
	e := wefttest.Crawl(t, wefttest.Done, "--render", "--allow-private", "--delay", "0s", "--timeout", "60s", "--concurrency", "16", "--job", "job", spa.URL, strings.Replace(static.URL, "127.0.0.1", "localhost", 1))
	if lost.Load() > 0 {
		t.Errorf("%d pages did not come while many scripts of another host did not: %s", pages, e.Stderr)
	}
	if n := most.Load(); n != 6 {
		t.Errorf("%d requests of one page at once, expected 6", n)
	}
}

// TestCrawlRetriesErrands: what a page needs is asked for again where a URL would be.
func TestCrawlRetriesErrands(t *testing.T) {
	t.Parallel()
	var tries [3]atomic.Int32
	var s *wefttest.Site
	s = wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>x</title><div id=root></div><script src=/busy.js></script><script src=/cut.js></script><script src="+strings.Replace(s.URL, "127.0.0.1", "localhost", 1)+"/gone.js></script>")
		case "/busy.js":
			if tries[0].Add(1) < 3 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
		case "/cut.js":
			if tries[1].Add(1) < 2 {
				w.Header().Set("Content-Length", "1000")
			}
		case "/gone.js":
			tries[2].Add(1)
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			http.NotFound(w, r)
			return
		}
		fmt.Fprint(w, "document.title += '", r.URL.Path, "'")
	})
	e := wefttest.Crawl(t, wefttest.Done, "--render", "--allow-private", "--delay", "0s", "--job", "job", s.URL)
	if r := s.Records(t, filepath.Join(e.Dir, "job"))["/"]; r.Title != "x/busy.js/cut.js" || tries[2].Load() != 1 {
		t.Errorf("title %q, after %d and %d tries, %d of what asks to be left alone: %+v", r.Title, tries[0].Load(), tries[1].Load(), tries[2].Load(), r.Rendered)
	}
}

// TestCrawlHeldMemory: pages that wait for their scripts leave room for them, however large they
// are.
func TestCrawlHeldMemory(t *testing.T) {
	t.Parallel()
	const pages = 10
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		filler := strings.Repeat("x", 2<<20)
		switch path := r.URL.Path; {
		case path == "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, wefttest.LinksTo(pages, "/p/"))
		case strings.HasPrefix(path, "/p/"):
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<div id=root></div><!--%s--><script src=/js%s></script>", filler, path)
		case strings.HasPrefix(path, "/js/"):
			w.Header().Set("Content-Type", "text/javascript")
			w.Header().Set("Cache-Control", "no-store")
			fmt.Fprintf(w, "/*%s*/document.title = 'came'", filler)
		default:
			http.NotFound(w, r)
		}
	})
	e := wefttest.Crawl(t, wefttest.Done, "--render", "--delay", "0s", "--memory", "64MB", "--timeout", "2s", "--job", "job", s.URL)
	all := s.Records(t, filepath.Join(e.Dir, "job"))
	for i := range pages {
		if r := all[fmt.Sprint("/p/", i)]; r == nil || r.Title != "came" {
			t.Errorf("/p/%d: %+v, of %s", i, r, e.Stderr)
		}
	}
}

// TestCrawlTargetsNoFollow: where scripts of a page lead is not followed if the page's links are
// not.
func TestCrawlTargetsNoFollow(t *testing.T) {
	t.Parallel()
	moves := "text/html\n%s<p id=p>x<script>setTimeout(() => location = '%s', 10)</script>"
	s := wefttest.Shows(t, map[string]string{
		"/":    "text/html\n<a href=/yes>x</a><a href=/no>x</a>",
		"/yes": fmt.Sprintf(moves, "", "/there"),
		"/no":  fmt.Sprintf(moves, "<meta name=robots content=nofollow>", "/nowhere"),
	})
	e := wefttest.Crawl(t, wefttest.Done, "--render=always", "--job", "job", s.URL)
	all := s.Records(t, filepath.Join(e.Dir, "job"))
	if all["/there"] == nil || all["/nowhere"] != nil {
		t.Errorf("%d records, of /there %v, of /nowhere %v", len(all), all["/there"], all["/nowhere"])
	}
}

// TestCrawlPreflight: a server hears whether a page of another site may send it a field, and HEAD.
func TestCrawlPreflight(t *testing.T) {
	t.Parallel()
	api := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		h.Set("Access-Control-Allow-Headers", r.Header.Get("Access-Control-Request-Headers"))
		h.Set("Access-Control-Expose-Headers", "X-Said")
		h.Set("X-Said", r.Method+r.Header.Get("X-Key"))
	})
	s := wefttest.Shows(t, map[string]string{"/": "text/html\n<title>x</title><div id=root></div><script>for (const method of ['GET', 'HEAD']) fetch('" +
		api.URL + "', {method, headers: {'X-Key': 'k'}}).then(r => document.title += r.headers.get('X-Said'))</script>"})
	e := wefttest.Crawl(t, wefttest.Done, "--render=always", "--warc", "--allow-private", "--job", "job", s.URL)
	r := s.Records(t, filepath.Join(e.Dir, "job"))["/"]
	if !strings.Contains(r.Title, "GETk") || !strings.Contains(r.Title, "HEADk") {
		t.Errorf("title %q: %+v", r.Title, r.Rendered)
	}
}
