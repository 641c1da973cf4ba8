package process

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// TestMain lets the test binary be the worker of Results, and a member of a group.
func TestMain(m *testing.M) {
	if os.Getenv("WEFT_TEST_GROUP") != "" {
		if err := Report(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	task, ok := Task()
	if !ok {
		os.Exit(m.Run())
	}
	var n int
	if err := json.Unmarshal(task, &n); err != nil || n < 0 {
		fmt.Fprintln(os.Stderr, "expected a count")
		os.Exit(1)
	}
	for i := range n {
		fmt.Println(i)
	}
}

// TestPipes: what the process wrote before its end can be read after it.
func TestPipes(t *testing.T) {
	p, err := Start(t.Context(), Options{Pipes: true}, "sh", "-c", "read x; echo got $x; echo more")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(p.In, "this")
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	if out, err := io.ReadAll(p.Out); err != nil || string(out) != "got this\nmore\n" {
		t.Errorf("%q, %v", out, err)
	}
	if p.CPU() <= 0 || p.ExitCode() != 0 {
		t.Errorf("CPU %v, exit %d", p.CPU(), p.ExitCode())
	}
}

func TestFailure(t *testing.T) {
	var all strings.Builder
	p, err := Run(t.Context(), Options{Stderr: &all}, "sh", "-c", "echo >&2; echo why >&2; echo more >&2; exit 4")
	var exit *exec.ExitError
	if !errors.As(err, &exit) || p.ExitCode() != 4 || err.Error() != "exit status 4: why\nmore" {
		t.Errorf("exit %d, %v", p.ExitCode(), err)
	}
	if p.FirstLine() != "why" || all.String() != "\nwhy\nmore\n" {
		t.Errorf("first line %q of %q", p.FirstLine(), &all)
	}
	if _, err := Start(t.Context(), Options{Pipes: true}, "/nonexistent"); err == nil {
		t.Error("a program that does not exist starts")
	}
}

func TestKill(t *testing.T) {
	p, err := Start(t.Context(), Options{Name: "sleeper", Pipes: true}, "sh", "-c", "echo $0; exec sleep 1h")
	if err != nil {
		t.Fatal(err)
	}
	if line, _ := bufio.NewReader(p.Out).ReadString('\n'); line != "sleeper\n" && line != "sh\n" {
		t.Errorf("argv[0] is %q", line) // shells differ
	}
	if s, err := ReadStatus(p.PID()); runtime.GOOS == "linux" && (err != nil || s.Peak < s.Resident || s.Threads != 1) {
		t.Errorf("%+v, %v", s, err)
	}
	p.Kill()
	p.Kill()
	<-p.Ended()
	if p.ExitCode() != -1 || p.State() != "signal: killed" {
		t.Errorf("exit %d, %s", p.ExitCode(), p.State())
	}
	if s, err := ReadStatus(p.PID()); err == nil {
		t.Errorf("a process that has ended has %+v", s)
	}
}

func TestResults(t *testing.T) {
	sum := 0
	if err := Results(t.Context(), 4, func(n int) error { sum += n; return nil }); err != nil || sum != 6 {
		t.Errorf("%d, %v", sum, err)
	}
	if err := Results(t.Context(), -1, func(int) error { return nil }); err == nil || err.Error() != "-1: exit status 1: expected a count" {
		t.Errorf("of a worker that fails: %v", err)
	}
	enough := errors.New("enough")
	if err := Results(t.Context(), 1_000_000, func(int) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("of a caller that fails: %v", err)
	}
}

func TestGroup(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("its processes read /proc")
	}
	var g Group
	defer g.Kill()
	for range 2 {
		if err := g.Start(t.Context(), "WEFT_TEST_GROUP=1"); err != nil {
			t.Fatal(err)
		}
	}
	first, err := g.Used()
	if err != nil || first.CPU <= 0 || first.Resident <= 0 {
		t.Errorf("%+v, %v", first, err)
	}
	if then, err := g.Used(); err != nil || then.CPU < first.CPU {
		t.Errorf("%+v, then %+v, %v", first, then, err)
	}
	g.Kill()
	if _, err := g.Used(); err == nil {
		t.Error("processes that have ended answer")
	}
}
