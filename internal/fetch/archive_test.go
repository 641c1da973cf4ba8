package fetch_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/warc"
)

// oddSite has a page of each sort that an archive has to tell apart.
func oddSite(w http.ResponseWriter, r *http.Request) {
	same := strings.Repeat("the same payload ", 100)
	w.Header().Set("Content-Type", "text/html")
	w.Header().Set("Set-Cookie", "secret=1")
	switch r.URL.Path {
	case "/":
		for _, path := range []string{"chunked", "gzip", "short", "long", "slow", "same/chunked", "same/plain", "gone"} {
			fmt.Fprintf(w, "<a href=/%s>", path)
		}
	case "/chunked":
		for i := range 3 {
			fmt.Fprintf(w, "<p>chunk %d", i)
			w.(http.Flusher).Flush()
		}
	case "/gzip":
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, "<p>zipped")
		z.Close()
	case "/short":
		w.Header().Set("Content-Length", "1000")
		fmt.Fprint(w, "<p>too short")
	case "/long":
		fmt.Fprint(w, strings.Repeat("<p>long", 10_000))
	case "/slow":
		fmt.Fprint(w, "<p>slow")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case "/same/chunked":
		w.(http.Flusher).Flush()
		fmt.Fprint(w, same)
	case "/same/plain":
		fmt.Fprint(w, same)
	default:
		http.NotFound(w, r)
	}
}

// TestArchive: what a crawl archives is what came, with what is known of it.
func TestArchive(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.HandlerFunc(oddSite))
	defer s.Close()
	job := filepath.Join(t.TempDir(), "job")
	c, err := weft.New(weft.Options{
		Seeds: []string{s.URL + "/"}, Job: job, Keep: weft.Keep{Archive: true}, HTTP: weft.HTTP{Insecure: true, MaxBody: 20_000, IdleTimeout: 100 * time.Millisecond, Header: httpclient.Header{{Name: "Authorization", Value: "Bearer secret"}, {Name: "X-Key", Value: "secret"}, {Name: "Accept-Language", Value: "de"}}}, Pace: weft.Pace{Concurrency: 1, Retries: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(job, "archive", "weft-*.warc.gz"))
	if len(files) != 1 {
		t.Fatalf("archives %q", files)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	checker := warc.NewChecker()
	report := func(f warc.Fault) { t.Error(f) }
	if err := checker.File(files[0], bytes.NewReader(data), report); err != nil {
		t.Error(err)
	}
	checker.End(report)
	got, revisit := captures(t, data, s.URL)
	for path, want := range map[string]string{
		"/chunked":         "response  HTTP/1.1 200 OK: 9\r\n<p>chunk 0\r\n",
		"/gzip":            "response  HTTP/1.1 200 OK: \x1f\x8b",
		"/short":           "response disconnect HTTP/1.1 200 OK: <p>too short",
		"/long":            "response length HTTP/1.1 200 OK: ",
		"/slow":            "response time HTTP/1.1 200 OK: 7\r\n<p>slow\r\n",
		"/gone":            "response  HTTP/1.1 404 Not Found: 404 page",
		"/same/" + revisit: "revisit  HTTP/1.1 200 OK: ",
	} {
		if want = strings.Replace(want, ": 9\r\n", ": a\r\n", 1); !strings.HasPrefix(got[path], want) {
			t.Errorf("%s is %.100q, expected %q", path, got[path], want)
		}
	}
	if strings.Contains(got["request"], "secret") || !strings.Contains(got["request"], "Accept-Language: de") {
		t.Errorf("request %q", got["request"])
	}
	r := crawltest.Records(t, job)[s.URL+"/chunked"]
	if in, err := warc.NewReader(bytes.NewReader(data[r.WARCOffset:])).Next(); err != nil || in.URL() != r.URL || r.WARCFile != filepath.Base(files[0]) {
		t.Errorf("at %s %d: %+v, %v", r.WARCFile, r.WARCOffset, in, err)
	}
}

// captures returns type, truncation and block of the responses by path, all requests as one, and
// which of the same payloads is a revisit.
func captures(t *testing.T, data []byte, origin string) (got map[string]string, revisit string) {
	got = make(map[string]string)
	for in := warc.NewReader(bytes.NewReader(data)); ; {
		r, err := in.Next()
		if errors.Is(err, io.EOF) {
			return got, revisit
		}
		if err != nil {
			t.Fatal(err)
		}
		block, _ := io.ReadAll(r)
		path := strings.TrimPrefix(r.URL(), origin)
		switch r.Type() {
		case warc.Request:
			got["request"] += string(block)
			continue
		case warc.Revisit:
			revisit = strings.TrimPrefix(path, "/same/")
		case warc.Response:
		default:
			continue
		}
		start, _, _ := strings.Cut(string(block), "\r\n")
		_, body, _ := strings.Cut(string(block), "\r\n\r\n")
		got[path] = fmt.Sprintf("%s %s %s: %s", r.Type(), r.Header.Get("WARC-Truncated"), start, body)
		if r.Header.Get("WARC-Cipher-Suite") == "" || r.Header.Get("WARC-IP-Address") != "127.0.0.1" || !strings.Contains(fmt.Sprint(r.Header), "tls/1.3") {
			t.Errorf("%s: %v", path, r.Header)
		}
	}
}
