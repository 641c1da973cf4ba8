package proof_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/proof"
	"github.com/weftcrawl/weft/internal/webtest"
)

// judged are the units by which the frontier is polite.
var judged = []webtest.Unit{webtest.Host}

func expectPolite(t *testing.T, v webtest.Verdict) {
	t.Helper()
	for _, u := range judged {
		if n := v.Units[u].Violations; n > 0 {
			t.Errorf("%d requests came too early or beside others, by %v", n, u)
		}
	}
	for _, violation := range v.Violations {
		for _, u := range judged {
			if violation.Unit == u {
				t.Log(violation)
			}
		}
	}
	if v.Astray > 0 {
		t.Errorf("%d requests went astray", v.Astray)
	}
}

// TestCrawl is the proof in small: the command, killed twice, is polite to all hosts and records each URL
// once, as the truth says.
func TestCrawl(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("samples of memory are read from Linux's /proc")
	}
	command := filepath.Join(t.TempDir(), "weft")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", command, "github.com/weftcrawl/weft/cmd/weft").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const delay = 20 * time.Millisecond
	web := proof.Web(400, delay)
	web.Rates.Shared = 0.1 // of 40 hosts an address, so that it takes seconds
	web.Rates.Stalled = -1 // the hostile are as slow
	r, err := proof.Crawl(t.Context(), proof.Task{Command: command, Dir: t.TempDir(), Web: web, Delay: delay, Concurrency: 100, Kills: 2, Tell: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Records.Good() {
		t.Errorf("%+v", r.Records)
	}
	expectPolite(t, r.Verdict)
	if len(r.Runs) != 3 || !r.Runs[0].Killed || !r.Runs[1].Killed {
		t.Errorf("runs %+v, expected two that were killed and one more", r.Runs)
	}
	expectPage(t, func(b *bytes.Buffer, c string) error { return r.Write(b, c) }, "# A broad crawl\n", "| host | ", "## Memory")
}

// TestSimulate: a frontier alone asks for what the truth asks for, and no more, in no less time than
// the hosts take, and is polite to all of them.
func TestSimulate(t *testing.T) {
	s, err := proof.Simulate(proof.Web(2000, 100*time.Millisecond), 100*time.Millisecond, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if s.Verdict.Requests != s.Bound.Requests {
		t.Errorf("%d requests, expected %d", s.Verdict.Requests, s.Bound.Requests)
	}
	for fate, n := range s.Truth {
		if s.Fates[fate] != n {
			t.Errorf("%d URLs with the fate %+v, expected %d", s.Fates[fate], fate, n)
		}
	}
	expectPolite(t, s.Verdict)
	if host := s.Bound.Chains[webtest.Host].Time; s.Took < host || s.Took > 2*s.Bound.Longest() {
		t.Errorf("took %v, expected at least %v, and at most twice %v", s.Took, host, s.Bound.Longest())
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
