package filename

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestOf: a path is within the folder, and any file system allows it.
func TestOf(t *testing.T) {
	long := strings.Repeat("x", 300)
	for url, want := range map[string]string{
		"https://example.org/":                     "example.org/index.html",
		"https://example.org":                      "example.org/index.html",
		"http://user:word@example.org:8080/a/b.c":  "example.org_8080/a/b.c",
		"https://example.org/a//b/":                "example.org/a/b/index.html",
		"https://example.org/a?b=/../c&d=:":        "example.org/a@b=%2F..%2Fc&d=%3A",
		"https://example.org/b.css?v=2.0":          "example.org/b@v=2.0.css",
		"https://example.org/../../etc/passwd":     "example.org/.%2E/.%2E/etc/passwd",
		"https://../x":                             ".%2E/x",
		"https:///x":                               "x/index.html",
		"https://example.org/a%2F..%2Fb/.":         "example.org/a%2F..%2Fb/%2E",
		"https://example.org/a\\b|c\x00\x1b[2Jé#f": "example.org/a%5Cb%7Cc%00%1B[2J%C3%A9",
		"urn:pageinfo:x":                           "urn/pageinfo%3Ax",
		"":                                         "unknown/index.html",
	} {
		if got := Of(url, "text/html"); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
	for _, url := range []string{"https://example.org/" + long + ".png", "https://example.org/" + strings.Repeat("d/", 60) + "a.png", "https://example.org/" + strings.Repeat(long+"/", 9)} {
		got := Of(url, "text/html")
		if len(got) > mostPath || len(filepath.Base(got)) > mostPart || !filepath.IsLocal(got) || strings.HasSuffix(url, ".png") != strings.HasSuffix(got, ".png") {
			t.Errorf("%q: %q", url, got)
		}
	}
}

// FuzzOf: whatever a URL holds, its path is within the folder.
func FuzzOf(f *testing.F) {
	f.Add("https://example.org/../../etc/passwd?x")
	f.Fuzz(func(t *testing.T, url string) {
		name := Of(url, "text/css")
		if !filepath.IsLocal(name) || len(name) > mostPath || name != filepath.Clean(name) {
			t.Errorf("%q", name)
		}
		for part := range strings.SplitSeq(name, "/") {
			if part == "" || len(part) > 255 || strings.ContainsAny(part, "\\:\x00\n") {
				t.Errorf("%q", name)
			}
		}
	})
}
