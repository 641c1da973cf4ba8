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

// usage is what a process and those of its children that it has waited for have used.
type usage struct {
	CPU      time.Duration // user and system
	Switches int64         // of context: because it waited, and because it was made to
}

// used is the usage of this process until now.
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

// maxResident is the most memory that this process has had, in bytes.
func maxResident() int64 {
	// Linux counts in ru_maxrss what the process was before execve, too: a copy of its parent.
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

// look is what can be seen of a process from outside, at a moment.
type look struct {
	resident int64         // memory, in bytes
	children int64         // that its descendants have for themselves, in bytes
	threads  int           // with those of its descendants
	cpu      time.Duration // with that of its descendants, in ticks of 10 ms
}

// lookAt looks at a process. What it shares with its descendants, the program, counts once.
func lookAt(pid int) look {
	var l look
	for i, p := range family(pid) {
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
		// proc(5): fields 14 and 15 of stat, of which stat returns those from the third on.
		if f := stat(p); len(f) > 12 {
			user, _ := strconv.Atoi(f[11])
			system, _ := strconv.Atoi(f[12])
			l.cpu += time.Duration(user+system) * 10 * time.Millisecond
		}
	}
	return l
}

// stat are the fields of /proc/PID/stat after the name, which may have any character.
func stat(pid int) []string {
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Fields(string(line[bytes.LastIndexByte(line, ')')+1:]))
}

// family is a process and its descendants.
func family(pid int) []int {
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

// watch looks at a process again and again, the last time when done is closed, and sends the most
// that it saw.
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
