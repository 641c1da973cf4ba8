package store_test

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/weburl"
)

func pages(s *store.Store, lines string) *store.Batch {
	g := s.Begin()
	g.Append("pages.jsonl", []byte(lines))
	return g
}

func TestOutputsAreCut(t *testing.T) {
	for _, test := range []struct {
		name string
		edit func(lines string) string
		want string // empty: the file is too short
	}{
		{"as committed", func(l string) string { return l }, "a\nb\n"},
		{"a batch that was not committed", func(l string) string { return l + "c\nd" }, "a\nb\n"},
		{"a byte lost", func(l string) string { return l[:len(l)-1] }, ""},
		{"emptied", func(string) string { return "" }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			fs := newFS(t)
			s := open(t, store.Options{FS: fs})
			commit(t, s, pages(s, "a\n"))
			commit(t, s, pages(s, "b\n"))
			shut(t, s)
			lines, err := fs.ReadFile("/job/pages.jsonl")
			if err != nil {
				t.Fatal(err)
			}
			if err := fs.WriteFile("/job/pages.jsonl", []byte(test.edit(string(lines)))); err != nil {
				t.Fatal(err)
			}
			s, err = store.Open("/job", store.Options{FS: fs, Outputs: outputs})
			if test.want == "" {
				var short *store.ShortError
				if !errors.Is(err, store.ErrShort) || !errors.As(err, &short) || short.Want != 4 {
					t.Fatalf("%v, want ErrShort", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			commit(t, s, pages(s, "e\n"))
			shut(t, s)
			if got, _ := fs.ReadFile("/job/pages.jsonl"); string(got) != test.want+"e\n" {
				t.Errorf("%q, want %q", got, test.want+"e\n")
			}
		})
	}
}

// TestOpen checks the error of a job that cannot be opened: its class, and a message of one line.
func TestOpen(t *testing.T) {
	whole := newFS(t)
	s := open(t, store.Options{FS: whole, Buffer: buffer})
	for seq := range uint64(200) { // enough for tables
		g := pages(s, "line\n")
		u, err := weburl.Parse(fmt.Sprintf("http://h.test/%d", seq))
		if err != nil {
			t.Fatal(err)
		}
		g.Pending(frontier.URL{URL: u, Seq: seq + 1, From: strings.Repeat("x", 400)})
		commit(t, s, g)
	}
	shut(t, s)
	for _, test := range []struct {
		name string
		edit func(t *testing.T, fs *storetest.FS)
		is   error
		want string // in the message
	}{
		{"an output is missing", func(t *testing.T, fs *storetest.FS) { remove(t, fs, "/job/pages.jsonl") }, store.ErrShort, "missing or empty, expected the"},
		{"no manifest marker", func(t *testing.T, fs *storetest.FS) { remove(t, fs, find(t, fs, "marker.manifest")) }, store.ErrDamaged, "no manifest"},
		{"no manifest", func(t *testing.T, fs *storetest.FS) { remove(t, fs, find(t, fs, "/MANIFEST")) }, store.ErrDamaged, "MANIFEST"},
		{"no table", func(t *testing.T, fs *storetest.FS) { remove(t, fs, table(t, fs)) }, store.ErrDamaged, "sstable"},
		{"no state", func(t *testing.T, fs *storetest.FS) {
			if err := fs.RemoveAll("/job/state"); err != nil {
				t.Fatal(err)
			}
		}, store.ErrDamaged, "pages.jsonl is"},
		{"half a manifest", func(t *testing.T, fs *storetest.FS) { edit(t, fs, find(t, fs, "/MANIFEST"), half) }, store.ErrDamaged, ""},
		{"half a table", func(t *testing.T, fs *storetest.FS) { edit(t, fs, table(t, fs), half) }, store.ErrDamaged, ".sst"},
		{"a table of zeros", func(t *testing.T, fs *storetest.FS) { edit(t, fs, table(t, fs), zero) }, store.ErrDamaged, ""},
		{"an altered table", func(t *testing.T, fs *storetest.FS) { edit(t, fs, table(t, fs), flip) }, store.ErrDamaged, ""},
		{"written by a newer Pebble", func(t *testing.T, fs *storetest.FS) {
			if err := fs.Rename(find(t, fs, "marker.format"), "/job/state/marker.format-version.000099.999"); err != nil {
				t.Fatal(err)
			}
		}, store.ErrVersion, "newer version"},
	} {
		t.Run(test.name, func(t *testing.T) {
			fs := whole.Crash(100, rand.New(rand.NewPCG(1, 1)))
			test.edit(t, fs)
			_, err := look(fs)
			if !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v\nwant a line with %q that is %v", err, test.want, test.is)
			}
		})
	}
}

// look opens the job and reads all of it.
func look(fs *storetest.FS) (string, error) {
	s, err := store.Open("/job", store.Options{FS: fs, Outputs: outputs})
	if err != nil {
		return "", err
	}
	all, err := dumped(s)
	return all, errors.Join(err, s.Close())
}

func find(t *testing.T, fs *storetest.FS, part string) string {
	t.Helper()
	names, err := fs.List("/job/state")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if path := "/job/state/" + name; strings.Contains(path, part) {
			return path
		}
	}
	t.Fatalf("no %s among %v", part, names)
	return ""
}

