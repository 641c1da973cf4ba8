package main

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/wefttest"
	"golang.org/x/sys/unix"
)

// TestInterruptBeforeBegin: a signal ends a crawl that has not started, here because somebody looks
// at its job. A hang-up has one without a terminal open its output again, so there it has none.
func TestInterruptBeforeBegin(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // for one that does not end
	defer cancel()
	s := wefttest.NewAsked(t, false, wefttest.Star)
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
		output := "-o out "
		if sig == syscall.SIGHUP {
			output = ""
		}
		cmd := exec.CommandContext(ctx, "sh", "-c", "trap '' INT; exec "+os.Args[0]+" crawl --job job "+output+s.URL)
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

// TestRotate: at a hang-up, a crawl without a terminal goes on in a new file of the name of -o.
// Both files have whole lines, and together each record once; one of CSV begins with the names of
// fields.
func TestRotate(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"out.jsonl", "out.csv"} {
		asked, answer := make(chan string), make(chan bool)
		s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" && r.URL.Path != "/robots.txt" {
				asked <- r.URL.Path
				<-answer
			}
			wefttest.Star(w, r)
		})
		cmd := exec.CommandContext(t.Context(), os.Args[0], "crawl", "-c", "1", "-o", name, s.URL)
		cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1"), t.TempDir()
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		path, moved := filepath.Join(cmd.Dir, name), filepath.Join(cmd.Dir, "moved")
		<-asked
		holdsLines(t, path, 1+strings.Count(name, ".csv"))
		made := appeared(t, cmd.Dir)
		if err := os.Rename(path, moved); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Process.Signal(syscall.SIGHUP)
		made()
		go func() {
			for range asked {
			}
		}()
		close(answer)
		code := exitCode(cmd.Wait())
		close(asked)
		old, _ := os.ReadFile(moved)
		fresh, _ := os.ReadFile(path)
		lines := append(strings.Split(strings.TrimSpace(string(old)), "\n"), strings.Split(strings.TrimSpace(string(fresh)), "\n")...)
		header := 0
		if name == "out.csv" {
			header = 2
			if lines[0] != strings.Split(string(fresh), "\n")[0] || !strings.HasPrefix(lines[0], "url,") {
				t.Errorf("the new file begins with %.80q, the old one with %.80q", fresh, old)
			}
		}
		slices.Sort(lines)
		if n := len(slices.Compact(slices.Clone(lines))); code != exitDone || len(lines) != 4+header || n != 4+header/2 || len(fresh) == 0 || len(old) == 0 {
			t.Errorf("%s: exit %d, %d lines of which %d differ: %q and %q; %s", name, code, len(lines), n, old, fresh, &stderr)
		}
	}
}

// TestEarlyHangup: a hang-up that comes before a crawl has started means what a later one does: to
// one that goes on in a new file nothing, to another its end.
func TestEarlyHangup(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]int{"out.jsonl": exitDone, "-": exitInterrupted} {
		if want == exitInterrupted && signal.Ignored(syscall.SIGHUP) {
			want = exitDone // as nohup has it
		}
		s := wefttest.NewAsked(t, false, wefttest.Star)
		cmd := exec.CommandContext(t.Context(), os.Args[0], "crawl", "--cookies", "pipe", "-o", output, s.URL)
		cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1"), t.TempDir()
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		pipe := filepath.Join(cmd.Dir, "pipe")
		if err := errors.Join(unix.Mkfifo(pipe, 0o600), cmd.Start()); err != nil {
			t.Fatal(err)
		}
		to, err := os.OpenFile(pipe, os.O_WRONLY, 0) // once the command reads its options
		if err != nil {
			t.Fatal(err)
		}
		_ = cmd.Process.Signal(syscall.SIGHUP)
		if err := to.Close(); err != nil {
			t.Fatal(err)
		}
		if code := exitCode(cmd.Wait()); code != want {
			t.Errorf("-o %s: exit %d, expected %d: %s", output, code, want, &stderr)
		}
	}
}

// holdsLines waits until a file has at least n lines.
func holdsLines(t *testing.T, path string, n int) {
	t.Helper()
	for {
		written := noticed(t, path, unix.IN_MODIFY)
		if data, err := os.ReadFile(path); err != nil {
			t.Fatal(err)
		} else if bytes.Count(data, []byte("\n")) >= n {
			return
		}
		written()
	}
}

// appeared returns a function that waits until a file is made in a folder.
func appeared(t *testing.T, dir string) (wait func()) { return noticed(t, dir, unix.IN_CREATE) }

// opened returns a function that waits until somebody opens a file.
func opened(t *testing.T, path string) (wait func()) { return noticed(t, path, unix.IN_OPEN) }

// noticed returns a function that waits for an event of inotify.
func noticed(t *testing.T, path string, event uint32) (wait func()) {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC)
	if err == nil {
		_, err = unix.InotifyAddWatch(fd, path, event)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	return func() {
		if n, err := unix.Read(fd, make([]byte, 4096)); n <= 0 {
			t.Fatal(n, err)
		}
	}
}
