package commands_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestMirror: a site becomes files, again what has changed, and what is gone on request; and a job
// becomes the same.
func TestMirror(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex // of pages
	pages := map[string]string{"/": "<!doctype html><a href=/b>b</a><img src=/i.png>", "/b": "<!doctype html><a href=/>home</a><a href=/c>", "/c": "<!doctype html>c", "/i.png": "\x89PNG"}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		text, ok := pages[r.URL.Path]
		mu.Unlock()
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, text))
		http.ServeContent(w, r, r.URL.Path, time.Time{}, strings.NewReader(text))
	}))
	defer s.Close()
	host := strings.Replace(strings.TrimPrefix(s.URL, "http://"), ":", "_", 1)
	dir := t.TempDir()
	run := func(want int, args ...string) string {
		t.Helper()
		cmd, stderr := wefttest.Command(t, append([]string{"mirror"}, args...)...)
		cmd.Dir = dir
		if code := wefttest.ExitCode(cmd.Run()); code != want {
			t.Fatalf("weft mirror %q: exit %d: %s", args, code, stderr)
		}
		return stderr.String()
	}
	read := func(name string) string {
		b, _ := os.ReadFile(filepath.Join(dir, name))
		return string(b)
	}
	if said := run(wefttest.Limited, "--limit", "1", "-o", "copy", s.URL); !strings.Contains(said, "1 file, ") {
		t.Error(said)
	}
	if said := run(wefttest.Done, "-o", "copy", s.URL); !strings.Contains(said, "4 files, ") || !strings.Contains(said, filepath.Join("copy", host, "index.html")) {
		t.Error(said)
	}
	if said := run(wefttest.Misused, "-o", "copy", s.URL+"/b"); !strings.HasPrefix(said, "weft: copy holds another crawl (seeds: "+s.URL+"/, not "+s.URL+"/b)\n  weft mirror -o copy ") || !strings.Contains(said, "\n  -o copy-2 ") {
		t.Error(said)
	}
	if got := read("copy/" + host + "/index.html"); !strings.Contains(got, `<a href="b.html">b</a><img src="i.png">`) {
		t.Error(got)
	}
	mu.Lock()
	pages["/"] = `<!doctype html><a href=/b>b</a><p>changed`
	delete(pages, "/c")
	mu.Unlock()
	if said := run(wefttest.Done, "-o", "copy", s.URL); !strings.Contains(said, "4 files, ") || !strings.Contains(said, ": 1 written") || !strings.Contains(said, "1 file of pages that are gone") {
		t.Error(said)
	}
	if said := run(wefttest.Done, "-o", "copy", "--delete"); !strings.Contains(said, "3 files, ") || !strings.Contains(said, "1 removed") {
		t.Error(said)
	}
	if run(wefttest.Done, "-q", "--from", "copy/.weft/job", "-o", "other", "--windows"); read("other/"+host+"/b.html") != read("copy/"+host+"/b.html") {
		t.Error("the same job makes other files")
	}
	for range 2 { // made, and brought up to date
		if run(wefttest.Done, "-q", s.URL); read(host+"/index.html") == "" || read(host+"/"+host+"/index.html") != "" {
			t.Error("a mirror without -o: expected its pages right in its folder")
		}
	}
	run(wefttest.Done, "-q", "-o", host) // as its first run made it
	run(wefttest.Done, "-q", "-o", "copy")
	if read(host+"/b.html") == "" || read("copy/"+host+"/b.html") == "" {
		t.Error("files of a mirror have moved")
	}
	long := "/" + strings.Repeat("n", 3000)
	mu.Lock()
	pages["/long"], pages[long] = `<a href=`+long+`>`, "<p>long"
	mu.Unlock()
	run(wefttest.Done, "-q", "--assets", "scope", "-o", "scoped", s.URL+"/long")
	run(wefttest.Done, "-q", "-o", "scoped") // with the options that it has
	if found, _ := filepath.Glob(filepath.Join(dir, "scoped", host, "nnn*.html")); len(found) != 1 || len(filepath.Base(found[0])) > 255 {
		t.Errorf("a page with a long name: %q", found)
	}
	for i := range 2 { // a crawl that was killed before its first commit
		job := filepath.Join(dir, fmt.Sprint("killed", i), ".weft", "job")
		if err := os.MkdirAll(filepath.Join(job, "state"), 0o777); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			if err := os.WriteFile(filepath.Join(job, "pages.jsonl"), nil, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		run(wefttest.Misused, "-o", fmt.Sprint("killed", i))
		if said := run(wefttest.Done, "-o", fmt.Sprint("killed", i), s.URL); !strings.Contains(said, " 2 written") {
			t.Error(said)
		}
	}
	for _, args := range [][]string{{}, {"--from", "copy"}, {"--from", "copy/.weft/job", s.URL}, {"--from", "copy/.weft/job"}, {"copy"}, {"-o", "copy/.weft/files.jsonl", s.URL}, {"-o", "other"}} {
		if said := run(wefttest.Misused, args...); strings.Count(said, "\n") != 1 {
			t.Errorf("%q: %s", args, said)
		}
	}
}

// TestMirrorLinked: a crawl writes its job through no symbolic link in the folder, and waits for no
// pipe.
func TestMirrorLinked(t *testing.T) {
	t.Parallel()
	for _, link := range []string{".weft", ".weft/job", ".weft/job/pages.jsonl", ".weft/job/state/deep/er"} {
		dir, outside := t.TempDir(), t.TempDir()
		if link = filepath.Join(dir, link); os.MkdirAll(filepath.Dir(link), 0o777) != nil || os.Symlink(outside, link) != nil {
			t.Fatal(link)
		}
		cmd, stderr := wefttest.Command(t, "mirror", "-q", "-o", dir, "http://127.0.0.1:1/")
		if err := cmd.Run(); err == nil || !strings.Contains(stderr.String(), ": expected a f") {
			t.Errorf("%s: %v, %s", link, err, stderr)
		}
		if made, _ := os.ReadDir(outside); len(made) > 0 {
			t.Errorf("%s: %s is outside", link, made[0].Name())
		}
	}
	for _, pipe := range []string{".weft/files.jsonl", ".weft/job/lock"} {
		dir := t.TempDir()
		if pipe = filepath.Join(dir, pipe); os.MkdirAll(filepath.Dir(pipe), 0o777) != nil || syscall.Mkfifo(pipe, 0o666) != nil {
			t.Fatal(pipe)
		}
		cmd, stderr := wefttest.Command(t, "mirror", "-q", "-o", dir, "--limit", "1", "http://127.0.0.1:1/")
		if err := cmd.Run(); err == nil || !strings.HasSuffix(stderr.String(), ": expected a file\n") {
			t.Errorf("%s: %v, %s", pipe, err, stderr)
		}
	}
}
