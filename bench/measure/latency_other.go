//go:build unix && !linux

package measure

import "golang.org/x/sys/unix"

// stayOnCPU does nothing: there is no call to bind a thread.
func stayOnCPU() error { return nil }

// openDirect fails: there is no way past the kernel's cache.
func openDirect(string) (int, error) { return -1, unix.ENOTSUP }

// inLargePages does nothing: there is no call to request them.
func inLargePages([]byte) {}
