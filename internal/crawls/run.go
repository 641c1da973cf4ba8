package crawls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/weftcrawl/weft/internal/control"
)

const (
	lookEvery   = time.Second
	mostCrashes = 5 // of a crawl's processes in a row, with ever longer pauses between them
	mostLog     = 1 << 20
	leaveWithin = 25 * time.Second // as service managers kill after 30 s or more
)

// Exit statuses of weft crawl.
const (
	exitLimit       = 4
	exitInterrupted = 5
)

// Run carries the crawls out until ctx ends. Then it interrupts those that run, which go on when
// the folder is opened next, and returns when they have ended, within 25 s.
func (f *Folder) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		f.own.look()
		f.look()
		select {
		case <-ctx.Done():
		case <-f.wake:
		case <-tick.C:
		}
	}
	f.leave()
}

// look brings what runs in line with what shall run.
func (f *Folder) look() {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := f.inOrder()
	for _, e := range all {
		switch {
		case e.State == Running && !e.process.runs() && f.isFree(e.Name):
			// It has ended while nobody saw how: its job says so when it is started again.
			e.State = Queued
		case e.State == Running && e.Stopping:
			f.interrupt(e)
		}
		if e.State != Running && e.Stopping {
			f.settle(e)
		}
	}
	for _, e := range all {
		f.attend(e)
	}
	f.visit(all)
	f.scales.confine(all)
	running := newRunning()
	for _, e := range all {
		if e.State == Running {
			running.take(e)
		}
	}
	now := time.Now()
	clear(f.waits)
	for _, e := range all {
		if e.State != Queued || e.Stopping || f.o.leaves(e) {
			continue
		}
		if w := running.waitFor(e, now, &f.o); w != nil {
			f.waits[e.Name] = w
			continue
		}
		if f.start(e); e.State == Running {
			running.take(e)
		}
	}
}

// visit begins the visits that are due. f.mu is held.
func (f *Folder) visit(all []*entry) {
	now := f.now().Round(0)
	back := now.Before(f.looked)
	if f.looked = now; back && f.up.After(now) {
		f.up = now
	}
	for _, e := range all {
		if e.table == nil || e.Deleting || f.o.leaves(e) || e.Visits.Compared < e.Visits.Ended {
			continue // a comparison reads the job
		}
		planned := e.Schedule.Planned
		if back {
			planned = e.table.Mend(planned, now)
		}
		next, begins := e.table.Look(planned, now, f.up, !e.State.Ended())
		if begins {
			f.begin(e)
		}
		if !next.Equal(e.Schedule.Planned) {
			e.plan(e.Schedule, next)
		} else if !begins {
			continue
		}
		if err := f.save(&e.Crawl); err != nil {
			f.o.Warn(err)
		}
		f.changed(e.Crawl)
	}
}

// begin has the next visit of a crawl wait for its turn, or the last one go on if it is not whole.
func (f *Folder) begin(e *entry) {
	if e.Visits.Ended == e.Visits.Begun {
		e.Visits.Begun++
	}
	e.queue()
}

// isFree reports whether no process carries out a crawl.
func (f *Folder) isFree(name string) bool {
	log, err := openLocked(f.Log(name))
	if err == nil {
		_ = unlock(log)
	}
	return !errors.Is(err, syscall.EWOULDBLOCK)
}

// settle records that a crawl which shall not run does not, or removes it. f.mu is held.
func (f *Folder) settle(e *entry) {
	if e.Deleting {
		if e.then.breakOff() || e.then.removed {
			return // it reads and writes those files, or they are being removed
		}
		e.then.removed = true
		f.beside.Go(func() { e.discard(f) })
		return
	}
	if !e.State.Ended() {
		e.State, e.Ended = Stopped, time.Now()
	}
	e.Stopping = false
	f.ended(e)
}

// discard removes a crawl of a folder. Its files may be a million, so nobody waits for that with
// f.mu.
func (e *entry) discard(f *Folder) {
	err := f.remove(e.Name)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil {
		e.then.removed = false
		f.o.Warn(err)
		return
	}
	delete(f.all, e.Name)
	f.changed(e.Crawl)
	f.awake()
}

// ended records where a crawl stands. What cannot be saved is found out once more later: the state
// of its job is that of its job. f.mu is held.
func (f *Folder) ended(e *entry) {
	if err := f.save(&e.Crawl); err != nil {
		f.o.Warn(err)
	}
	f.changed(e.Crawl)
}

// start starts a process for a crawl, unless there is one. f.mu is held.
func (f *Folder) start(e *entry) {
	log, err := openLocked(f.Log(e.Name))
	if errors.Is(err, syscall.EWOULDBLOCK) {
		e.State = Running // an earlier process of this program has started it
		f.changed(e.Crawl)
		return
	}
	if err != nil {
		f.crashed(e, err)
		return
	}
	if info, err := log.Stat(); err == nil && info.Size() > mostLog {
		_ = log.Truncate(0) // it is only read by people
	}
	e.State, e.Started, e.Ended, e.Message, e.Visits.Begun = Running, time.Now(), time.Time{}, "", max(1, e.Visits.Begun)
	if e.Visits.Begun == 1 {
		f.launch(e, log, false)
		return
	}
	f.changed(e.Crawl)
	go f.launchNext(e, log)
}

