package rendered_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestCrawlAssetsOnce: scripts, style sheets and images that pages need are requested once, whether
// a page or the crawl asks first, and of another site, too. Their records tell of that request, and
// where the archive has it.
func TestCrawlAssetsOnce(t *testing.T) {
	t.Parallel()
	cdn := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		switch r.URL.Path {
		case "/c.css":
			w.Header().Set("Content-Type", "text/css")
			fmt.Fprint(w, "body { background: url(/back-c.png) }")
		case "/back-c.png":
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, "\x89PNG\r\n\x1a\n")
		default:
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, "document.body.append('cdn')")
		}
	})
	cdnURL := strings.Replace(cdn.URL, "127.0.0.1", "localhost", 1)
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/", "/b":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<!doctype html><title>A</title><link rel=stylesheet href=/a.css><script src=/early.js></script><script src=/a.js></script><script src=/gone.js></script><script crossorigin src=%[1]s/c.js></script><link rel=stylesheet href=%[1]s/c.css><img src=/a.png><a href=/b>b</a>`, cdnURL)
		case "/a.js", "/early.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, "/*", strings.Repeat("a", 2000), "*/")
		case "/a.css":
			w.Header().Set("Content-Type", "text/css")
			fmt.Fprint(w, "body { color: red; background: url(/back.png) }")
		case "/a.png", "/back.png":
			w.Header().Set("Content-Type", "image/png")
			fmt.Fprint(w, "\x89PNG\r\n\x1a\n")
		default:
			http.NotFound(w, r)
		}
	})
	e := wefttest.Crawl(t, wefttest.Done, "--render=always", "--warc", "--assets", "any", "-c", "1", "--allow-private", "--job", "job", s.URL+"/early.js", s.URL)
	asked, want := make(map[string]int), []string{"/", "/b", "/a.css", "/early.js", "/a.js", "/gone.js", "/a.png", "/back.png", "/c.js", "/c.css", "/back-c.png"}
	count := func() {
		for _, of := range []*wefttest.Site{s, cdn} {
			for path, n := range of.Times() {
				asked[path] += n
			}
		}
	}
	count()
	records, bytes := s.Records(t, filepath.Join(e.Dir, "job")), int64(0)
	for _, r := range records {
		bytes += r.Bytes
	}
	for _, path := range want {
		r := cmp.Or(records[path], records[cdnURL+path])
		if asked[path] != 1 || r == nil || r.WARCFile == "" || r.Bytes == 0 || r.IP == "" || r.Started.IsZero() {
			t.Errorf("%s: %d requests, record %+v", path, asked[path], r)
			continue
		}
		listed, n := wefttest.In(t, e.Dir, "warc", "ls", filepath.Join("job", "archive", r.WARCFile)), 0
		for line := range strings.Lines(listed.Stdout) {
			if strings.HasSuffix(line, " "+r.URL+"\n") && (strings.Contains(line, " response ") || strings.Contains(line, " revisit ")) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s: %d responses in the archive: %s%s", path, n, listed.Stdout, listed.Stderr)
		}
	}
	if len(records) != len(want) {
		t.Errorf("%d records, expected %d", len(records), len(want))
	}
	var status struct{ Bytes int64 }
	if err := json.Unmarshal([]byte(wefttest.In(t, e.Dir, "status", "--json", "job").Stdout), &status); err != nil || status.Bytes < bytes || status.Bytes > bytes+1000 {
		t.Errorf("%d bytes received, %v; the records have %d, without robots.txt", status.Bytes, err, bytes)
	}
	if e := wefttest.In(t, e.Dir, "crawl", "--update", "job"); e.Code != wefttest.Done {
		t.Errorf("again: exit %d, %s", e.Code, e.Stderr)
	}
	count()
	for path, n := range asked {
		if n > 3 {
			t.Errorf("%s: requested %d times by the second visit", path, n-2)
		}
	}
}
