package main

import (
	"bytes"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// manager is the socket of a service manager.
type manager struct {
	t    *testing.T
	conn *net.UnixConn
	path string
}

func newManager(t *testing.T) *manager {
	t.Helper()
	dir, err := os.MkdirTemp("", "weft") // that of the test may be too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &manager{t, conn, path}
}

// next returns the next message that comes within a time; "": none does.
func (m *manager) next(within time.Duration) string {
	b := make([]byte, 4<<10)
	_ = m.conn.SetReadDeadline(time.Now().Add(within))
	n, _ := m.conn.Read(b)
	return string(b[:n])
}

// find returns the next message that has a text.
func (m *manager) find(text string) string {
	m.t.Helper()
	for {
		switch got := m.next(20 * time.Second); {
		case got == "":
			m.t.Fatalf("no message with %q", text)
		case strings.Contains(got, text):
			return got
		}
	}
}

func (m *manager) environ() []string {
	return []string{"NOTIFY_SOCKET=" + m.path, "WATCHDOG_USEC=100000"}
}

// TestNotify: a service manager learns that the crawl is ready, lives and how it stands, and that
// it ends; of a finished job, too.
func TestNotify(t *testing.T) {
	t.Parallel()
	m := newManager(t)
	answer := make(chan bool)
	let := sync.OnceFunc(func() { close(answer) })
	defer let()
	s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) {
		<-answer
		wefttest.HTML(w)
	})
	cmd, stderr := weftCommand(t, "crawl", "-q", "--job", "job", s.URL)
	cmd.Env = append(cmd.Env, m.environ()...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if got := m.next(20 * time.Second); got != "READY=1" {
		t.Errorf("first %q", got)
	}
	if got := m.find("1 in flight"); !strings.HasPrefix(got, "WATCHDOG=1\nSTATUS=0 URLs (0.0/s), ") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
	m.find("WATCHDOG=1")
	_ = cmd.Process.Signal(syscall.SIGTERM)
	m.find("STOPPING=1")
	m.find("ending")
	let()
	if code := exitCode(cmd.Wait()); code != exitDone && code != exitInterrupted {
		t.Errorf("exit %d: %s", code, stderr)
	}
	dir := cmd.Dir
	for range 2 { // resumed, if it was interrupted, and finished
		cmd, stderr = weftCommand(t, "crawl", "-q", "--job", "job", s.URL)
		cmd.Dir, cmd.Env = dir, append(cmd.Env, m.environ()...)
		if err := cmd.Run(); err != nil {
			t.Errorf("%v: %s", err, stderr)
		}
		m.find("READY=1")
		m.find("STOPPING=1")
	}
}

// TestNotifyStuck: a coordinator that is stuck gives no sign of life.
func TestNotifyStuck(t *testing.T) {
	t.Parallel()
	m := newManager(t)
	s := wefttest.NewAsked(t, false, wefttest.Star)
	cmd, _ := weftCommand(t, "crawl", s.URL)
	cmd.Args = []string{cmd.Path, s.URL}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Env = append(append(cmd.Env, "WEFT_TEST_MAIN=stuck"), m.environ()...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m.find("READY=1")
	// Messages come every 50 ms; once none has for 2 s, the crawl is stuck.
	late := time.Now().Add(20 * time.Second)
	for m.next(2*time.Second) != "" {
		if time.Now().After(late) {
			t.Error("it goes on to say that it lives")
			break
		}
	}
	_ = cmd.Process.Kill()
	if _ = cmd.Wait(); !strings.Contains(stderr.String(), "stuck") {
		t.Errorf("printed %q", stderr.String())
	}
}

// TestNotifyNobody: a manager whose socket is not there, or does not read, holds nothing up.
func TestNotifyNobody(t *testing.T) {
	t.Parallel()
	s := wefttest.NewAsked(t, false, wefttest.Star)
	cmd, stderr := weftCommand(t, "crawl", "-q", s.URL)
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET=/nowhere/notify", "WATCHDOG_USEC=x")
	if err := cmd.Run(); err != nil || stderr.Len() > 0 {
		t.Errorf("%v: %s", err, stderr)
	}
}

// TestNotifyServe: a service manager learns that a server listens, that its folder responds, how
// many crawls there are, and that it ends, before its crawls have.
func TestNotifyServe(t *testing.T) {
	t.Parallel()
	m := newManager(t)
	asked, gone, answer := make(chan bool), make(chan bool), make(chan bool)
	let := sync.OnceFunc(func() { close(answer) })
	defer let()
	s := wefttest.NewAsked(t, false, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		select {
		case <-answer:
		case <-r.Context().Done():
			close(gone)
		}
	})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "site.toml"), []byte("[crawl]\nurls = [\""+s.URL+"\"]\n[schedule]\nevery = \"1h\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd, stderr := weftCommand(t, "serve", "--listen", "127.0.0.1:0", dir)
	cmd.Env = append(cmd.Env, m.environ()...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	m.find("READY=1")
	m.find("WATCHDOG=1\nSTATUS=1 crawl running, 0 queued")
	<-asked
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.find("STOPPING=1")
	select {
	case <-gone:
		t.Error("it says so when its crawls have ended")
	default:
	}
	let()
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
}
