//go:build linux

// Takeover measures how fast a node restores the partitions of another that has died, and writes
// docs/bench/takeover.md.
//
//	takeover [-o FILE] [-jobs DIR] [-runs N] [-command TEXT]
//
// A real node begins a crawl and dies. The program writes the logs as nodes do; then another real
// node takes all partitions over. Servers and the second node are processes of their own.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/weftcrawl/weft/bench/machine"
	"github.com/weftcrawl/weft/internal/process"
)

func main() {
	if text := os.Getenv(serverEnv); text != "" {
		machine.Exit(program, serve(text))
	}
	if text, ok := process.Task(); ok {
		machine.Exit(program, work(text))
	}
	machine.Main(program, 1, measure)
}

const program = "takeover"

// task is the work of a process, and its crawl.
type task struct {
	What       string // take, join, read, scan
	Servers    int
	Partitions int
	URLs       int // of a partition
	Small      int // of these, those with a message each; the others come first, in blocks of 1 MiB
	Logs       int // to scan
	Dir        string
	At         []string
}

// result has the figures of a process. The first one says that it is about to begin.
type result struct {
	Done    bool
	Took    time.Duration // until all its partitions are restored; of take: since their owner's death
	Seconds float64       // in which it has restored any
	URLs    int           // that it has restored
	N       int           // messages that it has read
	CPU     time.Duration
	Decode  time.Duration // CPU time
	Peak    int64         // resident bytes
}

// measured is a result, and what it cost the servers.
type measured struct {
	result
	Servers         time.Duration // CPU time of all
	Messages, Bytes int           // of all logs
}

