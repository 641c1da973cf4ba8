package aiotest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// patience is the real time that goroutines get to end after a test.
const patience = 5 * time.Second

// CheckLeaks fails t if, when it ends, goroutines or descriptors are left that were not there when
// CheckLeaks was called. It is not for tests that run in parallel with others: it would count
// theirs too.
func CheckLeaks(t testing.TB) {
	t.Helper()
	checkLeaks(t, patience)
}

func checkLeaks(t testing.TB, patience time.Duration) {
	t.Helper()
	startPoller(t)
	stacks, files := goroutines(), descriptors()
	t.Cleanup(func() {
		t.Helper()
		var left, open []string
		for end := time.Now().Add(patience); ; {
			left, open = added(goroutines(), stacks), added(descriptors(), files)
			if len(left)+len(open) == 0 {
				return
			}
			if time.Now().After(end) {
				break
			}
			for range 100 {
				runtime.Gosched()
			}
		}
		for _, stack := range left {
			t.Errorf("leak: %s", stack)
		}
		for _, file := range open {
			t.Errorf("leak: descriptor %s", file)
		}
	})
}

// startPoller makes the runtime create the descriptors of its poller, which it does for the first
// file that can be polled.
func startPoller(t testing.TB) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatalf("leak check: %v", err)
	}
	r.Close()
	w.Close()
}

// added returns the values, sorted, of those keys of now that before lacks.
func added[K comparable](now, before map[K]string) []string {
	var more []string
	for k, v := range now {
		if _, ok := before[k]; !ok {
			more = append(more, v)
		}
	}
	slices.Sort(more)
	return more
}

// goroutines returns the stacks of all goroutines by ID.
func goroutines() map[string]string {
	buf := make([]byte, 64<<10)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	stacks := make(map[string]string)
	for stack := range bytes.SplitSeq(buf, []byte("\n\n")) {
		// goroutine 7 [running]:
		if fields := bytes.Fields(stack); len(fields) > 1 {
			stacks[string(fields[1])] = string(stack)
		}
	}
	return stacks
}

// descriptors returns the open descriptors, each as its number and its target.
func descriptors() map[string]string {
	dir := "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		dir = "/dev/fd"
		entries, _ = os.ReadDir(dir) // without it there is nothing to check
	}
	files := make(map[string]string)
	for _, e := range entries {
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err != nil {
			continue // the descriptor of dir itself
		}
		what, _ := os.Readlink(filepath.Join(dir, e.Name())) // /dev/fd need not have links
		file := fmt.Sprintf("%d %s", fd, what)
		files[file] = file
	}
	return files
}
