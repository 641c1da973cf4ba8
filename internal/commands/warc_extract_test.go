package commands_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/wefttest"
	"github.com/weftcrawl/weft/warc"
)

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
	add("parts", "200 OK\r\nTransfer-Encoding: chunked", "5\r\nparts\r\n0\r\n\r\n")
	add("whole", "200 OK\r\nTransfer-Encoding: chunked", "whole")

	cmd, stderr := wefttest.Command(t, "warc", "extract", "a.warc.gz", "-o", "site")
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
	if code := wefttest.ExitCode(err); code != wefttest.Failed || strings.Count(stderr.String(), "\n") != 2 {
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
	want := []string{"A~20261122120006: capital", "a: a file", "a~/b: below it", "index.html: start", "index~20261122120003.html: changed", "odd: odd", "out~/x: through ", "parts: parts", "whole: whole"}
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
		if e.Code != wefttest.Done || c.want != "" && e.Stdout != c.want {
			t.Errorf("%s: exit %d: %s%s", c.arg, e.Code, e.Stdout, e.Stderr)
		}
		if b, err := os.ReadFile(filepath.Join(e.Dir, "example.org/lost")); c.want == "" && (err != nil || string(b) != "lost") {
			t.Errorf("%s: %v", c.arg, err)
		}
	}
	if e := weftAmong(t, files, "warc", "extract", "a.warc.gz", "--offset", "0", "--raw"); e.Stdout != gzipped(t, "start") {
		t.Errorf("exit %d: %q", e.Code, e.Stdout)
	}
}

// TestWarcExtractBomb: a body ends that is out of proportion to its payload, and all do when they
// are out of proportion to the file.
func TestWarcExtractBomb(t *testing.T) {
	t.Parallel()
	member := gzipped(t, strings.Repeat("\x00", 1<<20))
	packed := gzipped(t, strings.Repeat(member, 100))
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip, gzip\r\n\r\n"
	file := func(n int) (b []byte) {
		e := warc.NewEncoder(warc.Options{})
		for i := range n {
			b, _ = e.Exchange(b, &warc.Exchange{URL: fmt.Sprint("https://example.org/", i), Date: time.Unix(0, 0), Response: []byte(head + packed)})
		}
		return b
	}
	size := func(dir string) (n int64) {
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if info, err := d.Info(); err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".gz") {
				n += info.Size()
			}
			return err
		})
		return n
	}
	e := weftAmong(t, map[string][]byte{"one.warc.gz": file(1)}, "warc", "extract", "one.warc.gz")
	if n := size(e.Dir); e.Code != wefttest.Failed || n < 60<<20 || n > 70<<20 || !strings.Contains(e.Stderr, "one.warc.gz: offset 0: a payload of ") {
		t.Errorf("exit %d, %d bytes: %s", e.Code, n, e.Stderr)
	}
	e = weftAmong(t, map[string][]byte{"many.warc.gz": file(9)}, "warc", "extract", "many.warc.gz")
	if n := size(e.Dir); e.Code != wefttest.Failed || n < 200<<20 || n > 280<<20 || !strings.HasSuffix(e.Stderr, ": the bodies have more than 268 MB in all: --max-size allows more\n") {
		t.Errorf("exit %d, %d bytes: %s", e.Code, n, e.Stderr)
	}
	e = weftAmong(t, map[string][]byte{"many.warc.gz": file(9)}, "warc", "extract", "--max-size", "1MB", "many.warc.gz")
	if n := size(e.Dir); e.Code != wefttest.Failed || n > 2<<20 || !strings.Contains(e.Stderr, "more than 1.0 MB in all") {
		t.Errorf("exit %d, %d bytes: %s", e.Code, n, e.Stderr)
	}
}
