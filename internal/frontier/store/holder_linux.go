package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// holder names a process that has a file open, such as "process 4711 (weft)"; empty: none that this
// one may look at. A lock of a descriptor does not tell whose it is.
func holder(path string) string {
	file, err := os.Stat(path)
	if err != nil {
		return ""
	}
	links, _ := filepath.Glob("/proc/[0-9]*/fd/*") // the pattern is valid
	for _, link := range links {
		if open, err := os.Stat(link); err == nil && os.SameFile(open, file) {
			folder := filepath.Dir(filepath.Dir(link))
			name, _ := os.ReadFile(filepath.Join(folder, "comm")) // it may have ended
			return fmt.Sprintf("process %s (%s)", filepath.Base(folder), strings.TrimSpace(string(name)))
		}
	}
	return ""
}
