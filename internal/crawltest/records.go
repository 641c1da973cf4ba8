package crawltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
)

// Records reads a job's pages.jsonl. Every line must be complete JSON, and each URL must occur
// once a visit, or once more for what it was before it came into scope.
func Records(t *testing.T, job string) map[string]weft.Record {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(job, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]weft.Record)
	for line := range strings.Lines(string(b)) {
		var r weft.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil || !strings.HasSuffix(line, "\n") {
			t.Fatalf("record %q: %v", line, err)
		}
		if was, twice := all[r.URL]; twice && was.Role == r.Role && was.Visit == r.Visit {
			t.Errorf("two records of %s", r.URL)
		}
		all[r.URL] = r
	}
	return all
}

// Essay returns a text of some hundred words, each of which contains name.
func Essay(name string) string {
	var b strings.Builder
	for i := range 400 {
		fmt.Fprintf(&b, "%s%d ", name, i)
	}
	return "<p>" + b.String()
}

// ServePages returns the URL of a server of the pages at paths, and how many it was asked for.
func ServePages(t *testing.T, page func(path string) string) (site string, requests *atomic.Int64) {
	t.Helper()
	requests = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		requests.Add(1)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page(r.URL.Path))
	}))
	t.Cleanup(s.Close)
	return s.URL, requests
}

// Leafy serves a home page with n links, each to a small page.
func Leafy(t *testing.T, n int) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
		if r.URL.Path == "/" {
			for i := range n {
				w.Write([]byte(Links("/" + strings.Repeat("x", i+1))))
			}
			return
		}
		w.Write([]byte("<title>caf\xe9</title>"))
	}))
	t.Cleanup(s.Close)
	return s
}

// Overrides parses overrides of addresses, such as "*:80:127.0.0.1".
func Overrides(t *testing.T, all ...string) (list []httpclient.Override) {
	t.Helper()
	for _, s := range all {
		o, err := httpclient.ParseOverride(s)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, o)
	}
	return list
}

// Visits returns the records of a job by visit, in file order.
func Visits(t *testing.T, job string) map[int][]weft.Record {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(job, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	visits := make(map[int][]weft.Record)
	for line := range bytes.Lines(b) {
		var r weft.Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatal(err)
		}
		visits[max(1, r.Visit)] = append(visits[max(1, r.Visit)], r)
	}
	return visits
}

// Prose returns a page with links and with enough words for a text hash.
func Prose(words string, links ...string) string {
	return "<title>A page</title><nav>" + words[:1] + "</nav><p>Once upon a time there was a crawler that came by again " + words + "</p>" + Links(links...)
}

// URLSet returns a sitemap of URLs; a URL may have a priority after a space.
func URLSet(urls ...string) string {
	var b strings.Builder
	b.WriteString("<urlset>")
	for _, u := range urls {
		u, priority, _ := strings.Cut(u, " ")
		fmt.Fprintf(&b, "<url><loc>%s</loc>", u)
		if priority != "" {
			fmt.Fprintf(&b, "<priority>%s</priority>", priority)
		}
		b.WriteString("</url>")
	}
	return b.String() + "</urlset>"
}

// List returns a sequence of seeds.
func List(urls ...string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, u := range urls {
			if !yield(u, nil) {
				return
			}
		}
	}
}

// Fetched returns the sorted URLs of the records that have a status.
func Fetched(records map[string]weft.Record) []string {
	var urls []string
	for u, r := range records {
		if r.Status != 0 {
			urls = append(urls, u)
		}
	}
	slices.Sort(urls)
	return urls
}

// Links returns links to URLs.
func Links(urls ...string) string {
	var b strings.Builder
	for _, u := range urls {
		fmt.Fprintf(&b, "<a href=%q>to %s</a>\n", u, u)
	}
	return b.String()
}
