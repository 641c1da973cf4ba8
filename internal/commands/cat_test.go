package commands_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestCat prints what was fetched: the last response, that of an earlier visit, with its header,
// and the record itself. The page changes once, then answers 304.
func TestCat(t *testing.T) {
	t.Parallel()
	var visit atomic.Int32
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		etag := fmt.Sprintf(`"%d"`, min(visit.Load(), 2))
		if r.URL.Path == "/same" {
			fmt.Fprint(w, strings.Repeat("the same each time, ", 100))
			return
		}
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<p>visit %d</p><a href=/same>", visit.Load())
	})
	visit.Store(1)
	dir := wefttest.Crawl(t, wefttest.Done, "--warc", "--job", "job", s.URL).Dir
	for n := range int32(2) {
		visit.Store(2 + n)
		if e := wefttest.In(t, dir, "crawl", "--update", "job"); e.Code != wefttest.Done {
			t.Fatalf("visit %d: exit %d, %s", 2+n, e.Code, e.Stderr)
		}
	}
	for _, c := range []struct {
		flags      string
		code       int
		has, lacks string
	}{
		{"", wefttest.Done, "<p>visit 2</p>", "HTTP/"},
		{"--visit 1", wefttest.Done, "<p>visit 1</p>", "HTTP/"},
		{"--visit 3", wefttest.Done, "<p>visit 2</p>", "HTTP/"},
		{"-i", wefttest.Done, "HTTP/1.1 200 OK\r\n", "WARC/"},
		{"--raw", wefttest.Done, "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n", "<p>"},
		{"--raw", wefttest.Done, "\r\n\r\nHTTP/1.1 304 Not Modified\r\n", "200 OK"},
		{"--visit 4", wefttest.Failed, "", "<p>"},
		{"--visit 0", wefttest.Misused, "", "<p>"},
	} {
		e := wefttest.In(t, dir, append(append([]string{"cat"}, strings.Fields(c.flags)...), "job", s.URL)...)
		if e.Code != c.code || !strings.Contains(e.Stdout, c.has) || strings.Contains(e.Stdout, c.lacks) {
			t.Errorf("cat %s: exit %d, %q, %s", c.flags, e.Code, e.Stdout, e.Stderr)
		}
	}
	e := wefttest.In(t, dir, "cat", "--raw", "job", s.URL+"/same")
	if !strings.Contains(e.Stdout, "WARC-Type: revisit\r\n") || !strings.Contains(e.Stdout, "identical-payload-digest") {
		t.Errorf("the same body at a later visit: %q, %s", e.Stdout, e.Stderr)
	}
	if e := wefttest.In(t, dir, "cat", "job", s.URL+"/nowhere"); e.Code != wefttest.Failed || !strings.Contains(e.Stderr, "no response of "+s.URL+"/nowhere") {
		t.Errorf("exit %d, %s", e.Code, e.Stderr)
	}
}

// TestCatPost prints the response to a POST, by the name that weft urls has for it.
func TestCatPost(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	dir := wefttest.Crawl(t, wefttest.Done, "--warc", "--job", "job", "--post-data", "1", "--post-data", "2", s.URL).Dir
	var got []string
	for _, name := range strings.Fields(wefttest.In(t, dir, "urls", "job").Stdout) {
		if strings.Contains(name, s.URL) {
			got = append(got, wefttest.In(t, dir, "cat", "job", name).Stdout)
		}
	}
	slices.Sort(got)
	wefttest.Expect(t, "responses", strings.Join(got, " "), "1 2")
}

// TestCatBodies: a job with bodies has no archive; a command that asks for one is refused, and
// leaves nothing behind.
func TestCatBodies(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, wefttest.Star)
	dir := wefttest.Crawl(t, wefttest.Done, "--bodies", "--job", "job", s.URL).Dir
	if e := wefttest.In(t, dir, "crawl", "--warc", "--bodies", "--job", "job", s.URL); e.Code != wefttest.Misused || !strings.Contains(e.Stderr, "archive: not written") {
		t.Errorf("exit %d, %s", e.Code, e.Stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "job/archive")); err == nil {
		t.Error("the refused command has made a folder")
	}
	if e := wefttest.In(t, dir, "cat", "job", s.URL); e.Code != wefttest.Done || e.Stdout == "" {
		t.Errorf("exit %d, %q, %s", e.Code, e.Stdout, e.Stderr)
	}
}

// TestCatHostileJob: the records of a job from elsewhere lead to no file but its bodies, and a pipe
// in place of a file does not hang the command.
func TestCatHostileJob(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "secret"), []byte("secret"), 0o666); err != nil {
		t.Fatal(err)
	}
	pages := filepath.Join(dir, "job/pages.jsonl")
	if err := os.MkdirAll(filepath.Join(dir, "job/bodies/.."), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, sum := range []string{"x", "../../secret", strings.Repeat("x", 64)} {
		if err := os.WriteFile(pages, fmt.Appendf(nil, `{"url":"http://a.test/","sha256":%q}`+"\n", sum), 0o666); err != nil {
			t.Fatal(err)
		}
		if e := wefttest.In(t, dir, "cat", "job", "http://a.test/"); e.Code != wefttest.Failed || e.Stdout != "" || !strings.Contains(e.Stderr, "no body of http://a.test/") {
			t.Errorf("sha256 %q: %+v", sum, e)
		}
	}
	if err := os.Remove(pages); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pages, 0o666); err != nil {
		t.Fatal(err)
	}
	if e := wefttest.In(t, dir, "cat", "job", "http://a.test/"); e.Code != wefttest.Failed || !strings.Contains(e.Stderr, "not a file") {
		t.Errorf("a pipe: %+v", e)
	}
}
