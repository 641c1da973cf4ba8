package fetch_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/long"
)

// answers are the responses of a server by path: a header and a body. Without a Content-Type none
// is sent.
type answers map[string]answer

type answer struct {
	header map[string]string
	body   string
}

// crawl crawls a server from its home page, and returns the records by path.
func (a answers) crawl(t *testing.T, o weft.Options) (map[string]weft.Record, weft.Summary) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one, ok := a[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header()["Content-Type"] = nil // net/http would sniff
		for name, value := range one.header {
			w.Header().Set(name, value)
		}
		_, _ = w.Write([]byte(one.body))
	}))
	defer s.Close()
	o.Seeds, o.Job = []string{s.URL + "/"}, filepath.Join(t.TempDir(), "job")
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byPath := make(map[string]weft.Record)
	for u, r := range crawltest.Records(t, o.Job) {
		byPath[u[len(s.URL):]] = r
	}
	return byPath, sum
}

// TestSniffedTypes: what a server labels with no type, or a wrong one, is read as browsers read it,
// and the record says so.
func TestSniffedTypes(t *testing.T) {
	of := func(contentType string) map[string]string { return map[string]string{"Content-Type": contentType} }
	a := answers{
		"/":            {nil, "<html>" + crawltest.Links("/any", "/unknown", "/application", "/feed", "/xml", "/image", "/nosniff", "/text", "/plain")},
		"/any":         {of("*/*; charset=koi8-r"), "<title>\xe1</title>" + crawltest.Links("/by-any")},
		"/unknown":     {of("unknown/unknown"), "<!-- --><p>" + crawltest.Links("/by-unknown")},
		"/application": {of("application/unknown"), "<P>" + crawltest.Links("/by-application")},
		"/feed":        {of("text/html"), "<?xml version='1.0'?><rss><channel><item><link>/by-feed</link></item></channel></rss>"},
		"/xml":         {nil, "<?xml version='1.0'?><html><a href='/by-xml'/></html>"},
		"/image":       {nil, "\x89PNG\r\n\x1a\n" + crawltest.Links("/no")},
		"/nosniff":     {map[string]string{"X-Content-Type-Options": "nosniff"}, "<html>" + crawltest.Links("/no")},
		"/text":        {nil, "See " + crawltest.Links("/no")},
		"/plain":       {of("text/plain"), "\x01" + crawltest.Links("/no")},
	}
	got, sum := a.crawl(t, weft.Options{})
	for path, want := range map[string]string{
		"/": "text/html", "/any": "text/html", "/unknown": "text/html", "/application": "text/html", "/feed": "application/rss+xml",
		"/xml": "text/xml", "/image": "image/png", "/nosniff": "text/plain", "/text": "text/plain", "/plain": "application/octet-stream",
	} {
		if r := got[path]; r.SniffedType != want || r.ContentType != a[path].header["Content-Type"] {
			t.Errorf("%s: %q, sniffed %q, expected %q", path, r.ContentType, r.SniffedType, want)
		}
	}
	for _, path := range []string{"/by-any", "/by-unknown", "/by-application", "/by-feed", "/by-xml"} {
		if got[path].Status != 404 {
			t.Errorf("no link led to %s", path)
		}
	}
	if _, ok := got["/no"]; ok {
		t.Error("the links of an image, of text or of a body with nosniff were followed")
	}
	if r := got["/any"]; r.Title != "А" || r.Charset != "koi8-r" {
		t.Errorf("title %q in %s, expected one in the charset that the server states", r.Title, r.Charset)
	}
	if sum.Pages != 4 || sum.ContentTypes["text/html"].URLs != 4 {
		t.Errorf("%d pages, types %v, expected 4 pages", sum.Pages, sum.ContentTypes)
	}
}

// TestRefreshHeader: a Refresh field leads where a meta element of that name would.
func TestRefreshHeader(t *testing.T) {
	got, _ := answers{"/": {map[string]string{"Refresh": "5; URL='/next'"}, "<html>"}}.crawl(t, weft.Options{})
	if r := got["/next"]; r.Status != 404 || r.Depth != 1 {
		t.Errorf("%+v, expected that the Refresh field leads there", r)
	}
}

// TestCut: a page of 20 MB whose links something huge hides says so in its record.
func TestCut(t *testing.T) {
	t.Parallel()
	size := long.Or(5<<20, 20<<20)
	big := strings.Repeat("x", size)
	of := map[string]string{"Content-Type": "text/html"}
	got, sum := answers{
		"/":       {of, crawltest.Links("/script", "/name")},
		"/script": {of, "<script>" + big + crawltest.Links("/no")},
		"/name":   {of, "<" + big + ">" + crawltest.Links("/yes")},
	}.crawl(t, weft.Options{HTTP: weft.HTTP{MaxBody: size + 1<<20}})
	if r := got["/script"]; r.Cut != "unclosed" || r.Links != 0 || sum.NotFollowed["unclosed"] != 1 {
		t.Errorf("record %+v, not followed %v", r, sum.NotFollowed)
	}
	if r := got["/name"]; r.Cut != "" || got["/yes"].Status != 404 {
		t.Errorf("record %+v, and of its link %+v", r, got["/yes"])
	}
}
