package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// text returns a function that writes a text.
func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

// half writes something, and fails.
func half(w io.Writer) error {
	io.WriteString(w, strings.Repeat("half", 100_000))
	return io.ErrUnexpectedEOF
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWrite: a file is replaced when the new one is whole, and has the mode that it had; a link
// stays a link.
func TestWrite(t *testing.T) {
	for _, c := range []struct {
		name, path string
		made       []string // in order: a file with its text, or a link with where it leads
		want       string   // the file that is written
		mode       fs.FileMode
	}{
		{name: "a new file", path: "new", want: "new", mode: 0o600},
		{name: "an old file", path: "old", made: []string{"old"}, want: "old", mode: 0o604},
		{name: "a link to a file", path: "link", made: []string{"old", "link>old"}, want: "old", mode: 0o604},
		{name: "a link to a link", path: "far", made: []string{"old", "link>old", "far>link"}, want: "old", mode: 0o604},
		{name: "a link to no file", path: "link", made: []string{"link>none"}, want: "none", mode: 0o600},
		{name: "a link through a folder that is one", path: "to/link", made: []string{"deep/er/link>../none", "to>deep/er"}, want: "deep/none", mode: 0o600},
		{name: "a name as long as they may be", path: strings.Repeat("n", 255), want: strings.Repeat("n", 255), mode: 0o600},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, name := range c.made {
				name, to, isLink := strings.Cut(name, ">")
				path := filepath.Join(dir, name)
				err := os.MkdirAll(filepath.Dir(path), 0o777)
				if isLink {
					err = errors.Join(err, os.Symlink(to, path))
				} else {
					err = errors.Join(err, os.WriteFile(path, []byte("old"), 0o666), os.Chmod(path, 0o604))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			path, want := filepath.Join(dir, c.path), filepath.Join(dir, c.want)
			before := names(t, dir)
			_, had := os.Lstat(want)
			if err := Write(path, 0o600, half); err != io.ErrUnexpectedEOF {
				t.Error(err)
			}
			if after := names(t, dir); after != before {
				t.Errorf("after half a file: %s, expected %s", after, before)
			}
			if had == nil && content(t, want) != "old" {
				t.Errorf("after half a file: %q", content(t, want))
			}
			if err := Write(path, 0o600, text("new")); err != nil {
				t.Fatal(err)
			}
			info, err := os.Lstat(want)
			if err != nil || info.Mode() != c.mode || content(t, path) != "new" {
				t.Errorf("%v, %v, %q", info, err, content(t, path))
			}
			if link, err := os.Lstat(path); path != want && (err != nil || c.path != "to/link" && link.Mode()&fs.ModeSymlink == 0) {
				t.Errorf("the link: %v, %v", link, err)
			}
		})
	}
}

// names lists the files below a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, strings.TrimPrefix(path, dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(all, " ")
}

// TestWritePipe: a pipe stays one, and its reader gets the text.
func TestWritePipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	read := make(chan string)
	go func() {
		b, _ := os.ReadFile(pipe)
		read <- string(b)
	}()
	if err := Write(pipe, 0o666, text("new")); err != nil || <-read != "new" {
		t.Error(err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode()&fs.ModeNamedPipe == 0 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestWriteError: an error has the path that was asked for.
func TestWriteError(t *testing.T) {
	dir := t.TempDir()
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink("loop", loop); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		filepath.Join(dir, "none", "file"): fs.ErrNotExist,
		dir:                                syscall.EISDIR,
		loop:                               syscall.ELOOP,
		"/dev/full":                        syscall.ENOSPC,
	} {
		err := Write(path, 0o666, text("new"))
		if of, ok := errors.AsType[*fs.PathError](err); !errors.Is(err, want) || !ok || of.Path != path {
			t.Errorf("%s: %v, expected %v", path, err, want)
		}
	}
}

// TestRemoveStale: what a killed process has left goes, at the next write to the folder. A file
// that is being written stays, as does any that is not ours.
func TestRemoveStale(t *testing.T) {
	dir := t.TempDir()
	kept := []string{
		"site.wacz.part", "site.wacz.part-1234567890", "data.part-1", ".weft.part", ".weft-.part", ".weft-0123456789abcde.part",
		".weft-0123456789abcdef", ".weft-0123456789abcdeg.part", "a.weft-0123456789abcdef.part", ".weft-sort-0123456789abcdef",
	}
	folder := filepath.Join(dir, ".weft-00000000000000ff.part")
	link, pipe := filepath.Join(dir, ".weft-00000000000000fe.part"), filepath.Join(dir, ".weft-00000000000000fd.part")
	err := errors.Join(os.Mkdir(folder, 0o777), os.Symlink("data.part-1", link), syscall.Mkfifo(pipe, 0o600))
	for _, name := range append([]string{".weft-0123456789abcdef.part", ".weft-ffffffffffffffff.part"}, kept...) {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
	err = Write(filepath.Join(dir, "a"), 0o666, func(io.Writer) error { // two at once
		return Write(filepath.Join(dir, "b"), 0o666, text("whole"))
	})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	left := make(map[string]bool)
	for _, e := range entries {
		left[e.Name()] = true
	}
	for _, name := range append(kept, "a", "b", filepath.Base(folder), filepath.Base(link), filepath.Base(pipe)) {
		if !left[name] {
			t.Errorf("%s is gone", name)
		}
		delete(left, name)
	}
	if len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
