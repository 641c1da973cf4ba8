package control

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"slices"

	"github.com/weftcrawl/weft/inspect"
	"github.com/weftcrawl/weft/internal/ctl"
	"github.com/weftcrawl/weft/internal/engine"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/frontier/store"
	"github.com/weftcrawl/weft/internal/view"
	"github.com/weftcrawl/weft/seed"
)

// Serve answers at the socket of the view's job, while its crawl runs, until stop is called. A job
// that is not on disk has no socket. A crawl whose socket cannot be made runs as well, and cannot
// be steered: that is a warning. So is each order that it carries out, for the log.
func Serve(v *view.View, warn func(error)) (stop func()) {
	if v.Job == nil || v.Job.Files != store.Disk {
		return func() {}
	}
	s, err := ctl.Serve(v.Job.Dir, commands(v, warn))
	if err != nil && warn != nil {
		warn(err)
	}
	return s.Close
}

// The commands of the protocol. Those without arguments do not look at any.
const (
	commandStatus   = "status"   // → a Status
	commandWhy      = "why"      // URL → a Why
	commandSnapshot = "snapshot" // → a snapshot, which is there until the client leaves
	commandOrigins  = "origins"  // names → OriginInfos of those in memory
	commandDo       = "do"       // Order → lines of text
	commandTasks    = "tasks"    // → TaskStatuses
	commandFigures  = "figures"  // → Figures
	commandWhole    = "whole"    // → the cluster.Status of a node
)

func commands(v *view.View, note func(error)) map[string]ctl.Command {
	return map[string]ctl.Command{
		commandStatus:   command(func(ctx context.Context, _ []string) iter.Seq2[inspect.Status, error] { return only(v.Status(ctx)) }),
		commandSnapshot: makeSnapshot(v),
		commandOrigins: command(func(ctx context.Context, names []string) iter.Seq2[frontier.OriginInfo, error] {
			return each(v.Origins(ctx, names))
		}),
		commandWhy: command(func(ctx context.Context, args []string) iter.Seq2[inspect.Why, error] {
			s, err := seed.ReadKnown(first(args))
			if err != nil {
				return failed[inspect.Why](err)
			}
			return only(v.Why(ctx, s.URL))
		}),
		commandDo: command(func(ctx context.Context, args []string) iter.Seq2[string, error] {
			o, err := ParseOrder(args...)
			if err != nil {
				return failed[string](err)
			}
			return each(do(ctx, v.Crawl, o, note))
		}),
		commandFigures: command(func(ctx context.Context, _ []string) iter.Seq2[inspect.Figures, error] { return only(v.Figures(ctx)) }),
		commandWhole: command(func(ctx context.Context, _ []string) iter.Seq2[any, error] {
			if v.Whole == nil {
				return failed[any](errWhole)
			}
			return only(v.Whole(ctx))
		}),
		commandTasks: command(func(ctx context.Context, _ []string) iter.Seq2[engine.TaskStatus, error] {
			return each(v.Crawl.Tasks(ctx))
		}),
	}
}

// command answers with values.
func command[T any](answer func(ctx context.Context, args []string) iter.Seq2[T, error]) ctl.Command {
	return func(ctx context.Context, args []string, send func(any) error) error {
		for value, err := range answer(ctx, args) {
			if err != nil {
				return err
			}
			if err := send(value); err != nil {
				return err
			}
		}
		return nil
	}
}

func first(args []string) string {
	return slices.Concat(args, []string{""})[0]
}

// only yields a value or an error.
func only[T any](value T, err error) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) { yield(value, err) }
}

// each yields values, or an error.
func each[T any](values []T, err error) iter.Seq2[T, error] {
	if err != nil {
		return failed[T](err)
	}
	return func(yield func(T, error) bool) {
		for _, v := range values {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// failed yields an error.
func failed[T any](err error) iter.Seq2[T, error] {
	var none T
	return only(none, err)
}

// Client asks a running crawl, over its socket.
type Client struct {
	dir string // the job's
	ctl *ctl.Client
}

// ErrNobody is returned when no crawl serves a folder.
var ErrNobody = ctl.ErrNobody

// Dial connects to the crawl of the job in a folder.
func Dial(ctx context.Context, dir string) (*Client, error) {
	c, err := ctl.Dial(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &Client{dir, c}, nil
}

// Status is that of view.View, as is Why.
func (c *Client) Status(ctx context.Context) (inspect.Status, error) {
	return theOne(ctl.Ask[inspect.Status](ctx, c.ctl, commandStatus))
}

// Why explains what has become of a URL.
func (c *Client) Why(ctx context.Context, url string) (inspect.Why, error) {
	return theOne(ctl.Ask[inspect.Why](ctx, c.ctl, commandWhy, url))
}

// Do has the crawl carry out an order, and returns what came of it, in lines of text.
func (c *Client) Do(ctx context.Context, o Order) ([]string, error) {
	return collect(ctl.Ask[string](ctx, c.ctl, commandDo, o.words...))
}

// Figures returns the crawl as monitoring reads it.
func (c *Client) Figures(ctx context.Context) (inspect.Figures, error) {
	return theOne(ctl.Ask[inspect.Figures](ctx, c.ctl, commandFigures))
}

// Whole returns the status of the whole crawl, in JSON, if this one is a node's part.
func (c *Client) Whole(ctx context.Context) (json.RawMessage, error) {
	return theOne(ctl.Ask[json.RawMessage](ctx, c.ctl, commandWhole))
}

// errWhole is the error for a crawl that is no node's part.
var errWhole = errors.New("the crawl has no other nodes")

// Tasks returns the tasks of all loops of the crawl.
func (c *Client) Tasks(ctx context.Context) ([]engine.TaskStatus, error) {
	return collect(ctl.Ask[engine.TaskStatus](ctx, c.ctl, commandTasks))
}

// theOne returns the value of an answer that has one.
func theOne[T any](answer iter.Seq2[T, error]) (T, error) {
	for value, err := range answer {
		return value, err
	}
	var none T
	return none, errors.New("the crawl returned nothing, expected a value")
}
