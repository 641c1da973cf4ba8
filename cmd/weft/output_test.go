package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestOutputResumed: a resumed job appends its records to whole lines.
func TestOutputResumed(t *testing.T) {
	long := strings.Repeat("x", 200_000)
	for name, c := range map[string]struct{ was, want string }{
		"whole":            {"a\nb\n", "a\nb\n"},
		"empty":            {"", ""},
		"torn":             {"a\nb\nhalf", "a\nb\n"},
		"torn, long":       {"a\n" + long, "a\n"},
		"torn, after long": {long + "\n" + "half", long + "\n"},
		"zeros":            {"a\n\x00\x00\x00", "a\n"},
		"no line":          {"half", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(path, []byte(c.was), 0o666); err != nil {
				t.Fatal(err)
			}
			out, err := openOutput(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := out.open(true); err != nil {
				t.Fatal(err)
			}
			if _, err := out.Write([]byte("new\n")); err != nil {
				t.Fatal(err)
			}
			if err := out.close(); err != nil {
				t.Fatal(err)
			}
			if b, err := os.ReadFile(path); err != nil || string(b) != c.want+"new\n" {
				t.Errorf("it ends with %.40q (%d bytes), %v; expected %.40q and the new line", b[max(0, len(b)-20):], len(b), err, c.want)
			}
		})
	}
}

// TestHeader: a file of CSV begins with the names of its fields whenever it is begun: when it has
// been moved away between two runs, emptied, or opened again; and a disk that has no room for that
// line loses no record.
func TestHeader(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, wefttest.Star)
	args := []string{"crawl", "--job", "job", "-o", "out.csv", "--fields", "url,status", "-c", "1", "--retries", "0", s.URL}
	e := weftRun(t, append(args, "--limit", "1")...)
	for i, change := range []func(path string) error{os.Remove, func(path string) error { return os.Truncate(path, 0) }} {
		if err := change(filepath.Join(e.dir, "out.csv")); err != nil {
			t.Fatal(err)
		}
		weftIn(t, e.dir, append(args, "--limit", fmt.Sprint(2+i))...)
		if got, _ := os.ReadFile(filepath.Join(e.dir, "out.csv")); !strings.HasPrefix(string(got), "url,status\nhttp") || strings.Count(string(got), "\n") != 2 {
			t.Errorf("%q", got)
		}
	}
	path := filepath.Join(t.TempDir(), "out.csv")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &regular{file: f, header: []byte("url\n")}
	if n, err := r.Write([]byte("url\na\n")); n != 6 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.settled(); err != nil {
		t.Fatal(err)
	}
	if err := r.hangUp(); err == nil { // and does not wait for who reads it
		t.Error("a pipe in the place of the file is written to")
	}
	if n, err := r.Write([]byte("b\n")); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if n, err := r.Write([]byte("c\n")); n != 2 || err != nil { // which opens it at last
		t.Errorf("%d, %v", n, err)
	}
	old, _ := os.ReadFile(path + ".1")
	now, _ := os.ReadFile(path)
	if string(old) != "url\na\nb\n" || string(now) != "url\nc\n" {
		t.Errorf("%q, then %q", old, now)
	}
}
