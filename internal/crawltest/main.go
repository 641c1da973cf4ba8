package crawltest

import (
	"fmt"
	"os"
	"testing"
)

// Main runs the tests of a package with their folders in memory, where the system has a file system
// for that. They are about crawls; packages internal/durability and store test what reaches a disk,
// whose syncs took four fifths of the time.
func Main(m *testing.M) {
	dir := inMemory()
	if dir == "" {
		os.Exit(m.Run())
	}
	dir, err := os.MkdirTemp(dir, "weft-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Setenv("TMPDIR", dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}
