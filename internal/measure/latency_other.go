//go:build unix && !linux

package measure

import "golang.org/x/sys/unix"

// stayOnCPU leaves the thread where it is: here there is no call to choose.
func stayOnCPU() error { return nil }

// openDirect says that here there is no way past the kernel's cache.
func openDirect(string) (int, error) { return -1, unix.ENOTSUP }

// inLargePages does nothing: here there is no call to ask for them.
func inLargePages([]byte) {}
