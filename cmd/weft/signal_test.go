package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestInterrupt: the first Ctrl-C lets started fetches finish; the second does not.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	for name, signals := range map[string][]os.Signal{
		"Ctrl-C":       {os.Interrupt},
		"SIGTERM":      {syscall.SIGTERM},
		"Ctrl-C twice": {os.Interrupt, os.Interrupt},
		"both":         {syscall.SIGTERM, os.Interrupt},
	} {
		t.Run(name, func(t *testing.T) {
			var once sync.Once
			asked, answer := make(chan bool), make(chan bool)
			s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
				wefttest.HTML(w, "/a", "/b")
				once.Do(func() { close(asked); <-answer })
			})
			cmd, _ := weftCommand(t, "crawl", "--job", "job", s.URL)
			cmd.Stderr = nil
			stderr, err := cmd.StderrPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			<-asked
			_ = cmd.Process.Signal(signals[0])
			lines := bufio.NewReader(stderr)
			if printed, _ := lines.ReadString('\n'); !strings.Contains(printed, "interrupt again") {
				t.Errorf("after the first signal: %q", printed)
			}
			if len(signals) == 1 {
				close(answer)
			} else {
				_ = cmd.Process.Signal(signals[1])
			}
			rest, _ := io.ReadAll(lines)
			code := exitCode(cmd.Wait())
			if len(signals) == 2 {
				close(answer)
			}
			b, _ := os.ReadFile(filepath.Join(cmd.Dir, "job/pages.jsonl"))
			n := strings.Count(string(b), "\n")
			if want := 2 - len(signals); code != exitInterrupted || n != want || !strings.Contains(string(rest), plural(n, "URL")+" in") ||
				!strings.Contains(string(rest), "interrupted") {
				t.Errorf("exit %d, %d records, expected %d; printed %q", code, n, want, rest)
			}
		})
	}
}

// stuck is weft crawl of a URL whose coordinator hangs in the hook of the first record.
func stuck(url string) {
	con := &console{voice: textVoice{os.Stderr}}
	out := &output{}
	c, err := con.start(weft.Options{Seeds: []string{url}, Hooks: weft.Hooks{OnRecord: func(*weft.Record) {
		fmt.Fprintln(os.Stderr, "stuck")
		select {}
	}}}, out, alone)
	if err == nil {
		_, err = con.crawl(c, out, false)
	}
	fmt.Fprintln(os.Stderr, "came back:", err)
	os.Exit(exitDone)
}

// TestNohup: a crawl that ignores hangups continues after one.
func TestNohup(t *testing.T) {
	asked, answer := make(chan bool, 10), make(chan bool)
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		asked <- true
		<-answer
		wefttest.Star(w, r)
	})
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "trap '' HUP; exec "+os.Args[0]+" crawl --job job "+s.URL)
	cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=1"), t.TempDir()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-asked
	_ = cmd.Process.Signal(syscall.SIGHUP)
	close(answer)
	if code := exitCode(cmd.Wait()); code != exitDone || s.Paths() != "/ /a /b /c" {
		t.Errorf("exit %d, requested %s: %s", code, s.Paths(), &stderr)
	}
}

// TestInterruptStuck: a second Ctrl-C soon ends the process, even if a loop hangs.
func TestInterruptStuck(t *testing.T) {
	t.Parallel() // it waits for the patience with the crawl
	s := wefttest.NewAsked(t, false, wefttest.Star)
	cmd := exec.CommandContext(t.Context(), os.Args[0], s.URL)
	cmd.Env, cmd.Dir = append(os.Environ(), "WEFT_TEST_MAIN=stuck"), t.TempDir()
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stderr)
	for _, c := range []struct {
		printed string
		press   bool
	}{{"stuck", true}, {"weft: finishing the fetches that have started, for at most 10s; interrupt again to stop at once", true}, {"weft: the crawl does not stop: ended without a report", false}} {
		if lines.Scan(); lines.Text() != c.printed {
			t.Errorf("printed %q, expected %q", lines.Text(), c.printed)
		}
		if c.press {
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}
	if more := lines.Scan(); more {
		t.Errorf("printed %q, too", lines.Text())
	}
	if code := exitCode(cmd.Wait()); code != exitInterrupted {
		t.Errorf("exit %d", code)
	}
}

// TestInterruptWhileSeedsWait: Ctrl-C ends a crawl that waits for more seeds.
func TestInterruptWhileSeedsWait(t *testing.T) {
	asked := make(chan bool, 10)
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) { wefttest.HTML(w); asked <- true })
	cmd, stderr := weftCommand(t, "crawl", "-i", "-", "--job", "job")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintln(stdin, s.URL)
	<-asked
	_ = cmd.Process.Signal(os.Interrupt)
	if code := exitCode(cmd.Wait()); code != exitInterrupted || !strings.Contains(stderr.String(), "1 URL in") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestCheckInterruptedBefore: after a signal, nothing is crawled.
func TestCheckInterruptedBefore(t *testing.T) {
	first, stop := context.WithCancel(t.Context())
	stop()
	f := checkFlags{signals: &interrupts{Context: t.Context(), first: first}}
	var e *exit
	if _, err := f.crawled(nil, weft.Options{}); !errors.As(err, &e) || e.code != exitInterrupted {
		t.Errorf("%v, expected an exit with %d", err, exitInterrupted)
	}
}
