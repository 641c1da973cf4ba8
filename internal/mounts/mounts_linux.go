// Package mounts lets tests mount file systems, such as small ones and ones that cannot be written
// to, and run in namespaces that a script has prepared.
package mounts

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// child is set in the process that has namespaces of its own.
const child = "WEFT_TEST_MOUNTS"

// Inside reports whether this process may mount. Otherwise it runs the test again in one that may,
// whose mounts nobody else sees.
func Inside(t *testing.T) bool {
	t.Helper()
	if os.Getenv(child) != "" {
		return true
	}
	cmd := again(t, "/proc/self/exe")
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

// Alone reports whether this process has namespaces of its own. Otherwise it runs the test again in
// one that has, by unshare with some flags, after a script of sh has prepared them. Its folder for
// temporary files is new, and all users may enter it. Only root may do that.
func Alone(t *testing.T, script string, flags ...string) bool {
	t.Helper()
	if os.Getenv(child) != "" {
		return true
	}
	for _, tool := range []string{"unshare", "ip", "mount"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	temp, err := os.MkdirTemp("", "weft-") // short, as sockets want
	if err == nil {
		err = os.Chmod(temp, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	cmd := again(t, "unshare", append(flags, "sh", "-c", script+` && exec "$0" "$@"`, os.Args[0])...)
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), "unshare failed") {
		t.Skipf("%s", out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v: %s", err, out)
	}
	return false
}

// again returns a command that runs the test as a child.
func again(t *testing.T, name string, args ...string) *exec.Cmd {
	only := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := exec.CommandContext(t.Context(), name, append(args, "-test.run", only, "-test.v")...)
	cmd.Env = append(os.Environ(), child+"=1")
	return cmd
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
