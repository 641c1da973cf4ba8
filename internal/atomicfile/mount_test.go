//go:build linux

package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/mounts"
)

// TestWriteFullDisk: a full disk leaves the old file whole, also where killed processes have left
// theirs; those go before the new one is written.
func TestWriteFullDisk(t *testing.T) {
	if !mounts.Inside(t) {
		return
	}
	dir := t.TempDir()
	mounts.Small(t, dir, "256k")
	file, left := filepath.Join(dir, "site.wacz"), filepath.Join(dir, ".weft-0123456789abcdef.part")
	old, large := strings.Repeat("o", 100<<10), strings.Repeat("n", 300<<10)
	if err := errors.Join(os.WriteFile(file, []byte(old), 0o666), os.WriteFile(left, []byte(large[:100<<10]), 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := Write(file, 0o666, text(large)); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%v, expected %v", err, syscall.ENOSPC)
		}
		if content(t, file) != old {
			t.Error("the old file is damaged")
		}
	}
	if err := Write(file, 0o666, text(large[:120<<10])); err != nil {
		// This is less than is free without the file that was left.
		t.Error(err)
	}
	if all := names(t, dir); all != " /site.wacz" {
		t.Errorf("left: %s", all)
	}
}

// TestWriteMounted: where only the file can be written, as where a container mounts one, it is
// overwritten with a whole file, if there is room for that.
func TestWriteMounted(t *testing.T) {
	if !mounts.Inside(t) {
		return
	}
	for _, folder := range []struct {
		name     string
		readOnly bool
	}{
		{"in a folder that takes new files", false},
		{"in a folder that takes none", true},
	} {
		t.Run(folder.name, func(t *testing.T) {
			small, dir, temp := t.TempDir(), t.TempDir(), t.TempDir()
			t.Setenv("TMPDIR", temp)
			mounts.Small(t, small, "256k")
			source, file := filepath.Join(small, "report"), filepath.Join(dir, "report")
			old := strings.Repeat("o", 100<<10)
			if err := errors.Join(os.WriteFile(source, []byte(old), 0o640), os.WriteFile(file, nil, 0o666)); err != nil {
				t.Fatal(err)
			}
			mounts.Bind(t, dir, dir)
			mounts.Bind(t, source, file)
			if folder.readOnly {
				mounts.Remount(t, dir)
			}
			if err := Write(file, 0o666, text(strings.Repeat("n", 300<<10))); !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%v, expected %v", err, syscall.ENOSPC)
			}
			if content(t, file) != old {
				t.Error("the old file is damaged")
			}
			if err := Write(file, 0o666, text("new")); err != nil || content(t, source) != "new" {
				t.Errorf("%v, %.20q", err, content(t, source))
			}
			if info, err := os.Stat(file); err != nil || info.Mode() != 0o640 {
				t.Errorf("%v, %v", info, err)
			}
			if all := names(t, dir) + names(t, temp); all != " /report" {
				t.Errorf("left: %s", all)
			}
		})
	}
}
