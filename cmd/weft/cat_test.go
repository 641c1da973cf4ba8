package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestCat prints what was fetched: the last response, that of an earlier visit, with its header, and
// the record itself. The page changes once, then answers 304.
func TestCat(t *testing.T) {
	visit := 0
	s := newAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		etag := fmt.Sprintf(`"%d"`, min(visit, 2))
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
		fmt.Fprintf(w, "<p>visit %d</p>", visit)
	})
	visit = 1
	dir := crawls(t, exitDone, "--warc", "--job", "job", s.URL).dir
	for visit = 2; visit <= 3; visit++ {
		if e := weftIn(t, dir, "crawl", "--update", "job"); e.code != exitDone {
			t.Fatalf("visit %d: exit %d, %s", visit, e.code, e.stderr)
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
		{"--visit 4", exitError, "", "<p>"},
		{"--visit 0", exitUsage, "", "<p>"},
	} {
		e := weftIn(t, dir, append(append([]string{"cat"}, strings.Fields(c.flags)...), "job", s.URL)...)
		if e.code != c.code || !strings.Contains(e.stdout, c.has) || strings.Contains(e.stdout, c.lacks) {
			t.Errorf("cat %s: exit %d, %q, %s", c.flags, e.code, e.stdout, e.stderr)
		}
	}
	if e := weftIn(t, dir, "warc", "check", "job/archive"); e.code == exitDone {
		t.Error("a folder is checked as a file")
	}
	if e := weftIn(t, dir, "cat", "job", s.URL+"/nowhere"); e.code != exitError || !strings.Contains(e.stderr, "no response of "+s.URL+"/nowhere") {
		t.Errorf("exit %d, %s", e.code, e.stderr)
	}
}