// launchNext starts a process for a visit behind the first one, or for what is left of it: a job
// says itself which visit it has begun. That it is read must not keep others waiting.
func (f *Folder) launchNext(e *entry, log *os.File) {
	at, err := f.o.Visited(f.Job(e.Name))
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.closed || e.Stopping:
		e.State = Queued
		_ = unlock(log)
		f.awake()
	case err != nil:
		f.crashed(e, err)
		_ = unlock(log)
	default:
		f.launch(e, log, at.Visit < e.Visits.Begun)
	}
}

// launch starts a process for a crawl, whose log is locked. f.mu is held.
func (f *Folder) launch(e *entry, log *os.File, next bool) {
	defer log.Close()
	args := f.o.Command(Run{f.path(e.Name, ".toml"), f.Job(e.Name), next, e.Retry})
	command := exec.Command(args[0], args[1:]...)
	command.Dir, command.Stdout, command.Stderr = f.dir, log, log
	// An interrupt of the terminal is for this process.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := command.Start(); err != nil {
		f.crashed(e, err)
		return
	}
	e.process.command = command
	if err := f.save(&e.Crawl); err != nil {
		f.o.Warn(err)
	}
	f.changed(e.Crawl)
	go f.wait(e)
}

// wait takes in the end of a process.
func (f *Folder) wait(e *entry) {
	status, err := e.process.wait()
	at, unread := Visited{}, error(nil)
	if status == 0 || status == exitLimit {
		at, unread = f.o.Visited(f.Job(e.Name))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.awake()
	e.process, e.Status = process{}, status
	if at.Whole {
		e.Retry = nil
	}
	switch {
	case status == 0:
		e.State, e.Message = Done, ""
	case status == exitLimit:
		e.State, e.Message = Limited, ""
	case (status == exitInterrupted || status < 0) && (f.closed || e.Stopping):
		e.State = Queued // one that has just started ends by the signal
		return
	case status == exitInterrupted:
		e.State = Stopped
	case status < 0:
		f.crashed(e, err)
		return
	default:
		e.State, e.Message, e.Retry = Failed, f.lastWords(e.Name), nil
	}
	if unread != nil {
		f.o.Warn(fmt.Errorf("%s: %w", e.Name, unread))
	}
	e.Visits.reached(at)
	e.Ended, e.Crashes, e.Stopping = time.Now(), 0, e.Deleting
	f.ended(e)
}

// crashed takes in that a process could not start, or that a signal has ended it. f.mu is held.
func (f *Folder) crashed(e *entry, err error) {
	e.State, e.Message = Queued, err.Error()
	if e.Crashes++; e.Crashes >= mostCrashes {
		e.State, e.Ended = Failed, time.Now()
	}
	e.process.after = time.Now().Add(time.Second << e.Crashes)
	f.ended(e)
}

// interrupt asks a process to end its crawl, or kills it if its files are to go. f.mu is held.
func (f *Folder) interrupt(e *entry) {
	if e.process.interrupt(time.Now(), e.Deleting) {
		go order(f.Job(e.Name))
	}
}

// order asks a crawl to end that an earlier process has started. One without a socket so far is
// asked again.
func order(job string) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	stop, err := control.ParseOrder("stop")
	if err != nil {
		return
	}
	if crawl, err := control.Dial(ctx, job); err == nil {
		_, _ = crawl.Do(ctx, stop)
	}
}

// leave interrupts all crawls, and waits for their ends.
func (f *Folder) leave() {
	f.mu.Lock()
	f.closed = true
	f.end()
	for _, e := range f.all {
		if e.State == Running {
			e.process.after = time.Time{}
			f.interrupt(e)
		}
	}
	f.mu.Unlock()
	late := time.NewTimer(leaveWithin)
	defer late.Stop()
	tick := time.NewTicker(lookEvery / 4)
	defer tick.Stop()
	for f.anyRuns() {
		select {
		case <-f.wake:
		case <-tick.C:
		case <-late.C:
			return
		}
	}
}

func (f *Folder) anyRuns() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.all {
		if e.process.runs() || e.State == Running && !f.isFree(e.Name) {
			return true
		}
	}
	return false
}

// mostWords is the most bytes that are read of the messages of a process.
const mostWords = 8 << 10

// lastWords returns the last error that the process of a crawl has printed.
func (f *Folder) lastWords(name string) string {
	log, err := os.Open(f.Log(name))
	if err != nil {
		return err.Error()
	}
	defer log.Close()
	if info, err := log.Stat(); err == nil && info.Size() > mostWords {
		_, _ = log.Seek(-mostWords, io.SeekEnd)
	}
	text, _ := io.ReadAll(io.LimitReader(log, mostWords))
	last := ""
	for line := range bytes.Lines(text) {
		var m struct{ Level, Msg string }
		if json.Unmarshal(line, &m) != nil {
			// Of weft before it knows the format, or of Go.
			m.Level, m.Msg = "ERROR", strings.TrimPrefix(string(bytes.TrimSpace(line)), "weft: ")
		}
		if m.Level == "ERROR" || last == "" {
			last = m.Msg
		}
	}
	return message(f.dir, last)
}
