package commands_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
	"github.com/weftcrawl/weft/robots"
)

func gzipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestSitemapLines: each line of --jsonl is answered with one line. A broken sitemap has URLs and
// an error.
func TestSitemapLines(t *testing.T) {
	t.Parallel()
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	const set = "<urlset><url><loc>/a?b&amp;c</loc><lastmod>2024-05</lastmod><priority>0.8</priority></url>"
	const entry = `{"loc":"http://e.test/a?b&c","lastmod":"2024-05","time":"2024-05-01T00:00:00Z","priority":0.8}`
	for name, c := range map[string]struct{ in, want string }{
		"a urlset": {
			`{"id":7,"body_b64":"` + b64(set+"<url><loc>b</loc></url></urlset>") + `","content_type":"application/xml","base":"http://e.test/s/m.xml"}`,
			`{"id":7,"type":"urlset","urls":[` + entry + `,{"loc":"http://e.test/s/b","lastmod":null,"time":null,"priority":0.5}],"sitemaps":[],"alternates":[],"error":null}`,
		},
		"broken, in gzip": {
			`{"body_b64":"` + b64(gzipped(t, set+"<url><loc>http://e.test/hal")) + `","base":"http://e.test/"}`,
			`{"type":"urlset","urls":[` + entry + `],"sitemaps":[],"alternates":[],"error":"broken: line 1: the end, expected </loc> first"}`,
		},
		"an index": {
			`{"body_b64":"` + b64("<sitemapindex><sitemap><loc>http://e.test/1.xml</loc></sitemap></sitemapindex>") + `"}`,
			`{"type":"index","urls":[],"sitemaps":["http://e.test/1.xml"],"alternates":[],"error":null}`,
		},
		"an alternate": {
			`{"body_b64":"` + b64(`<urlset><url><x:link rel="alternate" href="http://e.test/de"/></url></urlset>`) + `"}`,
			`{"type":"urlset","urls":[],"sitemaps":[],"alternates":["http://e.test/de"],"error":null}`,
		},
		"no sitemap": {
			`{"id":null,"body_b64":"` + b64("<html>") + `"}`,
			`{"id":null,"type":"unknown","urls":[],"sitemaps":[],"alternates":[],"error":"no sitemap: <html>, expected <urlset>, <sitemapindex>, <rss> or <feed>"}`,
		},
		"no body":        {`{"id":1,"base":"http://e.test/"}`, `{"id":1,"error":"line 1: no body_b64, expected bytes in base64","kind":"body_b64"}`},
		"a base of none": {`{"id":1,"body_b64":"","base":"x"}`, `"kind":"base"}`},
		"no base64":      {`{"id":1,"body_b64":"?"}`, `"kind":"body_b64"}`},
		"an array":       {`[1]`, `{"error":"line 1: array, expected an object, see weft sitemap --help-all","kind":"json"}`},
	} {
		e := weftFed(t, c.in+"\n{}\n", "", "sitemap", "--jsonl")
		first, _, _ := strings.Cut(e.Stdout, "\n")
		if e.Code != wefttest.Done || !strings.HasSuffix(first, c.want) || strings.Count(e.Stdout, "\n") != 2 {
			t.Errorf("%s: exit %d\n got %s\nwant %s\n%s", name, e.Code, first, c.want, e.Stderr)
		}
	}
}

