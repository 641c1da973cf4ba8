package render

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
)

// services are the processes that all pages of a browser share, such as that for its storage. What
// one had under way fails as it ends, and commands are never answered.
type services struct {
	mu   sync.Mutex
	pids []int
	lost bool // one has ended
}

// isService reports whether a command line is that of a service. A process that is ending has none
// any more, before its sockets are closed.
func isService(command string) bool {
	return strings.Contains(command, "utility-sub-type=network.") || strings.Contains(command, "utility-sub-type=storage.")
}

// take takes in which processes a browser has.
func (s *services) take(all []usage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range all {
		if u.service && !slices.Contains(s.pids, u.pid) {
			s.pids = append(s.pids, u.pid)
		}
	}
}

// whole reports whether none has ended.
func (s *services) whole() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost = s.lost || slices.ContainsFunc(s.pids, func(pid int) bool { return !isService(commandOf(pid)) })
	return !s.lost
}

// commandOf returns the command line of a process; "" if it has ended.
func commandOf(pid int) string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return string(text)
}

// isWhole reports whether the browser has all its services. If not, it is ended: its pages are
// rendered again by another.
func (b *browser) isWhole() bool {
	if b.services.whole() {
		return true
	}
	b.process.kill()
	return false
}