// table returns the largest table, so that reading the job reads it.
func table(t *testing.T, fs *storetest.FS) string {
	t.Helper()
	names, err := fs.List("/job/state")
	if err != nil {
		t.Fatal(err)
	}
	largest, most := "", int64(0)
	for _, name := range names {
		path := "/job/state/" + name
		if info, err := fs.Stat(path); err == nil && strings.HasSuffix(name, ".sst") && info.Size() > most {
			largest, most = path, info.Size()
		}
	}
	if largest == "" {
		t.Fatalf("no table among %v", names)
	}
	return largest
}

func remove(t *testing.T, fs *storetest.FS, path string) {
	t.Helper()
	if err := fs.Remove(path); err != nil {
		t.Fatal(err)
	}
}

func edit(t *testing.T, fs *storetest.FS, path string, edit func([]byte) []byte) {
	t.Helper()
	data, err := fs.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := fs.WriteFile(path, edit(data)); err != nil {
		t.Fatal(err)
	}
}

func half(b []byte) []byte { return b[:len(b)/2] }
func zero(b []byte) []byte { return make([]byte, len(b)) }
func flip(b []byte) []byte {
	for i := 100; i < len(b)/2; i += 1000 {
		b[i] ^= 0x40
	}
	return b
}

// TestDamage alters each file of the state. The job then opens intact or reports its damage; it
// never panics, hangs, loses batches or invents content.
func TestDamage(t *testing.T) {
	h := newHistory(t)
	whole := newFS(t)
	if _, err := h.play(whole, store.Options{}, nil); err != nil {
		t.Fatal(err)
	}
	names, err := whole.List("/job/state")
	if err != nil {
		t.Fatal(err)
	}
	opened, damaged, positions := 0, 0, long.Or(4, 8)
	for _, name := range names {
		if name == "part" {
			continue // a folder
		}
		data, err := whole.ReadFile("/job/state/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for at := range positions {
			for kind, alter := range map[string]func([]byte) []byte{
				"cut":  func(b []byte) []byte { return b[:len(b)*at/positions] },
				"flip": func(b []byte) []byte { b[len(b)*at/positions] ^= 1 << at; return b },
			} {
				if len(data) == 0 {
					continue
				}
				fs := whole.Crash(100, rand.New(rand.NewPCG(1, 1)))
				edit(t, fs, "/job/state/"+name, alter)
				what := fmt.Sprintf("%s at %d of %d of %s", kind, at, positions, name)
				var got string
				within(t, what, func() { got, err = look(fs) })
				switch {
				case err == nil && got == h.dumps[len(h.sizes)]:
					opened++
				case err == nil && slices.Contains(h.dumps, got):
					t.Errorf("%s: the store has lost batches without an error", what)
				case err == nil:
					t.Errorf("%s: the store holds invented content", what)
				case errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrShort), errors.Is(err, store.ErrVersion):
					damaged++
				default:
					t.Errorf("%s: %v", what, err)
				}
			}
		}
	}
	t.Logf("%d files, %d alterations found, %d not", len(names), damaged, opened)
}

