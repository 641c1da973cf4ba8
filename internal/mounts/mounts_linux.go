// Package mounts lets tests mount file systems: small ones, and ones that cannot be written to.
package mounts

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// child is set in the process that may mount.
const child = "WEFT_TEST_MOUNTS"

// Inside reports whether this process may mount. Otherwise it runs the test again in one that may,
// whose mounts nobody else sees.
func Inside(t *testing.T) bool {
	t.Helper()
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

// Small mounts a file system of a size, such as 256k, in memory.
func Small(t *testing.T, dir, size string) { mount(t, "tmpfs", dir, "tmpfs", 0, "size="+size) }

// Bind mounts a file or a folder in the place of another.
func Bind(t *testing.T, source, target string) { mount(t, source, target, "", syscall.MS_BIND, "") }

// ReadOnly makes a folder one that cannot be written to, also by root.
func ReadOnly(t *testing.T, dir string) {
	Bind(t, dir, dir)
	Remount(t, dir)
}

// Remount makes a mount one that cannot be written to.
func Remount(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
		t.Fatalf("mount %s: %v", dir, err)
	}
}

func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := syscall.Mount(source, target, kind, flags, data); err != nil {
		t.Fatalf("mount %s: %v", target, err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(target, syscall.MNT_DETACH) })
}