// TestSitemap: the URLs found are printed, those of a broken sitemap too, which is an error.
func TestSitemap(t *testing.T) {
	t.Parallel()
	const body = "<urlset><url><loc>/a</loc><lastmod>2024-05\n\x1b</lastmod></url><sitemap><loc>/s.xml</loc></sitemap>"
	for name, c := range map[string]struct {
		stdin  string
		args   []string
		code   int
		stdout string
		stderr string
	}{
		"whole":  {body + "</urlset>", []string{"--base", "http://e.test/m/"}, wefttest.Done, "http://e.test/a\t2024-05\\u000a\\u001b\tpage\nhttp://e.test/s.xml\t-\tsitemap\n", ""},
		"broken": {body, []string{"--base", "http://e.test"}, wefttest.Failed, "http://e.test/a\t2024-05\\u000a\\u001b\tpage\nhttp://e.test/s.xml\t-\tsitemap\n", "-: broken: line 2: the end, expected </urlset> first"},
		"none":   {"hello", nil, wefttest.Failed, "", "-: no sitemap, expected XML, or a URL a line"},
		"JSON":   {"http://e.test\n", []string{"--json"}, wefttest.Done, `{"url":"http://e.test/","kind":"page","priority":0.5}` + "\n", ""},
		"JSON, a date": {"<feed><entry><link href='http://e.test'/><updated>2024-05-01T10:00:00.5+01:00</updated></entry></feed>", []string{"--json"}, wefttest.Done,
			`{"url":"http://e.test/","kind":"page","lastmod":"2024-05-01T10:00:00.5+01:00","time":"2024-05-01T09:00:00.5Z","priority":0.5}` + "\n", ""},
		"an encoding": {"<urlset><url><loc>http://e.test/\xcf</loc></url></urlset>", []string{"--content-type", "text/xml;charset=windows-1251"}, wefttest.Done, "http://e.test/%D0%9F\t-\tpage\n", ""},
		"too large":   {"http://e.test/\n", []string{"--max-body", "3"}, wefttest.Failed, "", `sitemap: "-": larger than 3 bytes, see --max-body`},
	} {
		e := weftFed(t, c.stdin, "", append(append([]string{"sitemap"}, c.args...), "-")...)
		if e.Code != c.code || e.Stdout != c.stdout || !strings.Contains(e.Stderr, c.stderr) || (c.stderr == "") != (e.Stderr == "") {
			t.Errorf("%s: %+v", name, e)
		}
	}
	path := filepath.Join(t.TempDir(), "s.xml.gz")
	if err := os.WriteFile(path, []byte(gzipped(t, "http://e.test/1\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	if e := wefttest.Run(t, "sitemap", path); e.Code != wefttest.Done || e.Stdout != "http://e.test/1\t-\tpage\n" {
		t.Errorf("a file: %+v", e)
	}
}

// TestSitemapOfASite: for a site, the sitemaps of robots.txt are listed, or /sitemap.xml is read.
func TestSitemapOfASite(t *testing.T) {
	t.Parallel()
	packed := gzipped(t, "<urlset><url><loc>a</loc></url></urlset>")
	var named atomic.Value
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/robots.txt":
			if n := named.Load().(int); n > 0 {
				_, _ = w.Write([]byte(strings.Repeat("Sitemap: /dir/1.xml\n", n) + "Sitemap: http://e.test/2.xml\nSitemap: ftp://e.test/\n"))
			} else {
				w.WriteHeader(http.StatusNotFound)
			}
		case "/sitemap.xml":
			http.Redirect(w, r, "/dir/map", http.StatusFound)
		case "/dir/map":
			w.Header().Set("Content-Type", "application/gzip")
			_, _ = w.Write([]byte(packed))
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer s.Close()
	for _, c := range []struct {
		name, url string
		named     int // sitemaps, and two more
		code      int
		stdout    string
		stderr    string
	}{
		{"a site", s.URL, 1, wefttest.Done, s.URL + "/dir/1.xml\t-\tsitemap\nhttp://e.test/2.xml\t-\tsitemap\n", ""},
		{"a site without", s.URL + "/", 0, wefttest.Done, s.URL + "/dir/a\t-\tpage\n", ""},
		{"a URL", s.URL + "/dir/map", 1, wefttest.Done, s.URL + "/dir/a\t-\tpage\n", ""},
		{"a site with too many", s.URL, robots.MaxSitemaps, wefttest.Failed, strings.Repeat(s.URL+"/dir/1.xml\t-\tsitemap\n", robots.MaxSitemaps), "/robots.txt: more than 1000 sitemaps, the others are not listed"},
		{"not found", s.URL + "/no.xml", 1, wefttest.Failed, "", "/no.xml: status 404, expected 2xx"},
	} {
		named.Store(c.named)
		if e := wefttest.Run(t, "sitemap", c.url); e.Code != c.code || e.Stdout != c.stdout || !strings.Contains(e.Stderr, c.stderr) {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}
