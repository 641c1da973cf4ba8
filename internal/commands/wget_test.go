package commands_test

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
	"github.com/weftcrawl/weft/warc"
)

// TestWget compares the archives that Weft and GNU Wget make of one site: both have the same
// responses, by URL, status and decoded payload.
func TestWget(t *testing.T) {
	wget, err := exec.LookPath("wget")
	if err != nil {
		t.Skip("wget is not installed")
	}
	var compressed []byte
	site := http.NewServeMux()
	page := func(path, body string) {
		site.HandleFunc(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, body)
		})
	}
	page("/{$}", `<a href=plain>1</a> <a href=coded>2</a> <a href="chunked?x=1&amp;y=2">3</a> <a href=moved>4</a> <a href=gone>5</a>`)
	page("/plain", "<p>Grüße</p><a href=/>home</a>")
	page("/found", `<a href="deep/er">on</a>`)
	page("/deep/er", "<p>the last one</p>")
	page("/robots.txt", "User-agent: *\nDisallow: /private\n")
	site.Handle("/moved", http.RedirectHandler("/found", http.StatusFound))
	site.HandleFunc("/chunked", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for i := range 3 {
			fmt.Fprintf(w, "<p>part %d of %s</p>", i, r.URL.RawQuery)
			_ = http.NewResponseController(w).Flush()
		}
	})
	site.HandleFunc("/coded", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(compressed)
	})
	compressed = []byte(gzipped(t, `<p>compressed</p><a href="/behind">a link in it</a>`))
	page("/behind", "<p>behind it</p>")
	server := httptest.NewServer(site)
	defer server.Close()

	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), wget, "--no-config", "--no-proxy", "-q", "-r", "-l", "inf", "--compression=gzip", "--warc-file=wget", server.URL+"/")
	cmd.Dir = dir
	const serverError = 8 // the 404
	if out, err := cmd.CombinedOutput(); wefttest.ExitCode(err) != serverError {
		t.Fatalf("wget: %v\n%s", err, out)
	}
	e := wefttest.Run(t, "crawl", "--warc", "--job", "job", "-q", server.URL+"/")
	if e.Code != wefttest.Done {
		t.Fatalf("exit %d\n%s", e.Code, e.Stderr)
	}
	names, _ := filepath.Glob(filepath.Join(e.Dir, "job", "archive", "*.warc.gz"))
	if len(names) != 1 {
		t.Fatalf("archives: %q", names)
	}
	ours, theirs := responsesOf(t, names[0]), responsesOf(t, filepath.Join(dir, "wget.warc.gz"))
	if !maps.Equal(ours, theirs) || len(ours) != 10 {
		t.Errorf("weft:\n%s\nwget:\n%s", spelled(ours), spelled(theirs))
	}
}

// responsesOf returns status and decoded payload of each response in a file, by its URL.
func responsesOf(t *testing.T, name string) map[string]string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	all := make(map[string]string)
	for r := warc.NewReader(f); ; {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(name, err)
		}
		if record.Type() != warc.Response {
			continue
		}
		if _, twice := all[record.URL()]; twice {
			t.Errorf("%s: two responses of %s", name, record.URL())
		}
		m, err := warc.ReadMessage(record)
		if err != nil {
			t.Fatal(name, err)
		}
		body, err := m.Body()
		if err != nil {
			t.Fatal(name, err)
		}
		text, err := io.ReadAll(body)
		if err != nil {
			t.Fatal(name, err)
		}
		all[record.URL()] = fmt.Sprintf("%d %s", m.Status(), text)
	}
}

func spelled(responses map[string]string) (s string) {
	for _, url := range slices.Sorted(maps.Keys(responses)) {
		s += fmt.Sprintf("%s: %q\n", url, responses[url])
	}
	return s
}
