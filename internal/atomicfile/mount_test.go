//go:build linux

package atomicfile

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// inNamespace runs a test again in a process that may mount: it reports whether this is that one.
func inNamespace(t *testing.T) bool {
	const child = "WEFT_TEST_MOUNTS"
	if os.Getenv(child) != "" {
		return true
	}
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), child+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if errors.Is(err, syscall.EPERM) {
		t.Skipf("nothing can be mounted here: %v", err)
	}
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func mount(t *testing.T, source, target, kind, data string, flags uintptr) {
	t.Helper()
	if err := syscall.Mount(source, target, kind, flags, data); err != nil {
		t.Fatalf("mount %s: %v", target, err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(target, 0) })
}

// TestWriteFullDisk: a full disk leaves the old file whole, also where killed processes have left
// theirs; those go before the new one is written.
func TestWriteFullDisk(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	dir := t.TempDir()
	mount(t, "tmpfs", dir, "tmpfs", "size=256k", 0)
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
	if err := Write(file, 0o666, text(large[:120<<10])); err != nil { // less than is free without what was left
		t.Error(err)
	}
	if all := names(t, dir); all != " /site.wacz" {
		t.Errorf("left: %s", all)
	}
}

// TestWriteMounted: where only the file can be written, as where a container mounts one, it is
// overwritten with a whole file, if there is room for that.
func TestWriteMounted(t *testing.T) {
	if !inNamespace(t) {
		return
	}
	for _, folder := range []struct {
		name  string
		flags uintptr
	}{
		{"in a folder that takes new files", 0},
		{"in a folder that takes none", syscall.MS_RDONLY},
	} {
		t.Run(folder.name, func(t *testing.T) {
			small, dir, temp := t.TempDir(), t.TempDir(), t.TempDir()
			t.Setenv("TMPDIR", temp)
			mount(t, "tmpfs", small, "tmpfs", "size=256k", 0)
			source, file := filepath.Join(small, "report"), filepath.Join(dir, "report")
			old := strings.Repeat("o", 100<<10)
			if err := errors.Join(os.WriteFile(source, []byte(old), 0o640), os.WriteFile(file, nil, 0o666)); err != nil {
				t.Fatal(err)
			}
			mount(t, dir, dir, "", "", syscall.MS_BIND)
			mount(t, source, file, "", "", syscall.MS_BIND)
			if folder.flags != 0 {
				if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|folder.flags, ""); err != nil {
					t.Fatal(err)
				}
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
