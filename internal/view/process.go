package view

import (
	"bytes"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/record"
)

// Process returns what the system knows of this process; on systems other than Linux, less.
func Process() (p record.Process) {
	p.Routines = runtime.NumGoroutine()
	var use syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &use) == nil {
		p.CPU = time.Duration(use.Utime.Nano() + use.Stime.Nano()).Seconds()
	}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		p.MaxOpen = limit.Cur
	}
	if text, err := os.ReadFile("/proc/self/statm"); err == nil {
		if columns := bytes.Fields(text); len(columns) > 1 {
			pages, _ := strconv.ParseInt(string(columns[1]), 10, 64) // the kernel writes numbers
			p.Resident = pages * int64(os.Getpagesize())
		}
	}
	if names, err := readNames("/proc/self/fd"); err == nil {
		p.Open = len(names) - 1 // but for the one that reads them
	}
	return p
}

func readNames(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}
