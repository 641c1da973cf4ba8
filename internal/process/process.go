package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Options are the circumstances in which a process starts. The zero value inherits folder and
// environment.
type Options struct {
	Name   string    // argv[0]; empty: the program's path
	Dir    string    // working directory; empty: the caller's
	Env    []string  // additions to the caller's environment
	Pipes  bool      // connect In and Out; otherwise both are the null device
	Stderr io.Writer // receives standard error; nil: only its beginning is kept
}

// Process is a child process. Its methods may be called from any goroutine.
type Process struct {
	In  io.WriteCloser // its standard input, with Options.Pipes
	Out io.Reader      // its standard output, with Options.Pipes: readable after its end, too

	cmd    *exec.Cmd
	stderr beginning
	ended  chan struct{}
	err    error // written before ended is closed
}

// Start starts a program. The process is killed when ctx is done.
func Start(ctx context.Context, o Options, program string, args ...string) (*Process, error) {
	p := &Process{cmd: exec.CommandContext(ctx, program, args...), ended: make(chan struct{})}
	if o.Name != "" {
		p.cmd.Args[0] = o.Name
	}
	p.cmd.Dir = o.Dir
	if o.Env != nil {
		p.cmd.Env = append(os.Environ(), o.Env...)
	}
	p.cmd.Stderr = &p.stderr
	if o.Stderr != nil {
		p.cmd.Stderr = io.MultiWriter(&p.stderr, o.Stderr)
	}
	p.cmd.WaitDelay = time.Second // its own children may hold standard error open
	var stdout *os.File
	if o.Pipes {
		in, err := p.cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		// Not StdoutPipe: Wait would close it under the reader.
		out, w, err := os.Pipe()
		if err != nil {
			return nil, err
		}
		p.In, p.Out, stdout = in, out, w
		p.cmd.Stdout = w
	}
	err := p.cmd.Start()
	if stdout != nil {
		_ = stdout.Close() // the child has its own
	}
	if err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

// Run starts a program and waits for its end. The process is nil if it did not start.
func Run(ctx context.Context, o Options, program string, args ...string) (*Process, error) {
	p, err := Start(ctx, o, program, args...)
	if err != nil {
		return nil, err
	}
	return p, p.Wait()
}

// PID returns the process's number.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Wait returns when the process has ended. The error of one that failed wraps an
// [exec.ExitError] and holds the beginning of its standard error.
func (p *Process) Wait() error {
	<-p.ended
	if stderr := p.Stderr(); p.err != nil && stderr != "" {
		return fmt.Errorf("%w: %s", p.err, stderr)
	}
	return p.err
}

// Signal sends a signal; a process that has ended ignores it.
func (p *Process) Signal(s os.Signal) { _ = p.cmd.Process.Signal(s) }

// Kill kills the process, unless it has ended, and returns when it has.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// ExitCode returns the exit status; -1 if a signal ended the process. It waits for the end.
func (p *Process) ExitCode() int {
	<-p.ended
	return p.cmd.ProcessState.ExitCode()
}

// State describes how the process ended: "exit status 1", "signal: killed". It waits for the end.
func (p *Process) State() string {
	<-p.ended
	return p.cmd.ProcessState.String()
}

// CPU returns the user and system time of the process. It waits for the end.
func (p *Process) CPU() time.Duration {
	<-p.ended
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// Peak returns the largest memory that the process had, in bytes, after its end (wait4(2)).
func (p *Process) Peak() int64 {
	u, _ := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if u == nil {
		return 0
	}
	return int64(u.Maxrss) << 10
}

// Stderr returns the beginning of standard error, so far.
func (p *Process) Stderr() string { return strings.TrimSpace(p.stderr.String()) }

// FirstLine returns the first line of standard error that is not blank.
func (p *Process) FirstLine() string {
	line, _, _ := strings.Cut(p.Stderr(), "\n")
	return strings.TrimSpace(line)
}

// beginning keeps the first bytes written to it: a Go program that gives up prints the stacks of
// thousands of goroutines, but the reason first.
type beginning struct {
	mu struct {
		sync.Mutex
		bytes.Buffer
	}
}

const mostKept = 4096

func (b *beginning) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.Buffer.Write(p[:min(len(p), mostKept-b.mu.Len())])
	return len(p), nil
}

func (b *beginning) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.mu.Buffer.String()
}

// Build builds a command of Weft, such as weft, in a folder and returns its path. It is called in
// the module of Weft or in one that names it, such as that of the benchmarks. go run keeps what it
// has linked, as go build does not, and hands it to a command: here one that copies it.
func Build(ctx context.Context, dir, command string) (string, error) {
	path := filepath.Join(dir, command)
	source, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/weftcrawl/weft").Output()
	if err == nil {
		_, err = Run(ctx, Options{Env: []string{"CGO_ENABLED=0"}}, "go", "run", "-C", strings.TrimSpace(string(source)), "-ldflags=-s", "-exec=cp", "./cmd/"+command, path)
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("building %s: %w", command, err)
	}
	return path, err
}
