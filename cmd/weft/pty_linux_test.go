package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/weftcrawl/weft/internal/webtest"
	"github.com/weftcrawl/weft/internal/wefttest"
	"golang.org/x/sys/unix"
)

// session is a shell that runs weft on a terminal of its own.
type session struct {
	t       *testing.T
	person  *os.File // the keyboard and the screen
	cmd     *exec.Cmd
	printed strings.Builder
}

// newSession starts weft with arguments, in an empty folder, on a terminal of 80 by 24. At the
// end, the shell prints the exit code, whether the terminal's settings have changed, and the line
// that was typed.
func newSession(t *testing.T, terminal, typed string, args ...string) *session {
	t.Helper()
	const script = `trap : INT TERM; before=$(stty -g)
WEFT_TEST_MAIN=1 "$0" "$@"; echo "exit $?"
test "$before" = "$(stty -g)" && echo "settings as before"
IFS= read -r line; echo "typed: $line"`
	return newShell(t, script, terminal, typed, args...)
}

// newShell is newSession with another script.
func newShell(t *testing.T, script, terminal, typed string, args ...string) *session {
	t.Helper()
	person, program := newTerminal(t)
	// A broken one would wait for ever.
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	s := &session{t: t, person: person, cmd: exec.CommandContext(ctx, "sh", append([]string{"-c", script, os.Args[0]}, args...)...)}
	s.cmd.Dir = t.TempDir()
	s.cmd.Env = append(os.Environ(), "TERM="+terminal, "NO_COLOR=")
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = program, program, program
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	s.typing(typed)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	return s
}

