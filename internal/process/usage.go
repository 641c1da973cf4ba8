package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"
)

// CPU returns the user and system time that this process has used, of all its threads.
func CPU() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(err) // getrusage(2) fails only for a bad argument
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// Status is a part of /proc/PID/status (proc(5)). Sizes are in bytes.
type Status struct {
	Resident  int64 // VmRSS
	Peak      int64 // VmHWM: the largest Resident so far
	Anonymous int64 // RssAnon: the part that it shares with no file
	Threads   int
}

// ReadStatus reads the status of a process. One that has ended, or is a zombie, is an error.
func ReadStatus(pid int) (Status, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return Status{}, err
	}
	s := Status{
		Resident: field(text, "VmRSS:") << 10, Peak: field(text, "VmHWM:") << 10,
		Anonymous: field(text, "RssAnon:") << 10, Threads: int(field(text, "Threads:")),
	}
	if s.Resident == 0 {
		return s, fmt.Errorf("process %d has no memory: it has ended", pid)
	}
	return s, nil
}

// Written returns how many bytes this process has written to files, pipes and sockets.
func Written() int64 {
	text, _ := os.ReadFile("/proc/self/io") // absent: 0
	return field(text, "wchar:")
}

// field returns the number after a name at the start of a line; 0 if there is none.
func field(text []byte, name string) int64 {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			if f := bytes.Fields(rest); len(f) > 0 {
				n, _ := strconv.ParseInt(string(f[0]), 10, 64)
				return n
			}
		}
	}
	return 0
}
