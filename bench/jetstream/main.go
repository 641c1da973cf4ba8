//go:build linux

// Jetstream measures what NATS JetStream carries for a crawl of several nodes, and writes
// docs/bench/jetstream.md.
//
//	jetstream [-o FILE] [-jobs DIR] [-runs N] [-command TEXT]
//
// The servers are processes of their own, one or three of them, and so is the client, which
// appends, reads and beats as the nodes of a crawl do. CPU times are those of whole processes.
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
	if os.Getenv(serverEnv) != "" {
		machine.Exit(program, serve(os.Args[1:]))
	}
	if text, ok := process.Task(); ok {
		machine.Exit(program, runClient(text))
	}
	machine.Main(program, 1, measure)
}

const program = "jetstream"

// measured is the outcome of a task, and what it cost the servers.
type measured struct {
	result
	Servers  time.Duration // CPU time of all servers
	Disk     float64       // bytes that the task has added to the files of all servers
	Resident float64       // bytes of the server that has most
}

// run runs a task with servers of its own.
func run(m machine.Measurement, t task, always bool) (out measured, err error) {
	dir, err := os.MkdirTemp(m.Disk(), "weft-jetstream.")
	if err != nil {
		return out, err
	}
	defer os.RemoveAll(dir)
	ctx, stop := context.WithTimeout(context.Background(), 5*time.Minute)
	defer stop()
	s, err := start(ctx, dir, t.Replicas, always)
	if err != nil {
		return out, err
	}
	defer s.Kill()
	t.Servers = s.urls
	before, err := s.usage()
	if err != nil {
		return out, err
	}
	// The first result says that the streams are there, the second is the task's.
	err = process.Results(ctx, t, func(r result) error {
		after, err := s.usage()
		if err != nil {
			return err
		}
		if !r.Done {
			before = after
			return nil
		}
		out = measured{result: r, Servers: after.CPU - before.CPU, Disk: after.disk - before.disk, Resident: float64(after.Resident)}
		return nil
	})
	return out, err
}

// middle returns the run with the median of the servers' CPU time.
func middle(m machine.Measurement, t task, always bool) (measured, error) {
	r, err := machine.Middle(m.Runs, func() (measured, error) { return run(m, t, always) }, func(r measured) time.Duration { return r.Servers })
	if err != nil {
		err = fmt.Errorf("%+v: %w", t, err)
	}
	return r, err
}

func measure(m machine.Measurement) ([]byte, error) {
	var page bytes.Buffer
	fmt.Fprintf(&page, preface, machine.Fill(m.How("the median by the servers' CPU time")+" "+setting))
	for _, part := range []func(machine.Measurement, *bytes.Buffer) error{appends, reads, beats, standing} {
		if err := part(m, &page); err != nil {
			return nil, err
		}
	}
	return page.Bytes(), nil
}

// The first paragraph is to be reviewed whenever the page is measured again.
const preface = `# What JetStream carries

An append to three copies costs their servers together three to six times what it costs one server:
28 µs of CPU time for 256 bytes, 73 µs for 4 KB. So sixteen pages in one message cost less than
three times what one page does. A thousand durable consumers at rest cost two fifths of a core.

Not explained: with *sync*, three servers append more than one does.

## How it was measured

%s
`

const setting = `Every server is a process with its files on one disk, all on this machine, which other work shared:
rates are what was left, CPU times are more reliable. Messages are random bytes, as packed ones look.
*Servers* is the CPU time of all servers, *client* that of the one client process.`

// appends measures appends with an expected last sequence of their subject, one in flight for each.
func appends(m machine.Measurement, page *bytes.Buffer) error {
	fmt.Fprint(page, `
## Appends

To the logs of 1,024 partitions, each a subject of one stream in files. An append names the last
sequence of its subject, so one is in flight for each; the client has 256 of them in flight, or 1.
With *sync*, the server syncs its file before it acknowledges (`+"`sync_interval: always`"+`);
otherwise, as by default, every two minutes.

| copies | bytes | in flight | sync | appends/s | MB/s | an append, p50 | p99 | CPU of servers, µs an append | of the client, µs | bytes on disk, each copy |
|---:|---:|---:|---|---:|---:|---:|---:|---:|---:|---:|
`)
	for _, x := range []struct {
		copies, bytes, flying, count int
		sync                         bool
	}{
		{1, 256, 256, 100_000, false}, {1, 1024, 256, 100_000, false}, {1, 4096, 256, 50_000, false}, {1, 16384, 256, 20_000, false}, {1, 65536, 256, 5_000, false},
		{3, 256, 256, 50_000, false}, {3, 1024, 256, 50_000, false}, {3, 4096, 256, 30_000, false}, {3, 16384, 256, 10_000, false}, {3, 65536, 256, 3_000, false},
		{1, 1024, 1, 5_000, false}, {3, 1024, 1, 5_000, false},
		{1, 1024, 256, 5_000, true}, {3, 1024, 256, 5_000, true},
	} {
		r, err := middle(m, task{What: "append", Replicas: x.copies, Bytes: x.bytes, InFlight: x.flying, Count: x.count}, x.sync)
		if err != nil {
			return err
		}
		sync := ""
		if x.sync {
			sync = "always"
		}
		rate := float64(x.count) / r.Took.Seconds()
		fmt.Fprintf(page, "| %d | %s | %d | %s | %s | %.1f | %s | %s | %.0f | %.0f | %.0f |\n", x.copies, machine.Thousands(x.bytes), x.flying, sync,
			machine.Thousands(rate), rate*float64(x.bytes)/1e6, brief(r.P50), brief(r.P99), machine.Micros(r.Servers, x.count), machine.Micros(r.CPU, x.count),
			r.Disk/float64(x.count*x.copies))
	}
	return nil
}