func (s *session) typing(text string) {
	s.t.Helper()
	if _, err := s.person.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

func (s *session) resize(width, height uint16) {
	s.t.Helper()
	if err := unix.IoctlSetWinsize(int(s.person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width}); err != nil {
		s.t.Fatal(err)
	}
}

// until waits until seen holds for the output since the last call.
func (s *session) until(seen func(shown string) bool) {
	s.t.Helper()
	from := s.printed.Len()
	s.read(func() bool { return seen(s.printed.String()[from:]) })
}

// read reads until enough holds.
func (s *session) read(enough func() bool) {
	s.t.Helper()
	for part := make([]byte, 4096); !enough(); {
		n, err := s.person.Read(part)
		s.printed.Write(part[:n])
		if err != nil && !enough() { // EIO: nobody has the terminal open any more
			s.t.Fatalf("%v, after %q", err, s.printed.String())
		}
	}
}

func (s *session) untilText(text string) {
	s.t.Helper()
	s.until(func(shown string) bool { return strings.Contains(shown, text) })
}

// untilDrawn waits for a draw of given lines.
func (s *session) untilDrawn(such func(lines []string) bool) {
	s.t.Helper()
	s.until(func(shown string) bool {
		drawn, _ := draws(shown)
		return slices.ContainsFunc(drawn, func(d string) bool {
			_, d, _ = strings.Cut(d, wrapOff)
			return such(strings.Split(d, "\r\n"))
		})
	})
}

const (
	drawBegins = "\x1b[?2026h\x1b[?25l\r \x1b[J\r" // synchronized, cursor hidden, rest cleared
	wrapOff    = "\x1b[?7l"
	wrapOn     = "\x1b[?7h"
	drawEnds   = "\x1b[?25h\x1b[?2026l"
)

// draws splits the output into whole draws and the rest.
func draws(shown string) (drawn []string, beside string) {
	for {
		before, rest, _ := strings.Cut(shown, drawBegins)
		draw, after, whole := strings.Cut(rest, drawEnds)
		beside += before
		if !whole {
			return drawn, beside
		}
		drawn, shown = append(drawn, draw), after
	}
}

// end waits for the shell to end, and returns the draws and the rest. The terminal's settings must
// be unchanged, and the exit code be code.
func (s *session) end(code int) (drawn []string, beside string) {
	s.t.Helper()
	s.read(func() bool {
		_, last, ok := strings.Cut(s.printed.String(), "typed: ")
		return ok && strings.HasSuffix(last, "\n")
	})
	if err := s.cmd.Wait(); err != nil {
		s.t.Error(err)
	}
	drawn, beside = draws(s.printed.String())
	if !strings.Contains(beside, fmt.Sprintf("exit %d\r\nsettings as before\r\ntyped: make\r\n", code)) || strings.Contains(beside, "\x1b") {
		s.t.Errorf("beside what was drawn: %q", beside)
	}
	for _, d := range drawn {
		if strings.Count(d, wrapOff) != 1 || strings.Count(d, wrapOn) != 1 || strings.Index(d, wrapOff) > strings.Index(d, wrapOn) {
			s.t.Errorf("drawn: %q", d)
		}
	}
	if n := len(drawn); n > 0 && !strings.HasSuffix(drawn[n-1], wrapOff+wrapOn+"\r") {
		s.t.Errorf("in the end there is still %q", drawn[n-1])
	}
	return drawn, beside
}

// TestTerminalIsLeftAlone: a command that draws nothing sends no queries to the terminal, and
// leaves typed text to the shell.
func TestTerminalIsLeftAlone(t *testing.T) {
	drawn, text := newSession(t, "xterm-256color", "make\n", "version").end(exitDone)
	if !strings.HasPrefix(text, "make\r\nweft ") || strings.Count(text, "\n") != 5 || len(drawn) > 0 {
		t.Errorf("shown: %q and %q", text, drawn)
	}
}

// TestTerminalCrawl: a crawl shows progress, sends no queries, and leaves only its report on the
// terminal.
func TestTerminalCrawl(t *testing.T) {
	t.Parallel()
	site, err := webtest.Run(webtest.Config{Seed: 1, Pages: 30}, webtest.Addresses{})
	if err != nil {
		t.Fatal(err)
	}
	defer site.Close()
	drawn, text := newSession(t, "xterm-256color", "make\n", "crawl", "--timeout", "1s", "--retries", "0", "--job", "job", site.Web.Home(0)).end(exitDone)
	shown := strings.Join(drawn, "")
	for _, part := range []string{" URLs", "waiting", "in flight", "slowest", "\x1b[32m━"} {
		if !strings.Contains(shown, part) {
			t.Errorf("no %q in %q", part, drawn)
		}
	}
	if report := strings.TrimPrefix(text, "make\r\n"); !strings.Contains(firstLine(report), " URLs in ") || !strings.Contains(report, "job/pages.jsonl") {
		t.Errorf("beside what was drawn: %q", text)
	}
}

// firstLine returns the first line without its end.
func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\r\n")
	return first
}

// TestTerminalDumb: nothing is drawn where the cursor cannot be moved.
func TestTerminalDumb(t *testing.T) {
	s := wefttest.NewAsked(t, false, wefttest.Star)
	drawn, text := newSession(t, "dumb", "make\n", "crawl", "-v", "--job", "job", s.URL).end(exitDone)
	if len(drawn) > 0 || !strings.Contains(text, s.URL+"/a\r\n") || !strings.Contains(text, "4 URLs in ") {
		t.Errorf("%q and %q", text, drawn)
	}
}

// TestTerminalInterrupt: keys and signals work on a terminal as elsewhere, and leave its settings
// unchanged.
func TestTerminalInterrupt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys, last string
		signal     unix.Signal
		records    string
	}{
		"Ctrl-C":       {keys: "\x03make\n", records: "1 URL in "},
		"SIGTERM":      {keys: "make\n", signal: unix.SIGTERM, records: "1 URL in "},
		"Ctrl-C twice": {keys: "\x03", last: "\x03make\n", records: "0 URLs in "},
	} {
		t.Run(name, func(t *testing.T) {
			asked, answer := make(chan bool, 10), make(chan bool)
			server := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
				wefttest.HTML(w, "/a", "/b")
				asked <- true
				<-answer
			})
			release := sync.OnceFunc(func() { close(answer) })
			t.Cleanup(release)
			s := newSession(t, "xterm-256color", "", "crawl", "--job", "job", server.URL)
			<-asked
			s.untilDrawn(func(lines []string) bool { return strings.Contains(strings.Join(lines, " "), "1 in flight") })
			s.typing(c.keys)
			if c.signal != 0 {
				if err := unix.Kill(-s.cmd.Process.Pid, c.signal); err != nil {
					t.Fatal(err)
				}
			}
			s.until(func(shown string) bool {
				// Ctrl-C has the terminal forget a part of a draw that it has not yet shown.
				_, after, printed := strings.Cut(shown, "interrupt again to stop at once")
				return printed && strings.Contains(after, drawEnds)
			})
			if c.last != "" {
				s.typing(c.last)
				s.untilText(" URLs in ")
			}
			release()
			if _, text := s.end(exitInterrupted); !strings.Contains(text, c.records) {
				t.Errorf("no %q: %q", c.records, text)
			}
		})
	}
}

