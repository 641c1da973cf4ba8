package render

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// watchEvery is the time between two looks at renderers.
const watchEvery = 500 * time.Millisecond

// usage holds the memory and CPU time of a process.
type usage struct {
	pid      int
	renderer bool
	service  bool
	memory   int64         // bytes that are its own
	cpu      time.Duration // since its start
	waited   time.Duration // since its start: its main thread could run, and had no core
}

// watch ends renderers until the browser has ended: the largest, if all take more memory than they
// may; one that has computed for most of a window of time.
func (b *browser) watch(window time.Duration) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	type sample struct {
		at time.Time
		usage
	}
	since := make(map[int]sample)         // by pid, at the beginning of its window
	waited := make(map[int]time.Duration) // by pid, at the last look
	for {
		select {
		case <-b.conn.ended:
			return
		case <-tick.C:
		}
		if b.busy.Load() == 0 {
			clear(since)
			clear(waited)
			continue
		}
		all := usages(b.process.cmd.Process.Pid)
		b.services.take(all)
		if !b.isWhole() {
			return
		}
		now := time.Now()
		for pid := range waited { // an ended process is forgotten
			if !slices.ContainsFunc(all, func(u usage) bool { return u.pid == pid }) {
				delete(waited, pid)
				delete(since, pid)
			}
		}
		var sum, outside int64
		var largest usage
		var longest time.Duration
		for _, u := range all {
			sum += u.memory
			if !u.renderer {
				outside += u.memory
				continue
			}
			if u.memory > largest.memory {
				largest = u
			}
			if before, known := waited[u.pid]; known {
				longest = max(longest, u.waited-before)
			}
			waited[u.pid] = u.waited
			s, known := since[u.pid]
			switch {
			case !known || now.Sub(s.at)-(u.waited-s.waited) > window:
				since[u.pid] = sample{now, u}
			case u.cpu-s.cpu > window*8/10:
				b.end(u.pid, errCPU)
				delete(since, u.pid)
			}
		}
		b.held.Store(sum)
		most := b.most.Load()
		b.full.Store(sum > most*3/4)
		b.own.extend(min(longest, watchEvery))
		switch excess(most, sum, outside, largest.memory) {
		case errOutside:
			b.endAll(errOutside)
		case errMemory:
			b.end(largest.pid, errMemory)
		}
		if folderSize(b.process.profile) > mostStored {
			b.endAll(errDisk)
		}
	}
}

// excess says what to end where processes take more memory than they may: the largest renderer
// (errMemory); or the browser (errOutside), if more than a quarter is outside of renderers, and no
// renderer has as much.
func excess(most, sum, outside, largest int64) error {
	switch {
	case sum <= most:
		return nil
	case largest <= most/4 && outside > most/4:
		return errOutside
	}
	return errMemory
}

// pingTime is the most time that a browser takes for a command of its own.
const pingTime = 15 * time.Second

// ping ends a browser that does not answer while it renders pages: these are rendered by another.
func (b *browser) ping() {
	for tick := time.NewTicker(pingTime / 5); ; {
		select {
		case <-b.conn.ended:
			tick.Stop()
			return
		case <-tick.C:
		}
		if b.busy.Load() == 0 {
			continue
		}
		ctx, _, stop := b.own.within(context.Background(), pingTime)
		err := b.conn.call(ctx, "", "Browser.getVersion", nil, nil)
		stop()
		if errors.Is(err, errLate) {
			b.process.kill()
		}
	}
}

// endAll ends the browser for what a page, who knows which, keeps outside its process.
func (b *browser) endAll(cause error) {
	b.over.Store(&cause)
	b.process.kill()
}

// mostStored is the most bytes that a browser stores for its pages.
const mostStored = 512 << 20

// folderSize returns the bytes of the files in a folder, as far as they stay while it looks.
func folderSize(folder string) (sum int64) {
	_ = filepath.WalkDir(folder, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			if info, err := e.Info(); err == nil {
				sum += info.Size()
			}
		}
		return nil
	})
	return sum
}

// end ends a renderer. Its pages fail with the cause.
func (b *browser) end(pid int, cause error) {
	b.cause.Store(&cause)
	kill(pid)
}

// why is the cause of a crash.
func (b *browser) why() error {
	if cause := b.cause.Swap(nil); cause != nil {
		return *cause
	}
	return errCrashed
}

// clockTick is the unit of CPU times in /proc: USER_HZ, 100 on every Linux.
const clockTick = time.Second / 100

// usages returns the usage of a process, and of all that descend from it.
func usages(root int) (all []usage) {
	members, err := tree(root)
	if err != nil {
		return nil
	}
	for _, pid := range members {
		u := usage{pid: pid}
		folder := fmt.Sprintf("/proc/%d/", pid)
		command := commandOf(pid)
		u.renderer, u.service = strings.Contains(command, "--type=renderer"), isService(command)
		status, _ := os.ReadFile(folder + "status")
		for line := range strings.Lines(string(status)) {
			name, value, _ := strings.Cut(line, ":")
			if name == "RssAnon" || name == "RssShmem" && u.renderer {
				kB, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
				u.memory += kB << 10
			}
		}
		stat, _ := os.ReadFile(folder + "stat")
		if _, after, ok := strings.Cut(string(stat), ") "); ok {
			if fields := strings.Fields(after); len(fields) > 12 {
				user, _ := strconv.ParseInt(fields[11], 10, 64)
				system, _ := strconv.ParseInt(fields[12], 10, 64)
				u.cpu = time.Duration(user+system) * clockTick
			}
		}
		var ran, waited int64 // in nanoseconds; see Documentation/scheduler/sched-stats.rst
		schedstat, _ := os.ReadFile(folder + "schedstat")
		fmt.Sscan(string(schedstat), &ran, &waited)
		u.waited = time.Duration(waited)
		all = append(all, u)
	}
	return all
}

// Figures are a renderer at a moment.
type Figures struct {
	Busy   int   // pages being rendered
	Starts int64 // of browsers, but for those of one page alone
	Held   int64 // bytes of the browser's processes, when it last rendered
	Most   int64 // that it may take
}

// Figures returns what the renderer does.
func (r *Renderer) Figures() Figures {
	f := Figures{Starts: r.starts.Load(), Most: r.o.Memory}
	b := r.latest.Load()
	if b == nil {
		return f
	}
	select {
	case <-b.conn.ended:
	default:
		f.Busy, f.Held, f.Most = int(b.busy.Load()), b.held.Load(), b.most.Load()
	}
	return f
}
