package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"golang.org/x/sys/unix"
)

// TestInterruptBeforeBegin: a signal ends a crawl that has not started, here because somebody looks
// at its job.
func TestInterruptBeforeBegin(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // for one that does not end
	defer cancel()
	s := newAsked(t, false, star)
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if sig == syscall.SIGHUP && signal.Ignored(sig) {
			t.Logf("%v: not tried, as it is ignored around here, as by nohup", sig)
			continue
		}
		first := weftRun(t, "crawl", "--job", "job", "--limit", "1", s.URL)
		look, err := weft.OpenJob(ctx, filepath.Join(first.dir, "job"))
		if err != nil {
			t.Fatal(err)
		}
		tried := opened(t, filepath.Join(first.dir, "job/state/LOCK"))
		cmd := exec.CommandContext(ctx, "sh", "-c", "trap '' INT; exec "+os.Args[0]+" crawl --job job -o out "+s.URL)
		cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1"), first.dir
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		tried()
		_ = cmd.Process.Signal(sig)
		if code := exitCode(cmd.Wait()); code != exitInterrupted || stderr.String() != "weft: interrupted before the crawl started\n" {
			t.Errorf("%v: exit %d, printed %q", sig, code, &stderr)
		}
		look.Close()
		if _, err := os.Lstat(filepath.Join(first.dir, "out")); err == nil {
			t.Errorf("%v: the output is left behind, empty", sig)
		}
	}
}

// opened returns a function that waits until somebody opens a file.
func opened(t *testing.T, path string) (wait func()) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err == nil {
		_, err = unix.InotifyAddWatch(fd, path, unix.IN_OPEN)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		defer unix.Close(fd)
		if n, err := unix.Read(fd, make([]byte, 4096)); n <= 0 {
			t.Fatal(n, err)
		}
	}
}