// TestTerminalResize: the drawing fits the current size of the terminal.
func TestTerminalResize(t *testing.T) {
	t.Parallel()
	answer := make(chan bool)
	server := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if wefttest.HTML(w, "/a"); r.URL.Path == "/a" {
			<-answer
		}
	})
	release := sync.OnceFunc(func() { close(answer) })
	t.Cleanup(release)
	s := newSession(t, "xterm-256color", "make\n", "crawl", "--job", "job", server.URL)
	widest := func(lines []string) (cells int) {
		for _, l := range lines {
			cells = max(cells, ansi.StringWidth(strings.TrimRight(l, "\r")))
		}
		return cells
	}
	s.untilDrawn(func(lines []string) bool { return widest(lines) == 80 })
	s.resize(20, 5)
	s.untilDrawn(func(lines []string) bool { return widest(lines) <= 20 && len(lines) == 5 })
	s.resize(200, 50)
	s.untilDrawn(func(lines []string) bool { return widest(lines) > 80 })
	release()
	s.end(exitDone)
}

// TestTerminalSuspend: Ctrl-Z clears the drawing before the shell prompts, and fg resumes it.
func TestTerminalSuspend(t *testing.T) {
	t.Parallel()
	asked, answer := make(chan bool, 10), make(chan bool)
	server := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		wefttest.HTML(w)
		asked <- true
		<-answer
	})
	release := sync.OnceFunc(func() { close(answer) })
	t.Cleanup(release)
	const script = `set -m; before=$(stty -g)
WEFT_TEST_MAIN=1 "$0" "$@"; echo prompt; fg >/dev/null; echo "exit $?"
test "$before" = "$(stty -g)" && echo "settings as before"
IFS= read -r line; echo "typed: $line"`
	s := newShell(t, script, "xterm-256color", "", "crawl", "--job", "job", server.URL)
	<-asked
	s.untilDrawn(func(lines []string) bool { return strings.Contains(strings.Join(lines, " "), "1 in flight") })
	s.typing("\x1a")
	s.untilText("prompt\r\n")
	if shown := s.printed.String(); !strings.Contains(shown, wrapOff+wrapOn+"\r"+drawEnds) {
		t.Errorf("before the prompt nothing is cleared: %q", shown)
	}
	s.untilDrawn(func(lines []string) bool { return strings.Contains(strings.Join(lines, " "), "1 in flight") })
	release()
	s.typing("make\n")
	if _, beside := s.end(exitDone); strings.Contains(beside, "in flight") {
		t.Errorf("beside what was drawn: %q", beside)
	}
}

// TestTerminalHeld: the screen shows a host that backs off.
func TestTerminalHeld(t *testing.T) {
	t.Parallel()
	server := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			wefttest.HTML(w, "/a")
			return
		}
		w.Header().Set("Retry-After", "100")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	s := newSession(t, "xterm-256color", "", "crawl", "--job", "job", server.URL)
	s.untilDrawn(func(lines []string) bool {
		return strings.HasPrefix(lines[len(lines)-1], "held       1m40s") && strings.Contains(lines[len(lines)-1], server.Listener.Addr().String())
	})
	s.typing("\x03make\n")
	s.end(exitInterrupted)
}
