package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/warc"
)

// TestPathOf: a path is within the folder, and any file system allows it.
func TestPathOf(t *testing.T) {
	long := strings.Repeat("x", 300)
	for url, want := range map[string]string{
		"https://example.org/":                     "example.org/index.html",
		"https://example.org":                      "example.org/index.html",
		"http://user:word@example.org:8080/a/b.c":  "example.org%3A8080/a/b.c",
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
		if got := pathOf(url, "text/html"); got != want {
			t.Errorf("%q: %q, want %q", url, got, want)
		}
	}
	for _, url := range []string{"https://example.org/" + long + ".png", "https://example.org/" + strings.Repeat("d/", 60) + "a.png", "https://example.org/" + strings.Repeat(long+"/", 9)} {
		got := pathOf(url, "text/html")
		if len(got) > mostPath || len(filepath.Base(got)) > mostPart || !filepath.IsLocal(got) || strings.HasSuffix(url, ".png") != strings.HasSuffix(got, ".png") {
			t.Errorf("%q: %q", url, got)
		}
	}
}

// FuzzPathOf: whatever a URL holds, its path is within the folder.
func FuzzPathOf(f *testing.F) {
	f.Add("https://example.org/../../etc/passwd?x")
	f.Fuzz(func(t *testing.T, url string) {
		name := pathOf(url, "text/css")
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

// TestWarcExtract writes bodies to files: none is replaced, and none is outside of the folder.
func TestWarcExtract(t *testing.T) {
	var file []byte
	e := warc.NewEncoder(warc.Options{})
	n := 0
	add := func(path, head, body string) {
		n++
		file, _ = e.Exchange(file, &warc.Exchange{URL: "https://example.org/" + path, Date: time.Date(2026, 11, 22, 12, 0, n, 0, time.UTC),
			Response: []byte("HTTP/1.1 " + head + "\r\n\r\n" + body)})
	}
	add("", "200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip", gzipped(t, "start"))
	add("", "200 OK\r\nContent-Type: text/html", "start") // the same
	add("", "200 OK\r\nContent-Type: text/html", "changed")
	add("a", "200 OK", "a file")
	add("a/b", "200 OK", "below it")
	add("A", "200 OK", "capital")
	add("out/x", "200 OK", "through a link")
	add("lost", "404 Not Found", "lost")
	add("empty", "200 OK", "")
	add("bad.gz", "200 OK\r\nContent-Encoding: gzip", gzipped(t, strings.Repeat("text", 9999))[:30])
	add("odd", "200 OK\r\nContent-Encoding: exi", "odd")

	cmd, stderr := weftCommand(t, "warc", "extract", "a.warc.gz", "-o", "site")
	outside := t.TempDir()
	for _, err := range []error{
		os.WriteFile(filepath.Join(cmd.Dir, "a.warc.gz"), file, 0o666),
		os.MkdirAll(filepath.Join(cmd.Dir, "site/example.org"), 0o777),
		os.Symlink(outside, filepath.Join(cmd.Dir, "site/example.org/out")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	out, err := cmd.Output()
	if code := exitCode(err); code != exitError || strings.Count(stderr.String(), "\n") != 2 {
		t.Errorf("exit %d: %s", code, stderr)
	}
	var got []string
	root := os.DirFS(filepath.Join(cmd.Dir, "site"))
	fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			b, _ := fs.ReadFile(root, path)
			got = append(got, fmt.Sprintf("%s: %.8s", strings.TrimPrefix(path, "example.org/"), b))
		}
		return err
	})
	want := []string{"A~20261122120006: capital", "a: a file", "a~/b: below it", "index.html: start", "index~20261122120003.html: changed", "odd: odd", "out~/x: through "}
	if slices.Sort(got); !slices.Equal(slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, "bad.gz: ") }), want) {
		t.Errorf("%q, want %q", got, want)
	}
	if left, _ := os.ReadDir(outside); len(left) > 0 {
		t.Errorf("%v outside of the folder", left)
	}
	if first, _, _ := strings.Cut(string(out), "\n"); first != "example.org/index.html\thttps://example.org/" {
		t.Error(first)
	}

	files := map[string][]byte{"a.warc.gz": file}
	for _, c := range []struct{ arg, want string }{{"--offset=0", "start"}, {"--url=https://example.org/lost", ""}} {
		e := weftAmong(t, files, "warc", "extract", "a.warc.gz", c.arg)
		if e.code != exitDone || c.want != "" && e.stdout != c.want {
			t.Errorf("%s: exit %d: %s%s", c.arg, e.code, e.stdout, e.stderr)
		}
		if b, err := os.ReadFile(filepath.Join(e.dir, "example.org/lost")); c.want == "" && (err != nil || string(b) != "lost") {
			t.Errorf("%s: %v", c.arg, err)
		}
	}
	if e := weftAmong(t, files, "warc", "extract", "a.warc.gz", "--offset", "0", "--raw"); e.stdout != gzipped(t, "start") {
		t.Errorf("exit %d: %q", e.code, e.stdout)
	}
}
