package measure

import "golang.org/x/sys/unix"

// stayOnCPU binds the thread to the first CPU that it may run on.
func stayOnCPU() error {
	var may, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		return err
	}
	for cpu := range 64 * len(may) {
		if may.IsSet(cpu) {
			one.Set(cpu)
			break
		}
	}
	return unix.SchedSetaffinity(0, &one)
}

// openDirect opens a file for reading past the kernel's cache.
func openDirect(path string) (int, error) {
	return unix.Open(path, unix.O_RDONLY|unix.O_DIRECT|unix.O_CLOEXEC, 0)
}

// inLargePages requests large pages; without them memory has small ones.
func inLargePages(memory []byte) { _ = unix.Madvise(memory, unix.MADV_HUGEPAGE) }
