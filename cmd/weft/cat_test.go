package main

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
)

// TestCat prints what was fetched: the last response, that of an earlier visit, with its header,
// and the record itself. The page changes once, then answers 304.
func TestCat(t *testing.T) {
	t.Parallel()
	var visit atomic.Int32
	s := newAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
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
	dir := crawls(t, exitDone, "--warc", "--job", "job", s.URL).dir
	for n := range int32(2) {
		visit.Store(2 + n)
		if e := weftIn(t, dir, "crawl", "--update", "job"); e.code != exitDone {
			t.Fatalf("visit %d: exit %d, %s", 2+n, e.code, e.stderr)
		}
	}
	for _, c := range []struct {
		flags      string
		code       int
		has, lacks string
	}{
		{"", exitDone, "<p>visit 2</p>", "HTTP/"},
		{"--visit 1", exitDone, "<p>visit 1</p>", "HTTP/"},
		{"--visit 3", exitDone, "<p>visit 2</p>", "HTTP/"},
		{"-i", exitDone, "HTTP/1.1 200 OK\r\n", "WARC/"},
		{"--raw", exitDone, "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified\r\n", "<p>"},
		{"--raw", exitDone, "\r\n\r\nHTTP/1.1 304 Not Modified\r\n", "200 OK"},
		{"--visit 4", exitError, "", "<p>"},
		{"--visit 0", exitUsage, "", "<p>"},
	} {
		e := weftIn(t, dir, append(append([]string{"cat"}, strings.Fields(c.flags)...), "job", s.URL)...)
		if e.code != c.code || !strings.Contains(e.stdout, c.has) || strings.Contains(e.stdout, c.lacks) {
			t.Errorf("cat %s: exit %d, %q, %s", c.flags, e.code, e.stdout, e.stderr)
		}
	}
	e := weftIn(t, dir, "cat", "--raw", "job", s.URL+"/same")
	if !strings.Contains(e.stdout, "WARC-Type: revisit\r\n") || !strings.Contains(e.stdout, "identical-payload-digest") {
		t.Errorf("the same body at a later visit: %q, %s", e.stdout, e.stderr)
	}
	if e := weftIn(t, dir, "cat", "job", s.URL+"/nowhere"); e.code != exitError || !strings.Contains(e.stderr, "no response of "+s.URL+"/nowhere") {
		t.Errorf("exit %d, %s", e.code, e.stderr)
	}
}

// TestCatPost prints the response to a POST, by the name that weft urls has for it.
func TestCatPost(t *testing.T) {
	t.Parallel()
	s := newAsked(t, false, func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) })
	dir := crawls(t, exitDone, "--warc", "--job", "job", "--post-data", "1", "--post-data", "2", s.URL).dir
	var got []string
	for _, name := range strings.Fields(weftIn(t, dir, "urls", "job").stdout) {
		if strings.Contains(name, s.URL) {
			got = append(got, weftIn(t, dir, "cat", "job", name).stdout)
		}
	}
	slices.Sort(got)
	expect(t, "responses", strings.Join(got, " "), "1 2")
}

// TestCatBodies: a job with bodies has no archive; a command that asks for one is refused, and
// leaves nothing behind.
func TestCatBodies(t *testing.T) {
	t.Parallel()
	s := newAsked(t, false, star)
	dir := crawls(t, exitDone, "--bodies", "--job", "job", s.URL).dir
	if e := weftIn(t, dir, "crawl", "--warc", "--bodies", "--job", "job", s.URL); e.code != exitUsage || !strings.Contains(e.stderr, "archive: not written") {
		t.Errorf("exit %d, %s", e.code, e.stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "job/archive")); err == nil {
		t.Error("the refused command has made a folder")
	}
	if e := weftIn(t, dir, "cat", "job", s.URL); e.code != exitDone || e.stdout == "" {
		t.Errorf("exit %d, %q, %s", e.code, e.stdout, e.stderr)
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
		if e := weftIn(t, dir, "cat", "job", "http://a.test/"); e.code != exitError || e.stdout != "" || !strings.Contains(e.stderr, "no body of http://a.test/") {
			t.Errorf("sha256 %q: %+v", sum, e)
		}
	}
	if err := os.Remove(pages); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pages, 0o666); err != nil {
		t.Fatal(err)
	}
	if e := weftIn(t, dir, "cat", "job", "http://a.test/"); e.code != exitError || !strings.Contains(e.stderr, "not a file") {
		t.Errorf("a pipe: %+v", e)
	}
}
