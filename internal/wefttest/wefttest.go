// Package wefttest builds the command once for the tests of a package, and runs it as a user would.
package wefttest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/internal/process"
)

// Exit codes of the command.
const (
	Done        = 0
	Failed      = 1
	Broken      = 2
	Misused     = 3
	Limited     = 4
	Interrupted = 5
)

// scratch is the folder of all tests of a package.
var scratch string

var (
	build     = sync.OnceValues(func() (string, error) { return process.Build(context.Background(), scratch, "weft") })
	buildNATS = sync.OnceValues(func() (string, error) { return process.Build(context.Background(), scratch, "weft-nats") })
)

// Main is the TestMain of a package. As many tests as are told run in parallel at least: they wait
// for processes that wait.
func Main(m *testing.M, parallel int) {
	for _, name := range []string{"http_proxy", "https_proxy", "all_proxy", "no_proxy"} {
		// Those of the machine.
		os.Unsetenv(name)
		os.Unsetenv(strings.ToUpper(name))
	}
	var err error
	if scratch, err = os.MkdirTemp("", "weft"); err != nil {
		log.Fatal(err)
	}
	flag.Parse()
	if runtime.GOMAXPROCS(0) < parallel {
		_ = flag.Set("test.parallel", strconv.Itoa(parallel))
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// Program returns the path of the command, which is built when it is first asked for.
func Program(t *testing.T) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// NATS is Program of weft-nats.
func NATS(t *testing.T) string {
	t.Helper()
	path, err := buildNATS()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Ended is the outcome of a command.
type Ended struct {
	Code           int
	Stdout, Stderr string
	Dir            string
}

// File returns the contents of a file in its folder; empty if there is none.
func (e Ended) File(path string) string {
	b, _ := os.ReadFile(filepath.Join(e.Dir, path))
	return string(b)
}

// Command is the command with arguments, in an empty folder.
func Command(t *testing.T, args ...string) (*exec.Cmd, *bytes.Buffer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), Program(t), args...)
	cmd.Env = append(os.Environ(), "XDG_CACHE_HOME="+filepath.Join(scratch, "cache"))
	cmd.Dir = t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	return cmd, &stderr
}

// Run runs the command to its end, in an empty folder.
func Run(t *testing.T, args ...string) Ended {
	t.Helper()
	return In(t, t.TempDir(), args...)
}

// In runs the command in a folder.
func In(t *testing.T, dir string, args ...string) Ended {
	t.Helper()
	return With(t, dir, nil, args...)
}

// With runs the command in a folder, with further variables of the environment.
func With(t *testing.T, dir string, env []string, args ...string) Ended {
	t.Helper()
	cmd, stderr := Command(t, args...)
	cmd.Dir, cmd.Env = dir, append(cmd.Env, env...)
	return End(cmd, stderr)
}

// End runs a command to its end. Its standard error output goes to a buffer.
func End(cmd *exec.Cmd, stderr *bytes.Buffer) Ended {
	out, err := cmd.Output()
	return Ended{ExitCode(err), string(out), stderr.String(), cmd.Dir}
}

// Crawl runs weft crawl with arguments, and expects an exit code.
func Crawl(t *testing.T, code int, args ...string) Ended {
	t.Helper()
	e := Run(t, append([]string{"crawl"}, args...)...)
	if e.Code != code {
		t.Fatalf("%q: exit %d, expected %d: %s%s", args, e.Code, code, e.Stdout, e.Stderr)
	}
	return e
}

// Expect compares a value with the expected one.
func Expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

// ExitCode returns that of a command, by the error of its run; -1 if a signal has ended it.
func ExitCode(err error) int {
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		return failed.ExitCode()
	case err != nil:
		return -1
	}
	return Done
}
