package proof_test

import (
	"bytes"
	"context"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/bench/proof"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/internal/webtest"
)

// dir is the folder of files that tests share.
var dir string

func TestMain(m *testing.M) {
	var err error
	if dir, err = os.MkdirTemp("", "weft-proof"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir) // a temporary folder
	os.Exit(code)
}

var build = sync.OnceValues(func() (string, error) { return process.Build(context.Background(), dir, "weft") })

// weft returns the weft command, built once for all tests.
func weft(t *testing.T) string {
	t.Helper()
	command, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return command
}

func expectPolite(t *testing.T, v webtest.Verdict) {
	t.Helper()
	for u := range v.Units {
		if n := v.Units[u].Violations; n > 0 {
			t.Errorf("%d requests too early or concurrent with others, by %v", n, webtest.Unit(u))
		}
	}
	for _, violation := range v.Violations {
		t.Log(violation)
	}
	if v.Astray > 0 {
		t.Errorf("%d requests went astray", v.Astray)
	}
}

// TestNodes is a small proof of a crawl by two nodes, of which one is killed: no URL is lost, and
// what is fetched again is what the blow explains.
func TestNodes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("samples of memory are read from Linux's /proc")
	}
	t.Parallel()
	server, err := process.Build(t.Context(), t.TempDir(), "weft-nats")
	if err != nil {
		t.Fatal(err)
	}
	web := proof.LatencyWeb(100)
	web.Latency = 20 * time.Millisecond
	r, err := proof.CrawlByNodes(t.Context(), proof.NodesTask{
		Command: weft(t), Server: server, Dir: t.TempDir(), Web: web, Delay: 20 * time.Millisecond, Patience: time.Minute, Concurrency: 50, Variants: 150,
		Nodes: 2, Servers: 1, Blows: []proof.Blow{proof.Kill}, Logf: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range r.Failures() {
		t.Error(wrong)
	}
	if r.Records.Right != r.Bound.URLs {
		t.Errorf("%d of %d URLs are right", r.Records.Right, r.Bound.URLs)
	}
	at := r.Struck[0]
	if at.Owned <= 0 || at.Restored != 0 && at.Restored < at.Owned {
		// 0: the crawl was over when the servers were asked next.
		t.Errorf("partitions with owners after %v, restored after %v", at.Owned, at.Restored)
	}
	if s := at.Stood; (s.Half > 0) != (s.Partitions > 0) || s.Most < s.Half || s.All < s.Most {
		// A node killed early has no records.
		t.Errorf("partitions stood still: %+v", s)
	}
	killed := 0
	for _, s := range r.Stints {
		if s.Took <= 0 || s.CPU <= 0 || s.Peak <= 0 {
			t.Errorf("node %d: %+v", s.Node+1, s)
		}
		l, m := s.Status.Lag, s.Status
		said := m.LogMessages > 0 // a node that is killed early has not
		if said && (l.P50 <= 0 || l.P99 < l.P50 || l.Max < l.P99 || m.LogBytes <= m.LogMessages) || !said && (!s.Killed || m.LogBytes > 0) {
			t.Errorf("node %d: lag %+v, %d bytes of logs in %d messages", s.Node+1, l, m.LogBytes, m.LogMessages)
		}
		if s.Killed {
			killed++
			if s.Node != at.Node || s.Took > r.Took-r.Start || s.Lost {
				t.Errorf("node %d was killed after %v: %+v", s.Node+1, s.Took, at)
			}
		}
	}
	if killed != 1 || len(r.Stints) != 3 {
		t.Errorf("%d stints, %d of which ended by being killed; expected 3 and 1", len(r.Stints), killed)
	}
	if r.Start <= 0 || r.First < r.Start || r.End <= 0 || r.End > r.Last {
		t.Errorf("first request after %v, a fifth after %v; the last fifth took %v, the end %v", r.Start, r.First, r.Last, r.End)
	}
	if r.LogLeft == 0 || r.LogPeak < r.LogLeft {
		t.Errorf("%d bytes of logs are left, of %d", r.LogLeft, r.LogPeak)
	}
	expectPage(t, func(b *bytes.Buffer, c string) error { return proof.WriteNodes(b, c, r, nil) }, "# A crawl by several nodes\n", "| killed, disk kept |", "## Records")
}

// TestCrawl is a small proof: the command, killed twice, is polite to all hosts and records each
// URL once, with the fate of the truth.
func TestCrawl(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("samples of memory are read from Linux's /proc")
	}
	command := weft(t)
	const delay = 20 * time.Millisecond
	web := proof.Web(long.Or(200, 400), delay)
	web.Rates.Shared = 0.1 // 40 hosts per address, so that it takes seconds
	// No time-outs: a crawler that gives up early on a busy machine returns early.
	web.Rates.Stalled, web.Rates.Hostile = -1, -1
	web.Rates.Trap, web.Rates.Maze = 0.01, 0.05
	r, err := proof.Crawl(t.Context(), proof.Task{
		Command: command, Dir: t.TempDir(), Web: web, Delay: delay, Patience: time.Minute, Concurrency: 100, Variants: 150, Kills: 2, Logf: t.Logf,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Records.Good() {
		t.Errorf("%+v", r.Records)
	}
	if n := r.Records.Trapped; n == 0 {
		t.Error("no page of a calendar was fetched")
	}
	for _, wrong := range r.Failures() {
		t.Error(wrong)
	}
	expectPolite(t, r.Verdict)
	if len(r.Runs) != 3 || !r.Runs[0].Killed || !r.Runs[1].Killed {
		t.Errorf("runs %+v, expected two that were killed and one more", r.Runs)
	}
	expectPage(t, func(b *bytes.Buffer, c string) error { return r.Write(b, c) }, "# A broad crawl\n", "| host | ", "## Memory")
}

// TestSimulate: a frontier alone makes exactly the requests of the truth, in no less time than the
// hosts take, and is polite to all of them.
func TestSimulate(t *testing.T) {
	const delay = 100 * time.Millisecond
	web := proof.Web(2000, delay)
	web.Rates.Trap = 0.002
	s, err := proof.Simulate(proof.Task{Web: web, Delay: delay, Patience: 10 * time.Second, Concurrency: 1000, Variants: 300})
	if err != nil {
		t.Fatal(err)
	}
	if want := s.Bound.Requests + s.Trapped; s.Verdict.Requests != want || s.Trapped == 0 {
		t.Errorf("%d requests, expected %d, of which %d in calendars", s.Verdict.Requests, want, s.Trapped)
	}
	for fate, n := range s.Truth {
		if s.Fates[fate] != n {
			t.Errorf("%d URLs with the fate %+v, expected %d", s.Fates[fate], fate, n)
		}
	}
	for _, wrong := range s.Failures() {
		t.Error(wrong)
	}
	expectPolite(t, s.Verdict)
	if r := s.Ratio(); r < 1 || r > 1.1 {
		t.Errorf("took %v, expected at least %v, and at most a tenth more", s.Took, s.Bound.Longest())
	}
	expectPage(t, func(b *bytes.Buffer, c string) error { return s.Write(b, c) }, "# A broad crawl, simulated\n", "| address | ")
}

func expectPage(t *testing.T, write func(*bytes.Buffer, string) error, parts ...string) {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b, "command"); err != nil {
		t.Error(err)
	}
	for _, part := range parts {
		if !strings.Contains(b.String(), part) {
			t.Errorf("no %q in:\n%s", part, b.String())
		}
	}
}

// TestSimulateCluster: partitions that nodes hand over are as many as needed and no more, and a
// page costs messages as batches of its links allow.
func TestSimulateCluster(t *testing.T) {
	c, err := proof.SimulateCluster(proof.ClusterTask{Nodes: 12, Hosts: 20_000, Partitions: 64, Rate: 20, Fast: 100, Span: 10 * time.Second, Seed: 1, Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range c.Failures() {
		t.Error(wrong)
	}
	for _, s := range c.Shares {
		if s.Hosts < 1 || s.Pages < 1 || s.Hosts > 3 {
			t.Errorf("%+v, expected a most above the mean", s)
		}
	}
	for i, x := range c.Traffic {
		if x.Links <= 0 || x.Links > 12 || x.Entries < 1 || x.ToNodes > x.Links {
			t.Errorf("%+v", x)
		}
		if i%4 > 0 && x.Rate == c.Traffic[i-1].Rate && x.Links > c.Traffic[i-1].Links {
			t.Errorf("%+v: more messages than with a shorter batch", x)
		}
		if sent := (x.Links + x.Log) * float64(x.Rate); i%4 > 0 && sent > float64(c.Partitions)*1.05 {
			t.Errorf("%+v: %.0f messages a second, expected at most one for each of %d partitions", x, sent, c.Partitions)
		}
	}
	expectPage(t, func(b *bytes.Buffer, command string) error { return c.Write(b, command) }, "# A crawl on many machines, simulated\n", "## Hand-over", "## What JetStream has to carry")
}
