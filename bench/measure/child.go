package measure

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/weftcrawl/weft/bench/lab"
	"github.com/weftcrawl/weft/internal/process"
	"golang.org/x/sys/unix"
)

// The names (argv[0]) by which a child knows its role.
const (
	serverName = "weft-lab-server"
	wayName    = "weft-lab-way"
)

// Child runs the role of a process that this package started, and does not return there. A program
// calls it first.
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
	// Go's poller waits for a file that does not block. Waiting for any other takes a thread,
	// which would count as the way's.
	_ = unix.SetNonblock(0, true)
	if err := be(json.NewDecoder(os.NewFile(0, "standard input")), json.NewEncoder(os.Stdout)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// untilEnd returns when the input ends.
func untilEnd(in *json.Decoder) {
	for {
		var more json.RawMessage
		if in.Decode(&more) != nil {
			return
		}
	}
}

// child is a process that exchanges JSON with its parent.
type child struct {
	*process.Process
	in  *json.Encoder
	out *json.Decoder
}

// start starts a copy of this program as a child and gives it its task. It is killed when ctx is
// done.
func start(ctx context.Context, name string, task any) (*child, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p, err := process.Start(ctx, process.Options{Name: name, Pipes: true}, exe)
	if err != nil {
		return nil, err
	}
	c := &child{p, json.NewEncoder(p.In), json.NewDecoder(p.Out)}
	if err := c.in.Encode(task); err != nil {
		c.Kill()
		return nil, cmp.Or(context.Cause(ctx), err)
	}
	return c, nil
}

// receive decodes the child's next message. The error is what the child died of.
func (c *child) receive(ctx context.Context, v any) error {
	if c.out.Decode(v) == nil {
		return nil
	}
	c.Kill()
	switch first := c.FirstLine(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case first != "":
		return errors.New(first)
	default:
		return fmt.Errorf("its process ended early: %s", c.State())
	}
}