// run has processes do things in turn, with servers of their own.
func run(m machine.Measurement, t task, whats ...string) (all []measured, err error) {
	if t.Dir, err = os.MkdirTemp(m.Disk(), "weft-takeover."); err != nil {
		return nil, err
	}
	defer os.RemoveAll(t.Dir)
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Minute)
	defer stop()
	s, err := start(ctx, t.Dir, t.Servers)
	if err != nil {
		return nil, err
	}
	defer s.Kill()
	t.At = s.urls
	kill, err := t.begin(ctx)
	defer kill()
	if err != nil {
		return nil, err
	}
	messages, size, err := t.writeLogs(ctx)
	if err != nil {
		return nil, err
	}
	for _, t.What = range whats {
		if t.What == "take" {
			kill()
		}
		one, before := measured{Messages: messages, Bytes: size}, time.Duration(0)
		if err := process.Results(ctx, t, func(r result) error {
			used, err := s.Used()
			if !r.Done {
				before = used.CPU
				return err
			}
			one.result, one.Servers = r, used.CPU-before
			return err
		}); err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// middle returns the run whose last process took the median of CPU time.
func middle(m machine.Measurement, t task, whats ...string) ([]measured, error) {
	all, err := machine.Middle(m.Runs, func() ([]measured, error) { return run(m, t, whats...) },
		func(all []measured) time.Duration { return all[len(whats)-1].CPU })
	if err != nil {
		err = fmt.Errorf("%+v: %w", t, err)
	}
	return all, err
}

func measure(m machine.Measurement) ([]byte, error) {
	var page bytes.Buffer
	fmt.Fprintf(&page, preface, machine.Fill(m.How("the median by the node's CPU time")+" "+setting))
	for _, part := range []func(machine.Measurement, *bytes.Buffer) error{deaths, joins, scans} {
		if err := part(m, &page); err != nil {
			return nil, err
		}
	}
	return page.Bytes(), nil
}

const preface = `# Taking partitions over

A node restores a partition from its log in 10 to 30 µs of its CPU time a URL, and in 1 to 10 µs of
the servers'. With a core to itself that is more than 65,000 URLs a second from large logs, and more
than 30,000 from logs that have a message for each URL.

## How it was measured

%s
`

const setting = `Servers and node share the cores with all else that runs, so seconds are what was left; CPU times
are more reliable. A real node begins a crawl, and is killed. The logs are written as nodes do it:
of each partition first blocks of 1 MiB, which are what a snapshot has, then a message for each URL.
One URL of three is done. A host has 100 URLs. Then another real node, with 512 MiB, takes all
partitions over.`

// deaths measures a node that dies.
func deaths(m machine.Measurement, page *bytes.Buffer) error {
	fmt.Fprint(page, `
## A node dies

*Restored after*: seconds from the moment at which the partitions have new owners until the last of
them is restored. The CPU time of the node has three parts. *Read*: what a process takes that only
reads the same messages; *decode*: to unpack and decode them; *store*: the rest, for disk, frontier
and all else that a node does.

| servers | partitions | URLs of each | in messages of their own | messages | MB | restored after, s | URLs/s | messages/s | MB/s | CPU of servers, µs a URL | of the node, µs | read | decode | store | peak, MB |
|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`)
	for _, t := range []task{
		{Servers: 1, Partitions: 1, URLs: 300_000, Small: 40_000},
		{Servers: 1, Partitions: 8, URLs: 300_000, Small: 40_000},
		{Servers: 1, Partitions: 32, URLs: 1_000, Small: 1_000},
		{Servers: 1, Partitions: 32, URLs: 30_000, Small: 4_000},
		{Servers: 1, Partitions: 1024, URLs: 200, Small: 200},
		{Servers: 1, Partitions: 1024, URLs: 1_000, Small: 1_000},
		{Servers: 3, Partitions: 32, URLs: 30_000, Small: 4_000},
		{Servers: 3, Partitions: 1024, URLs: 200, Small: 200},
	} {
		all, err := middle(m, t, "read", "take")
		if err != nil {
			return err
		}
		read, r := all[0], all[1]
		rate := func(n int) float64 { return float64(n) / r.Seconds }
		fmt.Fprintf(page, "| %d | %s | %s | %s | %s | %.1f | %.2f | %s | %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f | %d |\n",
			t.Servers, machine.Thousands(t.Partitions), machine.Thousands(t.URLs), machine.Thousands(t.Small), machine.Thousands(r.Messages), float64(r.Bytes)/1e6, r.Took.Seconds(),
			machine.Thousands(rate(r.URLs)), machine.Thousands(rate(r.Messages)), rate(r.Bytes)/1e6, machine.Micros(r.Servers, r.URLs), machine.Micros(r.CPU, r.URLs),
			machine.Micros(read.CPU, r.URLs), machine.Micros(read.Decode, r.URLs), machine.Micros(r.CPU-read.CPU-read.Decode, r.URLs), r.Peak>>20)
	}
	return nil
}

// joins measures a node that joins, or comes back without its disk.
func joins(m machine.Measurement, page *bytes.Buffer) error {
	fmt.Fprint(page, `
## A node joins

The first node lives, and gives a second one half of its partitions: four, then up to twice as many
as that one has restored since. *Balanced after*: until all are restored.

| servers | partitions given | URLs of each | in messages of their own | balanced after, s | CPU of servers, s | of the node, s |
|---:|---:|---:|---:|---:|---:|---:|
`)
	for _, t := range []task{
		{Servers: 1, Partitions: 1024, URLs: 200, Small: 200},
		{Servers: 1, Partitions: 64, URLs: 30_000, Small: 4_000},
	} {
		all, err := middle(m, t, "join")
		if err != nil {
			return err
		}
		r := all[0]
		fmt.Fprintf(page, "| %d | %s | %s | %s | %.1f | %.1f | %.1f |\n", t.Servers, machine.Thousands(t.Partitions/2), machine.Thousands(t.URLs), machine.Thousands(t.Small),
			r.Took.Seconds(), r.Servers.Seconds(), r.CPU.Seconds())
	}
	return nil
}

// scans measures consumers of some logs.
func scans(m machine.Measurement, page *bytes.Buffer) error {
	fmt.Fprint(page, `
## Consumers

The cost of a consumer that reads some of 1,024 logs of 200 messages each. To a consumer of some
subjects, each message costs the server as much as some 70 messages to a consumer of all subjects.
So a node that takes a 32nd of the logs or more reads all, and drops those of others.

Before, a node read 32 logs at a time by their subjects. All 1,024 then took 51 s and 192 µs of the
server's CPU time a URL, on a machine with less other work. Three servers and three nodes on two
cores restored 1,000 to 1,700 URLs a second that way, in an earlier [proof](../proof/nodes.md).

| logs asked for | messages | seconds | CPU of the server, µs a message | of the reader, µs |
|---:|---:|---:|---:|---:|
`)
	for _, logs := range []int{1, 32, 341, 1024} {
		all, err := middle(m, task{Servers: 1, Partitions: 1024, URLs: 200, Small: 200, Logs: logs}, "scan")
		if err != nil {
			return err
		}
		r := all[0]
		name := machine.Thousands(logs)
		if logs == 1024 {
			name = "all"
		}
		fmt.Fprintf(page, "| %s | %s | %.2f | %.0f | %.0f |\n", name, machine.Thousands(r.N), r.Took.Seconds(), machine.Micros(r.Servers, r.N), machine.Micros(r.CPU, r.N))
	}
	return nil
}
