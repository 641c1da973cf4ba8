package view_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// TestMeant: Why names the URL that a person means by one that the crawl has not seen.
func TestMeant(t *testing.T) {
	t.Parallel()
	web := crawltest.Web{
		"http://a.test/":           crawltest.Links("/Folder/x.html", "/Folder/", "/search?q=a&page=2", "/search?q=b", "/docs/index.html", "/pending", "http://a.test:8080/there"),
		"http://a.test:8080/there": crawltest.Links(),
	}
	for _, path := range []string{"/Folder/x.html", "/Folder/", "/search?q=a&page=2", "/search?q=b", "/docs/index.html", "/pending"} {
		web["http://a.test"+path] = crawltest.Links()
	}
	o := weft.Options{Seeds: []string{"http://a.test/"}, Job: filepath.Join(t.TempDir(), "job")}
	o.Reach.Scope, o.Pace.Retries, o.Limits.Limit = weft.ScopeDomain, -1, 7
	web.Crawl(t, o)
	job := crawltest.Open(t, o.Job)
	for typed, want := range map[string]string{
		"http://a.test/folder/":           "http://a.test/Folder/",
		"http://a.test/FOLDER/":           "http://a.test/Folder/",
		"http://a.test/folder":            "http://a.test/Folder/",
		"https://www.a.test/Folder":       "http://a.test/Folder/",
		"http://a.test/Folder/X.html":     "http://a.test/Folder/x.html",
		"http://a.test/folder/index.html": "http://a.test/Folder/",
		"http://a.test/search":            "http://a.test/search?q=b",
		"http://a.test/Search?Q=a&page=2": "http://a.test/search?q=a&page=2",
		"http://a.test/docs":              "http://a.test/docs/index.html",
		"http://a.test/index.html":        "http://a.test/",
		"http://a.test/PENDING":           "http://a.test/pending",
		"http://a.test/there":             "http://a.test:8080/there",
		"http://a.test:81/there":          "",
		"http://a.test/search?q=c":        "",
		"http://a.test/fold":              "",
		"http://b.test/folder/":           "",
	} {
		why, err := job.Why(t.Context(), typed)
		meant := ""
		for _, s := range why.Steps {
			if s.What == "meant" {
				meant = strings.TrimPrefix(s.Text, "the crawl knows ")
			}
		}
		if meant != want || err != nil {
			t.Errorf("%s: %q, %v; expected %q\n%v", typed, meant, err, want, why.Steps)
		}
	}
}
