//go:build linux

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/measure"
	"github.com/weftcrawl/weft/internal/process"
	"golang.org/x/sys/unix"
)

// figures are those of a run.
type figures struct {
	Took, First     time.Duration // until the end, and until the output has a page; 0: at the end
	Driver, Browser time.Duration // CPU time
	PSS             []int64       // of the browser's processes, in bytes, twice a second
	Left            int           // processes that outlived the tool
	faults
}

func (f *figures) cpu() time.Duration { return f.Driver + f.Browser }

// peak is the largest PSS.
func (f *figures) peak() (most int64) {
	for _, p := range f.PSS {
		most = max(most, p)
	}
	return most
}

// The times between two looks at a run: at its output, its processes, their memory.
const (
	everyOutput = 10 * time.Millisecond
	everyLook   = 100 * time.Millisecond
	everyPSS    = 500 * time.Millisecond
)

// run runs a program to its end. All of its processes, of whatever depth, become children of this
// one when their parents end, so that their CPU time is known to the last.
func run(ctx context.Context, dir, output, program string, args ...string) (f figures, err error) {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return f, fmt.Errorf("PR_SET_CHILD_SUBREAPER: %w", err)
	}
	before, start := children(), time.Now()
	p, err := process.Start(ctx, process.Options{Env: []string{"TMPDIR=" + dir, "HOME=" + dir, "CRAWLEE_STORAGE_DIR=" + filepath.Join(dir, "storage"), "CRAWLEE_LOG_LEVEL=WARNING"}}, program, args...)
	if err != nil {
		return f, err
	}
	tick := time.NewTicker(everyOutput)
	defer tick.Stop()
	var looked, weighed time.Time
	for ended := false; !ended; {
		select {
		case <-p.Ended():
			ended = true
		case now := <-tick.C:
			if f.First == 0 && hasLine(output) {
				f.First = now.Sub(start)
			}
			if now.Sub(looked) < everyLook {
				continue
			}
			looked = now
			f.Driver = max(f.Driver, measure.CPUOf(p.PID()))
			if now.Sub(weighed) >= everyPSS {
				weighed = now
				f.PSS = append(f.PSS, browserPSS(p.PID()))
			}
		}
	}
	f.Took = time.Since(start)
	f.Left = reap()
	f.Browser = max(0, children()-before-f.Driver)
	if err := p.Wait(); !errors.Is(err, exec.ErrWaitDelay) { // a child holds its standard error open
		return f, err
	}
	return f, nil
}

// hasLine reports whether a file has a line.
func hasLine(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadString('\n')
	return err == nil && line != ""
}

// reap waits for the children that have come to this process, and returns how many had to be
// killed because they did not end within two seconds.
func reap() (left int) {
	deadline := time.Now().Add(2 * time.Second)
	for killed := false; ; {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return left
		case pid == 0 && !killed && time.Now().After(deadline):
			killed = true
			for _, child := range measure.Family(os.Getpid())[1:] {
				left++
				_ = unix.Kill(child, unix.SIGKILL)
			}
		case pid == 0:
			time.Sleep(everyOutput)
		}
	}
}

// children is the CPU time of the children that this process has waited for, and of theirs.
func children() time.Duration {
	var r unix.Rusage
	_ = unix.Getrusage(unix.RUSAGE_CHILDREN, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// browserPSS returns the memory of the processes of Chromium below a process, with what they share
// counted once.
func browserPSS(pid int) (sum int64) {
	for _, p := range measure.Family(pid)[1:] {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", p))
		if err != nil || !strings.Contains(filepath.Base(exe), "chrom") && !strings.Contains(filepath.Base(exe), "headless") {
			continue
		}
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", p))
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(text)) {
			if value, ok := strings.CutPrefix(line, "Pss:"); ok {
				kB, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
				sum += kB << 10
			}
		}
	}
	return sum
}
