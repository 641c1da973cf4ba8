package cdxj

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/extsort"
)

// TestUpdate makes the index of a job from the committed part of its captures, and again when that
// has grown.
func TestUpdate(t *testing.T) {
	dir := t.TempDir()
	captures, index := filepath.Join(dir, CapturesFile), filepath.Join(dir, IndexFile)
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(captures, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(committed int64, want string) {
		t.Helper()
		if err := Update(dir, committed); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(index); string(got) != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	write("b\nc\na\nnot committed\nha")
	expect(6, "a\nb\nc\n")
	expect(All, "a\nb\nc\nnot committed\n")

	expect(6, "a\nb\nc\n")
	made, _ := os.Stat(index)
	expect(6, "a\nb\nc\n")
	if again, _ := os.Stat(index); !os.SameFile(made, again) {
		t.Error("an index that was up to date was made again")
	}
	write("b\nc\nA\n")
	soon := made.ModTime().Add(time.Second)
	os.Chtimes(captures, soon, soon)
	expect(6, "A\nb\nc\n")

	if err := Update(dir, 7); err == nil || !strings.Contains(err.Error(), "has 6 bytes, expected 7") {
		t.Error(err)
	}
	write("a\n" + strings.Repeat("b", extsort.MaxLine+1) + "\n")
	if err := Update(dir, All); err == nil || !strings.Contains(err.Error(), "offset 2: line longer than") {
		t.Error(err)
	}
	if got, _ := os.ReadFile(index); !bytes.Equal(got, []byte("A\nb\nc\n")) {
		t.Errorf("a failure left %q", got)
	}
	if left, _ := os.ReadDir(dir); len(left) != 2 {
		t.Errorf("the folder has %v", left)
	}
}

// TestUpdateLink: an archive that is a link is another job's, and its index is left alone.
func TestUpdateLink(t *testing.T) {
	elsewhere, archive := t.TempDir(), filepath.Join(t.TempDir(), "archive")
	err := errors.Join(os.WriteFile(filepath.Join(elsewhere, CapturesFile), []byte("b\na\n"), 0o600), os.Symlink(elsewhere, archive))
	if err != nil {
		t.Fatal(err)
	}
	if err := Update(archive, All); err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(elsewhere, IndexFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
