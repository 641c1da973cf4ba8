package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cluster"
)

// looked is the subject of a look: a job, or a crawl of several machines.
type looked interface {
	Hosts(context.Context) iter.Seq2[weft.HostStatus, error]
	URLs(context.Context, weft.URLFilter) iter.Seq2[weft.URLStatus, error]
	Why(ctx context.Context, url string) (weft.Why, error)
}

// arguments accepts JOB and what else is named, or only that for a crawl of several machines.
func (f *clusterFlags) arguments(expected string, n int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if f.any() {
			rest := strings.TrimPrefix(strings.TrimPrefix(expected, "JOB"), " ")
			if len(args) == n && n > 0 {
				return usage("%s: %.128q: a job, expected none with --cluster", cmd.Name(), args[0])
			}
			return arguments(n-1, n-1, "argument", rest)(cmd, args)
		}
		return jobArguments(expected, n)(cmd, args)
	}
}

// look opens the job that is the first argument, or asks the nodes of a crawl.
func (f *clusterFlags) look(args []string, fn func(context.Context, looked) error) error {
	if !f.any() {
		return inJob(args[0], func(ctx context.Context, job *weft.Job) error { return fn(ctx, job) })
	}
	return f.ask(func(ctx context.Context, c *cluster.Client) error { return fn(ctx, c) })
}

// ask connects to the servers of a crawl.
func (f *clusterFlags) ask(fn func(context.Context, *cluster.Client) error) error {
	if err := f.named(); err != nil {
		return err
	}
	ctx, o := context.Background(), f.connection()
	o.OnWarning = func(err error) { fmt.Fprintf(os.Stderr, "weft: %s\n", printable(err.Error())) }
	c, err := cluster.Dial(ctx, o)
	if err == nil {
		defer c.Close()
		err = fn(ctx, c)
	}
	var e *exit
	if err != nil && !errors.As(err, &e) {
		err = &exit{exitError, err}
	}
	return err
}

// control has all nodes carry out an order.
func (f *clusterFlags) control(order []string) error {
	if _, err := weft.ParseOrder(order...); err != nil {
		return usage("ctl: %w", err)
	}
	return f.ask(func(ctx context.Context, c *cluster.Client) error {
		lines, err := c.Do(ctx, order...)
		out := newPrinter()
		for _, line := range lines {
			fmt.Fprintln(out, printable(line))
		}
		return errors.Join(err, standardOutput(out.Flush()))
	})
}

// nodeTable has the node's name in the last column, as its width is unknown. The titles fit into 80
// columns.
var nodeTable = table{
	{"STATE", -7}, {"PARTITIONS", 10}, {"DONE", 10}, {"PER S", 6}, {"WAITING", 10}, {"IN FLIGHT", 9}, {"TO SEND", 7}, {"LAG", 5}, {"NODE", 0},
}

// mostOrders is the number of orders that writeCluster shows.
const mostOrders = 5

// writeCluster writes a crawl of several machines, and a line for each node.
func writeCluster(w io.Writer, s cluster.Status) {
	state := "running"
	switch {
	case s.Over:
		state = "over"
	case len(s.Lost) > 0:
		state = "broken: stream " + strings.Join(s.Lost, ", ") + " was deleted; weft cluster restore brings it back"
	case s.Unowned == s.Partitions && s.Stopped != "":
		state = "stopped by " + s.Stopped + "; weft crawl --cluster with a higher limit continues it"
	case s.Unowned == s.Partitions:
		state = "not over, no node runs; weft crawl --cluster continues it"
	case s.Unowned > 0:
		state = fmt.Sprintf("running; %s of %s have no node yet", plural(s.Unowned, "partition"), count(s.Partitions))
	}
	fmt.Fprintf(w, "%s: %s\n", printable(s.Name), state)
	out := &sheet{Writer: w, width: titleWidth}
	out.line("started", "%s", moment(s.Begun))
	t := &s.Total
	out.line("done", "%s: %s, %s failed", plural(t.Done, "URL"), plural(t.Pages, "page"), count(t.Failed))
	out.line("refused", "%s", count(t.Refused))
	if s.Unowned < s.Partitions { // else only the logs know
		out.line("waiting", "%s, and %s between nodes", count(t.Pending), plural(int(s.Links), "message"))
		out.line("in flight", "%s", count(t.InFlight))
	}
	out.line("received", "%s", volume(t.Bytes))
	if !s.Over && s.Unowned < s.Partitions {
		out.line("rate", "%s/s", perSecond(t.PerSecond))
	}
	for i, order := range s.Orders {
		if i == mostOrders {
			out.line("orders", "and %s more", count(len(s.Orders)-i))
			break
		}
		out.line("orders", "%s", order)
	}
	for _, key := range s.Unread {
		out.line("unreadable", "%s", key)
	}
	fmt.Fprintln(w)
	nodeTable.header(w)
	for _, n := range s.Nodes {
		name := n.Name
		if n.Started < n.Partitions && !s.Over {
			name += "  starts " + plural(n.Partitions-n.Started, "more partition")
		}
		if len(n.Paused) > 0 {
			name += "  paused: " + strings.Join(n.Paused, ", ")
		}
		nodeTable.row(w, n.State, count(n.Partitions), count(n.Done), perSecond(n.PerSecond), count(n.Pending), count(n.InFlight), count(int(n.Outbox)), fmt.Sprintf("%.1fs", n.Lag.P99), name)
	}
}
