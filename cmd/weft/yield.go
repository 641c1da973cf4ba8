package main

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// lookNice is the nice value of a process that looks at a running crawl: on a core that both want,
// Linux gives it a tenth of the time.
const lookNice = 10

// stepBack lets the crawl on this machine go first. It is a courtesy: errors do not matter.
func stepBack() {
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil { // not Linux, where the value is that of the process
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, lookNice)
	}
	for _, t := range threads { // later ones inherit it
		if id, err := strconv.Atoi(t.Name()); err == nil {
			_ = unix.Setpriority(unix.PRIO_PROCESS, id, lookNice)
		}
	}
}
