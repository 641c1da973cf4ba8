package measure

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/internal/process"
	"golang.org/x/sys/unix"
)

// usage is the resources that a process and the children it has waited for have used.
type usage struct {
	CPU      time.Duration // user and system
	Switches int64         // context switches, voluntary and involuntary
}

// used returns the usage of this process so far.
func used() usage {
	var all usage
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var r unix.Rusage
		if unix.Getrusage(who, &r) == nil {
			all.CPU += time.Duration(r.Utime.Nano() + r.Stime.Nano())
			all.Switches += int64(r.Nvcsw) + int64(r.Nivcsw)
		}
	}
	return all
}

// maxResident returns the peak resident memory of this process, in bytes.
func maxResident() int64 {
	// On Linux ru_maxrss includes the process before execve(2): a copy of its parent.
	if s, err := process.ReadStatus(os.Getpid()); err == nil {
		return s.Peak
	}
	var r unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &r) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" { // in bytes there, elsewhere in KiB
		return int64(r.Maxrss)
	}
	return int64(r.Maxrss) << 10
}

// look is the state of a process and its descendants at a moment, from /proc.
type look struct {
	resident int64         // in bytes
	children int64         // private memory of its descendants, in bytes
	threads  int           // including its descendants
	cpu      time.Duration // including its descendants, in ticks of 10 ms
}

// lookAt looks at a process. Memory that it shares with its descendants, the program, counts once.
func lookAt(pid int) look {
	var l look
	for i, p := range Family(pid) {
		s, err := process.ReadStatus(p)
		if err != nil {
			continue // it has ended
		}
		if i == 0 {
			l.resident = s.Resident
		} else {
			l.children += s.Anonymous
		}
		l.threads += s.Threads
		l.cpu += CPUOf(p)
	}
	return l
}

// stat returns the fields of /proc/PID/stat after the name, which may contain any character.
func stat(pid int) []string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:]))
}

// CPUOf returns the CPU time of one process, in ticks of 10 ms; 0: it has ended.
func CPUOf(pid int) time.Duration {
	f := stat(pid)
	if len(f) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(f[11]) // proc(5): fields 14 and 15; stat has those from the third on
	system, _ := strconv.Atoi(f[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// Family returns a process and its descendants.
func Family(pid int) []int {
	children := make(map[int][]int)
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		p, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if f := stat(p); len(f) > 1 {
			parent, _ := strconv.Atoi(f[1])
			children[parent] = append(children[parent], p)
		}
	}
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i]]...)
	}
	return all
}

// watch looks at a process until done is closed, and sends the maxima.
func watch(pid int, done <-chan struct{}, most chan<- look) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	var m look
	for last := false; ; {
		l := lookAt(pid)
		m.resident = max(m.resident, l.resident)
		m.children = max(m.children, l.children)
		m.threads = max(m.threads, l.threads)
		if last {
			most <- m
			return
		}
		select {
		case <-tick.C:
		case <-done:
			last = true
		}
	}
}
