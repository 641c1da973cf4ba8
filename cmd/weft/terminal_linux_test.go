package main

import (
	"bytes"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
	"golang.org/x/sys/unix"
)

// newTerminal returns a pseudo-terminal of 80 by 24: the user's side and the program's.
func newTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { person.Close() })
	fd := int(person.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80})
	}
	if err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	return person, program
}

// TestTerminal: progress is drawn on a terminal, lines of -v scroll by above it, and at the end
// only the report is left.
func TestTerminal(t *testing.T) {
	t.Parallel()
	drawn := make(chan bool)
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
		if wefttest.Star(w, r); r.URL.Path == "/b" {
			<-drawn
		}
	})
	person, program := newTerminal(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "crawl", "-v", "-o", "-", s.URL)
	cmd.Env, cmd.Dir, cmd.Stderr = append(os.Environ(), "WEFT_TEST_MAIN=1", "NO_COLOR=1", "TERM=xterm"), t.TempDir(), program
	var records bytes.Buffer
	cmd.Stdout = &records
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	program.Close()
	var printed strings.Builder
	for part, waiting := make([]byte, 4096), true; ; {
		n, err := person.Read(part)
		printed.Write(part[:n])
		if strings.Contains(printed.String(), "3 URLs") && strings.Contains(printed.String(), "/c\r\n") && waiting {
			close(drawn)
			waiting = false
		}
		if err != nil { // of a terminal that nobody has open any more: EIO
			break
		}
	}
	err := cmd.Wait()
	text := printed.String()
	end := strings.LastIndex(text, "\x1b[?25h")
	if err != nil || records.Len() == 0 || strings.Contains(text, "\x1b[?2004h") || strings.Contains(text, "\x1b[1m") {
		t.Errorf("%v: %q", err, text)
	}
	if end < 0 || strings.Contains(text[:end], "URLs in ") || !strings.Contains(text[end:], "4 URLs in ") || strings.Contains(text[end:], "waiting") {
		t.Errorf("the end is not in order: %q", text)
	}
	if !strings.Contains(text, s.URL+"/b") {
		t.Errorf("no line for /b: %q", text)
	}
}
