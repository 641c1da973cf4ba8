package loops

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/process"
)

// childEnv marks a process that a benchmark started: its first argument is a role.
const childEnv = "WEFT_BENCH_CHILD"

var roles = map[string]func(talk talk, args []string) error{
	"pages":   servePages,
	"echoers": runEchoers,
	"holder":  serveHeld,
	"waiter":  runWaiter,
}

func TestMain(m *testing.M) {
	if os.Getenv(childEnv) == "" {
		os.Exit(m.Run())
	}
	role := os.Args[1]
	if err := roles[role](talk{bufio.NewScanner(os.Stdin), os.Stdout}, os.Args[2:]); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", role, err)
		os.Exit(1)
	}
}

// talk is one end of the lines that a benchmark and its child exchange.
type talk struct {
	in  *bufio.Scanner
	out io.Writer
}

func (t talk) say(words ...any) { fmt.Fprintln(t.out, words...) }

// hear returns the next line; "" when the other side has ended, or wants this one to end.
func (t talk) hear() string {
	t.in.Scan()
	return t.in.Text()
}

// child is a process with the other side of a benchmark. It ends when its standard input does.
type child struct {
	talk
	b   *testing.B
	pid int
}

// childTimeout ends a child that waits for another that has failed.
const childTimeout = 2 * time.Minute

// start runs this binary in a role until the benchmark ends.
func start(b *testing.B, role string, args ...any) *child {
	words := []string{role}
	for _, a := range args {
		words = append(words, fmt.Sprint(a))
	}
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), childTimeout)
	b.Cleanup(cancel)
	o := process.Options{Env: []string{childEnv + "=1"}, Pipes: true, Stderr: os.Stderr}
	if role == "waiter" { // the process that is measured; others have all cores
		o.Env = append(o.Env, fmt.Sprintf("GOMAXPROCS=%d", runtime.GOMAXPROCS(0)))
	}
	p, err := process.Start(ctx, o, self, words...)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = p.In.Close()
		if err := p.Wait(); err != nil {
			b.Errorf("%s: %v", role, err)
		}
	})
	return &child{talk{bufio.NewScanner(p.Out), p.In}, b, p.PID()}
}

// must hears a line with a prefix, and returns the rest.
func (c *child) must(word string) string {
	line := c.hear()
	rest, ok := strings.CutPrefix(line, word)
	if !ok {
		c.b.Fatalf("child printed %q, expected %q", line, word)
	}
	return strings.TrimSpace(rest)
}

// meter measures what this process spends between start and stop. The benchmark's own timer
// includes preparations: it only determines b.N, so that a round with long preparations does not
// repeat for minutes.
type meter struct {
	b     *testing.B
	total usage
	since usage
}

type usage struct {
	wall, cpu      time.Duration
	mallocs, bytes uint64
}

// spent returns what the process has used since its start; wall is since an arbitrary time.
func spent() usage {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return usage{
		wall:    time.Since(processStart),
		cpu:     process.CPU(),
		mallocs: mem.Mallocs,
		bytes:   mem.TotalAlloc,
	}
}

var processStart = time.Now()

// settle collects garbage, so that a benchmark does not pay for earlier work.
func settle() { runtime.GC() }

func (m *meter) start() {
	settle()
	m.begin()
}

func (m *meter) begin() { m.since = spent() }

func (m *meter) stop() {
	now := spent()
	m.total.wall += now.wall - m.since.wall
	m.total.cpu += now.cpu - m.since.cpu
	m.total.mallocs += now.mallocs - m.since.mallocs
	m.total.bytes += now.bytes - m.since.bytes
}

// report reports the figures per item.
func (m *meter) report(n int) {
	m.b.ReportAllocs() // or the last two are not printed
	m.b.ReportMetric(float64(m.total.wall)/float64(n), "ns/op")
	m.b.ReportMetric(float64(m.total.cpu)/float64(n), "cpu-ns/op")
	m.b.ReportMetric(float64(m.total.mallocs)/float64(n), "allocs/op")
	m.b.ReportMetric(float64(m.total.bytes)/float64(n), "B/op")
}

// onLoop runs main as the first task of a loop.
func onLoop(b *testing.B, main func(t *aio.Task) error) {
	if err := aio.Run(context.Background(), main); err != nil {
		b.Error(err)
	}
}

// onLoops runs main on one loop per processor, the i-th of n.
func onLoops(b *testing.B, main func(t *aio.Task, i, n int) error) {
	var wg sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for i := range n {
		wg.Go(func() { onLoop(b, func(t *aio.Task) error { return main(t, i, n) }) })
	}
	wg.Wait()
}

// share is the i-th of n parts of total, as even as they can be.
func share(total, i, n int) int { return (i+1)*total/n - i*total/n }
