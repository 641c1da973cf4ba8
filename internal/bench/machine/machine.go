// Package machine identifies the machine and the commit of a measurement, for the pages in
// docs/bench, and writes them.
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

// Publish writes the page of a program to a file, or to standard output if it has no name. It ends
// the program with an error of making the page, or of writing it.
func Publish(program, file string, page []byte, err error) {
	if err == nil && file != "" {
		err = os.WriteFile(file, page, 0o666)
	} else if err == nil {
		_, err = os.Stdout.Write(page)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", program, err)
		os.Exit(1)
	}
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
