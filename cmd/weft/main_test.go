package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestMain lets the test binary be the command, so that exit codes and signals are those of a
// process.
func TestMain(m *testing.M) {
	switch os.Getenv("WEFT_TEST_MAIN") {
	case "1":
		main()
		os.Exit(0)
	case "stuck":
		stuck(os.Args[1])
	}
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy", "no_proxy"} {
		// Those of the machine.
		os.Unsetenv(name)
		os.Unsetenv(strings.ToUpper(name))
	}
	// A process with the race detector sleeps for a second before it exits.
	os.Setenv("GORACE", strings.TrimSpace(os.Getenv("GORACE")+" atexit_sleep_ms=0"))
	var err error
	if scratch, err = os.MkdirTemp("", "weft"); err != nil {
		log.Fatal(err)
	}
	flag.Parse()
	if runtime.GOMAXPROCS(0) < 6 { // parallel tests wait for processes that wait
		_ = flag.Set("test.parallel", "6")
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

var scratch string // the folder of all tests

// unraced returns the command without the race detector, which is most of the memory and of the
// start of a process. It is this program, if that has none.
func unraced() string {
	if !raced {
		return os.Args[0]
	}
	return built()
}

// built returns the command as the pages say that it is built, but for -trimpath, which would
// compile all packages once more. It is built once for all tests.
var built = sync.OnceValue(func() string {
	path := filepath.Join(scratch, "weft")
	cmd := exec.Command("go", "build", "-ldflags=-s", "-o", path, ".")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOGC=") // that of script/test is for tests
	if out, err := cmd.CombinedOutput(); err != nil {
		panic(fmt.Sprintf("go build: %v\n%s", err, out))
	}
	return path
})

// weftCommand is weft with arguments, in an empty folder: with the race detector, if the test has
// it and the command is a crawl.
func weftCommand(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	program := os.Args[0]
	if len(args) == 0 || args[0] != "crawl" && args[0] != "demo" {
		program = unraced()
	}
	if os.Getenv(flagIgnored) != "" {
		program, args = unraced(), withoutItsFlag(t, args)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	// The user's cache has the login of their nodes.
	cmd.Env = append(os.Environ(), "WEFT_TEST_MAIN=1", "XDG_CACHE_HOME="+filepath.Join(scratch, "cache"))
	cmd.Dir = t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

// ended is the outcome of a command.
type ended struct {
	code           int
	stdout, stderr string
	dir            string
}

// weftRun runs the command to its end, without the race detector, with which a process takes
// about twice the CPU time. Crawls that a test sends signals, orders or input have it: see
// weftCommand, and pty_linux_test.go for the screen.
func weftRun(t *testing.T, args ...string) ended {
	t.Helper()
	return weftIn(t, t.TempDir(), args...)
}

// file returns the contents of a file in its folder; empty if there is none.
func (e ended) file(path string) string {
	b, _ := os.ReadFile(filepath.Join(e.dir, path))
	return string(b)
}

func exitCode(err error) int {
	var e *exec.ExitError
	if errors.As(err, &e) {
		return e.ExitCode()
	}
	if err != nil {
		return -1
	}
	return 0
}

// TestStandardOutputFull: output that cannot be written is an error, for every command.
func TestStandardOutputFull(t *testing.T) {
	t.Parallel()
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("there is no device that is always full: %v", err)
	}
	defer full.Close()
	for _, args := range []string{"", "--help", "help", "help kinds", "crawl --help", "fetch --help", "version", "--version", "completion bash"} {
		cmd, stderr := weftCommand(t, strings.Fields(args)...)
		cmd.Stdout = full
		if code := exitCode(cmd.Run()); code != exitError || stderr.String() != "weft: standard output: no space left on device\n" {
			t.Errorf("weft %s: exit %d, %q", args, code, stderr)
		}
	}
}

// TestHelpKinds: the topic lists every error kind, and every reason for a link that is not
// followed.
func TestHelpKinds(t *testing.T) {
	e := weftRun(t, "help", "kinds")
	for _, k := range weft.Kinds() {
		if !strings.Contains(e.stdout, fmt.Sprintf("\n  %-20s%s\n", k.Name, k.Meaning)) {
			t.Errorf("nothing of %s: %s", k.Name, e.stdout)
		}
	}
	for _, r := range weft.Reasons() {
		if !strings.Contains(e.stdout, fmt.Sprintf("\n  %-20s%s\n", r.Name, r.Meaning)) {
			t.Errorf("nothing of %s: %s", r.Name, e.stdout)
		}
	}
	if again := weftRun(t, "kinds"); again.code != exitDone || again.stdout != e.stdout {
		t.Errorf("weft kinds: %+v", again)
	}
}

func TestVersion(t *testing.T) {
	e := weftRun(t, "version")
	if e.code != exitDone || !strings.HasPrefix(e.stdout, "weft ") || strings.Count(e.stdout, "\n") != 1 || e.stderr != "" {
		t.Errorf("%+v", e)
	}
	if flag := weftRun(t, "--version"); flag.code != exitDone || flag.stdout != e.stdout {
		t.Errorf("--version: %+v", flag)
	}
}

func TestCompletion(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		if e := weftRun(t, "completion", shell); e.code != exitDone || !strings.Contains(e.stdout, "weft") {
			t.Errorf("%s: exit %d, %.200s", shell, e.code, e.stdout)
		}
	}
	if e := weftRun(t, "__complete", "crawl", "--scope", ""); !strings.Contains(e.stdout, "prefix\n") {
		t.Errorf("words for --scope: %s", e.stdout)
	}
}
