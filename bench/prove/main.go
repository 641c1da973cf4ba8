// Command proof crawls a broad synthetic web with the weft command, judges the crawl, and writes a
// page:
//
//	CGO_ENABLED=0 go -C bench run ./prove -hosts 100000 -o ../docs/proof/broad.md
//	CGO_ENABLED=0 go -C bench run ./prove -http2 FOLDER -o ../docs/proof/http2.md
//	CGO_ENABLED=0 go -C bench run ./prove -simulate -hosts 1000000 -o ../docs/proof/simulation.md
//	CGO_ENABLED=0 go -C bench run ./prove -nodes 100 -hosts 10000000 -o ../docs/proof/cluster.md
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/weftcrawl/weft/bench/proof"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/shard/partition"
	"github.com/weftcrawl/weft/internal/webtest"
)

func main() {
	debug.SetGCPercent(400) // responses are garbage and the heap is small: trade memory for time
	err := run(context.Background(), os.Args[1:])
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "proof:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	f := flag.NewFlagSet("proof", flag.ContinueOnError)
	hosts := f.Int("hosts", 1000, "hosts of the web")
	delay := f.Duration("delay", 100*time.Millisecond, "delay between requests")
	patience := f.Duration("patience", 10*time.Second, "time-out of a fetch")
	variants := f.Int("variants", 2500, "URLs of a path to follow, so that endless calendars take no longer than the bound")
	memory := f.Int("memory", 0, "memory budget of the command in bytes; 0: its default")
	concurrency := f.Int("concurrency", 1000, "concurrent requests")
	kills := f.Int("kills", 2, "times to kill the command")
	command := f.String("command", "", "the weft command; empty: build it")
	dir := f.String("dir", "", "existing folder for the job; empty: a temporary one")
	flags := f.String("flags", "", "additional flags of the weft command, separated by spaces")
	out := f.String("o", "", "file for the page; empty: standard output")
	neighbours := f.Bool("neighbours", false, "crawl a healthy site beside each kind of neighbour")
	http2 := f.String("http2", "", "a folder of pages: serve it with real servers, and crawl each over HTTP/2")
	only := f.String("only", "", "with -neighbours and -http2: only those whose name contains this")
	simulate := f.Bool("simulate", false, "drive a frontier on virtual time, without sockets")
	nodes := f.Int("nodes", 0, "simulate a crawl on that many machines, at least 4; 0: do not")
	m := machinesOf(f)
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() > 0 {
		return fmt.Errorf("argument %q, expected only flags", f.Arg(0))
	}
	if ran, err := m.alone(ctx); ran || err != nil {
		return err
	}
	var w io.Writer = os.Stdout
	if *out != "" {
		file, err := os.Create(*out)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, file.Close()) }()
		w = file
	}
	line := strings.Join(append([]string{"CGO_ENABLED=0 go -C bench run ./prove"}, args...), " ")
	logf := func(format string, args ...any) { fmt.Fprintf(os.Stderr, format+"\n", args...) }
	task := proof.Task{
		Web: proof.Web(*hosts, *delay), Delay: *delay, Patience: *patience, Concurrency: *concurrency, Variants: *variants,
		Memory: *memory, Kills: *kills, Flags: strings.Fields(*flags), Logf: logf,
	}
	if *nodes > 0 {
		c, err := proof.SimulateCluster(proof.ClusterTask{Nodes: *nodes, Hosts: *hosts, Partitions: partition.Default, Rate: 1000, Fast: 5000, Span: time.Minute, Seed: 1, Logf: logf})
		if err != nil {
			return err
		}
		return errors.Join(c.Write(w, line), failed(c.Failures()))
	}
	if *simulate {
		r, err := proof.Simulate(task)
		if err != nil {
			return err
		}
		return errors.Join(r.Write(w, line), failed(r.Failures()))
	}
	tmp, err := os.MkdirTemp("", "weft-proof")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	if err := place(ctx, &task, *command, cmp.Or(*dir, tmp), tmp); err != nil {
		return err
	}
	if *http2 != "" {
		return crawlOver(ctx, task, *http2, *only, w, line)
	}
	if *neighbours {
		return crawlBeside(ctx, task, *only, w, line)
	}
	if m.number > 0 {
		return m.crawl(ctx, task, tmp, w, line)
	}
	r, err := proof.Crawl(ctx, task)
	if err != nil {
		return err
	}
	return errors.Join(r.Write(w, line), failed(r.Failures()))
}

// place says which command crawls, and where; it builds the command if there is none.
func place(ctx context.Context, task *proof.Task, command, dir, tmp string) (err error) {
	if task.Command, task.Dir = command, dir; command == "" {
		task.Command, err = process.Build(ctx, tmp, "weft")
	}
	return err
}

// crawlBeside crawls a healthy site alone and beside each neighbour.
func crawlBeside(ctx context.Context, task proof.Task, only string, w io.Writer, line string) error {
	var all []proof.Hurt
	for _, n := range append([]proof.Neighbour{{}}, webtest.Neighbours()...) {
		if n.Name != "" && !strings.Contains(n.Name, only) {
			continue
		}
		h, err := proof.Beside{
			Command: task.Command, Dir: task.Dir, Neighbour: n, N: n.Long, Pages: 400, Latency: 20 * time.Millisecond,
			Memory: task.Memory, Flags: append([]string{"--per-host", "2"}, task.Flags...), Patience: 2 * time.Minute,
		}.Run(ctx)
		if err != nil {
			return fmt.Errorf("%s: %w", n.Name, err)
		}
		task.Logf("%d %s: %d pages in %v, end %v, %d MiB, CPU %v", h.N, n.Name, h.Fetched, h.Took, h.Drain, h.Peak>>20, h.CPU)
		all = append(all, h)
	}
	return errors.Join(proof.WriteNeighbours(w, line, all), failed(proof.Missed(all)))
}

// crawlOver crawls a folder over each server that is installed.
func crawlOver(ctx context.Context, task proof.Task, root, only string, w io.Writer, line string) error {
	var all []proof.Crossed
	var missing, wrong []string
	var pages map[string]string // of the first
	for _, c := range proof.HTTP2Cases() {
		switch {
		case !strings.Contains(c.Server.Name+" "+c.What, only):
			continue
		case !c.Server.Installed():
			if !slices.Contains(missing, c.Server.Name) {
				missing = append(missing, c.Server.Name)
			}
			continue
		}
		crossed, err := proof.Over{Command: task.Command, Dir: task.Dir, Root: root, Case: c}.Run(ctx, pages)
		if err != nil {
			return fmt.Errorf("%s, %s: %w", c.Server.Name, c.What, err)
		}
		if pages == nil {
			pages = crossed.Pages
		}
		task.Logf("%s %s: %d pages, %d requests, %d twice, %d retried, %d connections, %v", c.Server.Name, c.What, len(crossed.Pages),
			crossed.Requests, len(crossed.Twice), crossed.Retried, crossed.Conns, crossed.Took)
		for _, one := range crossed.Wrong {
			wrong = append(wrong, c.Server.Name+" "+c.What+": "+one)
		}
		all = append(all, crossed)
	}
	return errors.Join(proof.WriteHTTP2(w, line, all, missing), failed(wrong))
}

// failed returns an error for a crawl with failures; the page lists them.
func failed(wrong []string) error {
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%s", strings.Join(wrong, "\n"))
}
