// Package machine identifies the machine and the commit of a measurement, for the pages in
// docs/bench.
package machine

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// CPU returns the model of the processor.
func CPU() string {
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown processor"
}

// Kernel returns the operating system and its release.
func Kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS
	}
	return strings.ToLower(unix.ByteSliceToString(u.Sysname[:])) + " " + unix.ByteSliceToString(u.Release[:])
}

// Commit returns the short hash of the working tree's commit.
func Commit() string {
	out, err := exec.Command("git", "rev-parse", "--short", "HEAD").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// Thousands formats n as a whole number with commas.
func Thousands(n float64) string {
	s := fmt.Sprintf("%.0f", n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Size returns the size of the files in a folder, in bytes.
func Size(dir string) (bytes float64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		bytes += float64(info.Size())
		return nil
	})
	return bytes, err
}