// reads measures reading the log of a partition back.
func reads(m machine.Measurement, page *bytes.Buffer) error {
	fmt.Fprint(page, `
## Reading a log back

The logs of some partitions, each every 1,024th message of a stream of 100,000 messages of 4 KB, or
all of a stream with one; by one ordered consumer, as after a take-over. *Purged*: the messages of
one partition are then deleted up to the last, as after a snapshot.

A server keeps a stream in blocks of 8 MB, and reads each block that has a message of the subjects
from its disk, whole: here, two messages of a partition. So for each consumer, a log in small
messages costs as much to read as all logs of the stream; direct gets cost the same. A node that
takes over many partitions therefore [reads all logs](takeover.md#consumers).

| copies | partitions | logs read | messages read | messages/s | MB/s | CPU of servers, µs a message | purged in |
|---:|---:|---:|---:|---:|---:|---:|---:|
`)
	for _, x := range []struct{ copies, partitions, logs int }{{1, 1024, 1}, {1, 1024, 32}, {3, 1024, 1}, {3, 1024, 32}, {1, 1, 1}, {3, 1, 1}} {
		t := task{What: "read", Replicas: x.copies, Bytes: 4096, InFlight: 256, Count: 100_000, Partitions: x.partitions, Logs: x.logs}
		if x.partitions == 1 {
			t.Count = 20_000
		}
		r, err := middle(m, t, false)
		if err != nil {
			return err
		}
		rate := float64(r.N) / r.Took.Seconds()
		fmt.Fprintf(page, "| %d | %s | %d | %s | %s | %.1f | %.0f | %s |\n", x.copies, machine.Thousands(x.partitions), x.logs, machine.Thousands(r.N), machine.Thousands(rate), rate*4096/1e6,
			machine.Micros(r.Servers, r.N), brief(r.P99))
	}
	return nil
}

// beats measures the keys that the nodes write.
func beats(m machine.Measurement, page *bytes.Buffer) error {
	fmt.Fprint(page, `
## Beats

Compare-and-set of a key of 300 bytes, as each node does every two seconds, seen by watchers of the
bucket.

| copies | nodes that beat at once | watchers | beats/s | a beat, p50 | p99 | CPU of servers, µs a beat | events a beat |
|---:|---:|---:|---:|---:|---:|---:|---:|
`)
	for _, x := range []struct{ copies, flying, watchers, count int }{{1, 1, 0, 5_000}, {3, 1, 0, 5_000}, {3, 100, 0, 20_000}, {3, 1, 3, 5_000}, {3, 100, 100, 5_000}} {
		r, err := middle(m, task{What: "beat", Replicas: x.copies, Bytes: 300, InFlight: x.flying, Count: x.count, Watchers: x.watchers}, false)
		if err != nil {
			return err
		}
		fmt.Fprintf(page, "| %d | %d | %d | %s | %s | %s | %.0f | %.1f |\n", x.copies, x.flying, x.watchers, machine.Thousands(float64(x.count)/r.Took.Seconds()),
			brief(r.P50), brief(r.P99), machine.Micros(r.Servers, x.count), float64(r.Events)/float64(x.count))
	}
	return nil
}

// standing measures what streams and consumers cost while nothing happens.
func standing(m machine.Measurement, page *bytes.Buffer) error {
	fmt.Fprint(page, `
## At rest

A stream of 1,024 subjects with so many durable consumers, for ten seconds without a message.

| copies | durable consumers | made in | CPU of servers, ms a second | largest server, MB |
|---:|---:|---:|---:|---:|
`)
	for _, x := range []struct{ copies, consumers int }{{1, 0}, {3, 0}, {1, 1024}, {3, 3}, {3, 1024}} {
		r, err := middle(m, task{What: "rest", Replicas: x.copies, Consumers: x.consumers}, false)
		if err != nil {
			return err
		}
		fmt.Fprintf(page, "| %d | %s | %s | %.1f | %.0f |\n", x.copies, machine.Thousands(x.consumers), brief(r.P99), r.Servers.Seconds()*1000/r.Took.Seconds(), r.Resident/1e6)
	}
	return nil
}

// brief formats a time with three digits.
func brief(d time.Duration) string {
	switch {
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case d >= 10*time.Millisecond:
		d = d.Round(100 * time.Microsecond)
	default:
		d = d.Round(10 * time.Microsecond)
	}
	return d.String()
}
