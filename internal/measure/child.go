package measure

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/weftcrawl/weft/lab"
	"golang.org/x/sys/unix"
)

// What a child is called, by which it knows what it is to be.
const (
	serverName = "weft-lab-server"
	wayName    = "weft-lab-way"
)

// Child does not return in a process that this package started. A program calls it first.
func Child(ways []lab.Way) {
	var be func(*json.Decoder, *json.Encoder) error
	switch os.Args[0] {
	case serverName:
		be = serve
	case wayName:
		be = func(in *json.Decoder, out *json.Encoder) error { return runWay(ways, in, out) }
	default:
		return
	}
	// A file that does not block is left to Go's poller. Else, waiting for its end would take
	// a thread, which would be counted as the way's.
	_ = unix.SetNonblock(0, true)
	if err := be(json.NewDecoder(os.NewFile(0, "standard input")), json.NewEncoder(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// untilEnd returns when there is no more to read.
func untilEnd(in *json.Decoder) {
	for {
		var more json.RawMessage
		if in.Decode(&more) != nil {
			return
		}
	}
}

// child is a process, seen from its parent.
type child struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *json.Decoder
	said said // on standard error
	once sync.Once
}

// start starts one and gives it its task. It is killed when ctx is done.
func start(ctx context.Context, name string, task any) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := &child{cmd: exec.CommandContext(ctx, exe)}
	c.cmd.Args[0] = name
	c.cmd.Stderr = &c.said
	c.cmd.WaitDelay = time.Second // of its own children, that may have the pipes still
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.out = json.NewDecoder(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	if err := c.tell(task); err != nil {
		c.close()
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return c, nil
}

func (c *child) tell(v any) error { return json.NewEncoder(c.in).Encode(v) }

// hear reads the next that it says. The error is what it died of.
func (c *child) hear(ctx context.Context, v any) error {
	err := c.out.Decode(v)
	if err == nil {
		return nil
	}
	c.close()
	switch first := c.said.firstLine(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case first != "":
		return errors.New(first)
	default:
		return fmt.Errorf("its process ended early: %v", c.cmd.ProcessState)
	}
}

// close ends it, and returns when it has ended. It has nothing that it would have to clean up.
func (c *child) close() {
	c.once.Do(func() {
		_ = c.in.Close()
		_ = c.cmd.Process.Kill()
		_ = c.cmd.Wait()
	})
}

// said keeps the beginning of what is written to it: a runtime that gives up prints the
// stacks of thousands of goroutines, but first why.
type said struct{ bytes.Buffer }

func (s *said) Write(p []byte) (int, error) {
	s.Buffer.Write(p[:min(len(p), max(0, 4096-s.Len()))])
	return len(p), nil
}

// firstLine is the first that says something.
func (s *said) firstLine() string {
	for line := range strings.Lines(s.String()) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}