// TestDamageWhileRunning checks that commits fail once a compaction cannot read a table, and that
// Pebble does not retry it forever.
func TestDamageWhileRunning(t *testing.T) {
	fs := newFS(t)
	seq := uint64(0)
	fill := func(s *store.Store, batches int) error {
		for range batches {
			g := s.Begin()
			for range 10 {
				seq++
				u, err := weburl.Parse(fmt.Sprintf("http://h.test/%d", seq))
				if err != nil {
					return err
				}
				g.Pending(frontier.URL{URL: u, Seq: seq, From: strings.Repeat("x", 400)})
			}
			if err := s.Commit(g); err != nil {
				return err
			}
		}
		return nil
	}
	s := open(t, store.Options{FS: fs, Buffer: buffer})
	if err := fill(s, 100); err != nil {
		t.Fatal(err)
	}
	shut(t, s)
	names, err := fs.List("/job/state")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".sst") {
			edit(t, fs, "/job/state/"+name, flip)
		}
	}
	within(t, "commits", func() {
		s, err := store.Open("/job", store.Options{FS: fs, Buffer: buffer})
		if err == nil {
			err = fill(s, 1000)
		}
		if !errors.Is(err, store.ErrDamaged) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want ErrDamaged in one line", err)
		}
		if s != nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// TestVersion checks that Open rejects a state of another format.
func TestVersion(t *testing.T) {
	fs := newFS(t)
	s := open(t, store.Options{FS: fs})
	commit(t, s, pages(s, "a\n"))
	store.SetFormat(t, s, 7)
	shut(t, s)
	_, err := store.Open("/job", store.Options{FS: fs, Outputs: outputs})
	var version *store.VersionError
	if !errors.As(err, &version) || !errors.Is(err, store.ErrVersion) || version.Found != 7 || version.Known != 5 {
		t.Errorf("%v, want a VersionError", err)
	}
}

func TestReadOnly(t *testing.T) {
	fsys := newFS(t)
	if _, err := store.Open("/job", store.Options{FS: fsys, ReadOnly: true}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no job: %v, want fs.ErrNotExist", err)
	}
	s := open(t, store.Options{FS: fsys})
	commit(t, s, pages(s, "a\n"))
	shut(t, s)
	if err := fsys.WriteFile("/job/pages.jsonl", []byte("a\nuncommitted")); err != nil {
		t.Fatal(err)
	}
	fsys.Before(func(op storetest.Op, path string) error {
		if !strings.HasSuffix(path, "LOCK") {
			t.Errorf("%s %s", op, path)
		}
		return nil
	})
	s = open(t, store.Options{FS: fsys, ReadOnly: true})
	if _, err := dumped(s); err != nil {
		t.Error(err)
	}
	if err := s.Commit(pages(s, "b\n")); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Commit: %v, want ErrReadOnly", err)
	}
	shut(t, s)
	if lines, err := fsys.ReadFile("/job/pages.jsonl"); err != nil || string(lines) != "a\nuncommitted" {
		t.Errorf("%q, %v", lines, err)
	}
}

// TestLock checks that the job of an open store cannot be opened again, by this process or another,
// until the store is closed or its process ends.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	if os.Getenv("WEFT_LOCK") != "" {
		s, err := store.Open(os.Getenv("WEFT_LOCK"), store.Options{})
		fmt.Println("opened", err)
		bufio.NewReader(os.Stdin).ReadByte() // until it is killed
		runtime.KeepAlive(s)                 // its lock ends with its file
		return
	}
	s, err := store.Open(dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(dir, store.Options{}); !errors.Is(err, store.ErrLocked) {
		t.Errorf("twice in one process: %v, want ErrLocked", err)
	}
	shut(t, s)

	child := exec.Command(os.Args[0], "-test.run=^TestLock$")
	child.Env = append(os.Environ(), "WEFT_LOCK="+dir)
	stdin, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "opened <nil>\n" {
		t.Fatalf("%q, %v", line, err)
	}
	for _, readOnly := range []bool{false, true} {
		_, err := store.Open(dir, store.Options{ReadOnly: readOnly})
		if !errors.Is(err, store.ErrLocked) || !strings.Contains(err.Error(), dir) {
			t.Errorf("open in another process: %v, want ErrLocked", err)
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed
	s, err = store.Open(dir, store.Options{})
	if err != nil {
		t.Fatalf("after the other process was killed: %v", err)
	}
	shut(t, s)
}

// TestDisk checks the main operations on a real file system.
func TestDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "job")
	o := store.Options{Outputs: outputs}
	s, err := store.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	g := pages(s, "a\n")
	for range 2 { // the second call finds the file there
		if err := s.WriteFile("bodies/ab/abcd", []byte("body"), false); err != nil {
			t.Fatal(err)
		}
	}
	g.SyncDir("bodies/ab")
	commit(t, s, g)
	shut(t, s)
	path := filepath.Join(dir, "pages.jsonl")
	if err := os.WriteFile(path, []byte("a\ntorn"), 0o666); err != nil {
		t.Fatal(err)
	}
	if s, err = store.Open(dir, o); err != nil {
		t.Fatal(err)
	}
	commit(t, s, pages(s, "b\n"))
	shut(t, s)
	for name, want := range map[string]string{"pages.jsonl": "a\nb\n", "links.jsonl": "", "bodies/ab/abcd": "body"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want)
		}
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(names) != 4 {
		t.Errorf("%v, %v", names, err)
	}
	if err := os.Truncate(path, 1); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(dir, o); !errors.Is(err, store.ErrShort) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v, want ErrShort", err)
	}
}

// TestNoGoroutineLeaks checks that closing a store ends its goroutines.
func TestNoGoroutineLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 5 {
		s := open(t, store.Options{FS: newFS(t)})
		commit(t, s, pages(s, "a\n"))
		shut(t, s)
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

// TestClosed checks that the methods of a closed store return ErrClosed.
func TestClosed(t *testing.T) {
	s := open(t, store.Options{FS: newFS(t)})
	g := pages(s, "a\n")
	shut(t, s)
	if err := s.Commit(g); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Commit: %v", err)
	}
	if _, err := s.Get("x"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Get: %v", err)
	}
	shut(t, s)
}
