package regular_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/internal/regular"
)

// TestOpen: files are opened, and nothing else is, without waiting.
func TestOpen(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	socket, err := net.Listen("unix", in("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	err = errors.Join(os.WriteFile(in("file"), nil, 0o600), os.WriteFile(filepath.Join(elsewhere, "file"), nil, 0o600), os.Mkdir(in("folder"), 0o700),
		syscall.Mkfifo(in("pipe"), 0o600), os.Symlink("file", in("link")), os.Symlink("/dev/zero", in("zero")), os.Symlink("pipe", in("to-pipe")),
		os.Symlink(filepath.Join(elsewhere, "file"), in("out")))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct{ open, openIn bool }{
		"file": {true, true}, "link": {true, true}, "out": {true, false},
		"folder": {}, "pipe": {}, "to-pipe": {}, "zero": {}, "socket": {}, "none": {},
	} {
		f, err := regular.Open(in(name))
		if (err == nil) != want.open {
			t.Errorf("Open %s: %v", name, err)
		}
		f.Close()
		if f, err = regular.OpenIn(dir, name); (err == nil) != want.openIn {
			t.Errorf("OpenIn %s: %v", name, err)
		}
		f.Close()
	}
}
