package store_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/frontier/store"
)

// oneBatch makes a job on the disk with one line in pages.jsonl.
func oneBatch(t *testing.T, dir string) {
	t.Helper()
	s, err := store.Open(dir, store.Options{Outputs: []string{"pages.jsonl"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(pages(s, "a\n")); err != nil {
		t.Fatal(err)
	}
	shut(t, s)
}

// TestForeignJob: a job from elsewhere may have anything in the place of a file. Opening it neither
// waits nor touches a file of this machine.
func TestForeignJob(t *testing.T) {
	model := filepath.Join(t.TempDir(), "job")
	oneBatch(t, model)
	entries, err := os.ReadDir(filepath.Join(model, "state"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"pages.jsonl", "state"}
	for _, e := range entries {
		names = append(names, "state/"+e.Name())
	}
	if !slices.Contains(names, "state/LOCK") || len(names) < 7 {
		t.Fatalf("a job has %v", names)
	}
	elsewhere := t.TempDir()
	precious := filepath.Join(elsewhere, "precious")
	for kind, place := range map[string]func(path string) error{
		"a device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a file of this machine": func(path string) error {
			return errors.Join(os.WriteFile(precious, []byte("precious"), 0o600), os.Symlink(precious, path))
		},
		"a folder of this machine": func(path string) error { return os.Symlink(elsewhere, path) },
		"nothing":                  func(path string) error { return os.Symlink(filepath.Join(elsewhere, "new"), path) },
	} {
		for _, name := range names {
			for _, readOnly := range []bool{true, false} {
				dir := filepath.Join(t.TempDir(), "job")
				err := os.CopyFS(dir, os.DirFS(model))
				path := filepath.Join(dir, name)
				if err := errors.Join(err, os.RemoveAll(path), place(path)); err != nil {
					t.Fatal(err)
				}
				s, err := store.Open(dir, store.Options{Outputs: []string{"pages.jsonl"}, ReadOnly: readOnly})
				if err == nil {
					if !readOnly {
						err = s.Commit(pages(s, "b\n"))
					}
					_ = s.Close()
				}
				if err == nil && !readOnly && name == "pages.jsonl" {
					t.Errorf("%s is %s: no error", name, kind)
				}
				if left, _ := os.ReadDir(elsewhere); len(left) > 1 || len(left) == 1 && left[0].Name() != "precious" {
					t.Errorf("%s is %s: made %v", name, kind, left)
				}
				if b, err := os.ReadFile(precious); err == nil && string(b) != "precious" {
					t.Errorf("%s is %s: that is now %q", name, kind, b)
				}
			}
		}
	}
}

// TestForeignHoles: a file of the state that is read as a whole may have holes of any size.
func TestForeignHoles(t *testing.T) {
	for _, pattern := range []string{"OPTIONS-*", "clearing"} {
		dir := t.TempDir()
		oneBatch(t, dir)
		path := filepath.Join(dir, "state", pattern)
		if found, _ := filepath.Glob(path); len(found) > 0 {
			path = found[0]
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		if err := errors.Join(err, f.Truncate(1<<40), f.Close()); err != nil {
			t.Fatal(err)
		}
		for _, readOnly := range []bool{true, false} {
			_, err := store.Open(dir, store.Options{Outputs: []string{"pages.jsonl"}, ReadOnly: readOnly})
			if err == nil || !strings.Contains(err.Error(), "longer than 1048576 bytes") {
				t.Errorf("%s, read-only %v: %v", pattern, readOnly, err)
			}
		}
	}
}

// TestForeignFolders: where a job has a folder, a job from elsewhere may have a link to one of this
// machine. Nothing is made or removed there.
func TestForeignFolders(t *testing.T) {
	for name, open := range map[string]func(s *store.Store) error{
		"archive": func(s *store.Store) error {
			b := s.Begin()
			b.Append("archive/1.warc", []byte("1"))
			return s.Commit(b)
		},
		"bodies": func(s *store.Store) error { return s.WriteFile("bodies/aa/aa", []byte("body"), false) },
	} {
		for _, fresh := range []bool{false, true} {
			dir, elsewhere := filepath.Join(t.TempDir(), "job"), t.TempDir()
			oneBatch(t, dir)
			precious := filepath.Join(elsewhere, "captures.cdxj")
			if err := errors.Join(os.WriteFile(precious, nil, 0o600), os.Symlink(elsewhere, filepath.Join(dir, name))); err != nil {
				t.Fatal(err)
			}
			o := store.Options{Outputs: []string{"pages.jsonl", "archive/captures.cdxj"}, Series: "archive", Fresh: fresh, Clear: []string{"archive", "bodies"}}
			s, err := store.Open(dir, o)
			if err == nil {
				err = open(s)
				_ = s.Close()
			}
			if !fresh && (err == nil || !strings.Contains(err.Error(), name+": no folder")) || fresh && err != nil {
				t.Errorf("%s, fresh %v: %v", name, fresh, err)
			}
			if left, err := os.ReadDir(elsewhere); err != nil || len(left) != 1 || left[0].Name() != filepath.Base(precious) {
				t.Errorf("%s, fresh %v: %v, %v", name, fresh, left, err)
			}
		}
	}
}

// TestForeignClearing: the list of what a killed run has left to remove names outputs only.
func TestForeignClearing(t *testing.T) {
	for _, text := range []string{"../precious", "pages.jsonl\n../precious", "/etc/none", ".", "state", "archive/precious", "", "a/../../precious"} {
		dir := t.TempDir()
		job, precious := filepath.Join(dir, "job"), filepath.Join(dir, "precious")
		oneBatch(t, job)
		err := errors.Join(os.WriteFile(precious, nil, 0o600), os.Symlink("..", filepath.Join(job, "archive")),
			os.WriteFile(filepath.Join(job, "state/clearing"), []byte(text), 0o600))
		if err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(job, store.Options{Outputs: []string{"pages.jsonl"}})
		if text != "" && !errors.Is(err, store.ErrDamaged) {
			t.Errorf("%q: %v, expected %v", text, err, store.ErrDamaged)
		}
		if err == nil {
			shut(t, s)
		}
		if _, err := os.Stat(precious); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestMovedJob: a job whose folder is renamed while it is open has all that was committed, and
// nothing is made under its old name, whoever has that now.
func TestMovedJob(t *testing.T) {
	for name, replace := range map[string]func(old, new string) error{
		"renamed":              func(old, new string) error { return nil },
		"replaced by a copy":   func(old, new string) error { return os.CopyFS(old, os.DirFS(new)) },
		"replaced by a folder": func(old, new string) error { return os.Mkdir(old, 0o777) },
		"replaced by a link":   func(old, new string) error { return os.Symlink(filepath.Dir(new), old) },
	} {
		for what, write := range map[string]func(s *store.Store) error{
			"an archive": func(s *store.Store) error {
				b := s.Begin()
				b.Append("archive/2.warc", []byte("2"))
				return s.Commit(b)
			},
			"the end of an archive": func(s *store.Store) error {
				b := s.Begin()
				b.Append("archive/1.warc", []byte("2"))
				b.End("archive/1.warc")
				return s.Commit(b)
			},
			"a body":       func(s *store.Store) error { return s.WriteFile("bodies/aa/aa", []byte("body"), false) },
			"many changes": func(s *store.Store) error { return fillUp(s) },
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				dir := t.TempDir()
				old, now := filepath.Join(dir, "old"), filepath.Join(dir, "deeper", "new")
				o := store.Options{Outputs: []string{"pages.jsonl"}, Series: "archive", Buffer: 64 << 10}
				s, err := store.Open(old, o)
				if err != nil {
					t.Fatal(err)
				}
				b := pages(s, "a\n")
				b.Append("archive/1.warc", []byte("1"))
				if err := errors.Join(s.Commit(b), os.Mkdir(filepath.Dir(now), 0o777), os.Rename(old, now), replace(old, now)); err != nil {
					t.Fatal(err)
				}
				before := listed(t, old)
				if err := write(s); !errors.Is(err, store.ErrMoved) {
					t.Errorf("%v, expected %v", err, store.ErrMoved)
				}
				_ = s.Close() // it has failed
				if after := listed(t, old); after != before {
					t.Errorf("under the old name:\n%s\nexpected\n%s", after, before)
				}
				s, err = store.Open(now, o)
				if err != nil {
					t.Fatal(err)
				}
				shut(t, s)
				if b, err := os.ReadFile(filepath.Join(now, "pages.jsonl")); !bytes.HasPrefix(b, []byte("a\n")) {
					t.Errorf("%q, %v", b, err)
				}
			})
		}
	}
}

// fillUp commits until the state needs a new file.
func fillUp(s *store.Store) error {
	for range 1000 {
		b := s.Begin()
		b.Set("note", bytes.Repeat([]byte("x"), 10_000))
		if err := s.Commit(b); err != nil {
			return err
		}
	}
	return nil
}

func listed(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil {
			all = append(all, path)
		}
		return nil
	})
	return strings.Join(all, "\n")
}

// TestSharedLock: several may read a job at once, in one process and in others, and nobody writes
// meanwhile; while one writes, nobody reads.
func TestSharedLock(t *testing.T) {
	if dir := os.Getenv("WEFT_SHARED_LOCK"); dir != "" {
		for _, readOnly := range []bool{true, false} {
			s, err := store.Open(dir, store.Options{ReadOnly: readOnly})
			if err == nil {
				err = s.Close()
			}
			if readOnly && err != nil || !readOnly && !errors.Is(err, store.ErrLocked) {
				t.Errorf("read only: %t: %v", readOnly, err)
			}
		}
		return
	}
	dir := t.TempDir()
	oneBatch(t, dir)
	var readers []*store.Store
	for range 2 {
		s, err := store.Open(dir, store.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		readers = append(readers, s)
	}
	shut(t, readers[0]) // which leaves the other's lock
	if _, err := store.Open(dir, store.Options{}); !errors.Is(err, store.ErrLocked) {
		t.Errorf("written while it is read: %v, expected %v", err, store.ErrLocked)
	}
	child := exec.Command("/proc/self/exe", "-test.run=^TestSharedLock$")
	child.Env = append(os.Environ(), "WEFT_SHARED_LOCK="+dir)
	if out, err := child.CombinedOutput(); err != nil {
		t.Errorf("another process: %v\n%s", err, out)
	}
	shut(t, readers[1])
	s, err := store.Open(dir, store.Options{Outputs: []string{"pages.jsonl"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Open(dir, store.Options{ReadOnly: true}); !errors.Is(err, store.ErrLocked) {
		t.Errorf("read while it is written: %v, expected %v", err, store.ErrLocked)
	}
	shut(t, s)
}

// TestReadWithoutDescriptors: a store that is only read does not wait for a descriptor.
func TestReadWithoutDescriptors(t *testing.T) {
	dir := t.TempDir()
	oneBatch(t, dir)
	fs := &noDescriptors{FS: store.Disk}
	fs.refuse.Store(1 << 30)
	if _, err := store.Open(dir, store.Options{ReadOnly: true, FS: fs}); !store.NoDescriptor(err) {
		t.Errorf("%v, expected %v", err, syscall.EMFILE)
	}
}
