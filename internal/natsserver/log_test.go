package natsserver

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestLogger: what NATS says becomes lines that are not repeated. Of peers that do not answer it
// says nothing, and keeps why; of connections that break off it says nothing.
func TestLogger(t *testing.T) {
	var lines []string
	l := newLogger(func(text string) { lines = append(lines, text) })
	refused := &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 6222}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	for i := range 200 {
		l.Errorf(noRoute+" (attempt %v): %v", i, refused)
		l.Errorf(noRoute+" (attempt %v): %v", i, errors.New("lookup b: no such host"))
		l.Warnf("%s", "Waiting for routing to be established...")
		l.Warnf("disk at %d %%", i)
		l.Warnf("%s", "100% of one\nthing")
		l.Warnf("%s", "and of another")
		l.Errorf(fmt.Sprintf("10.0.0.3:%d - rid:%d - %%s", 5000+i, i), "authentication error")
		for _, err := range []error{syscall.EPIPE, syscall.ECONNRESET, io.EOF} {
			l.Errorf("10.0.0.4:6222 - rid:7 - TLS route handshake error: %v%s", &net.OpError{Op: "write", Net: "tcp", Err: err}, "")
		}
	}
	if want := []string{"disk at 0 %", "100% of one thing", "and of another", "10.0.0.3: authentication error"}; !slices.Equal(lines, want) {
		t.Errorf("%q, expected %q", lines, want)
	}
	if all, want := l.silence(), []string{"10.0.0.2:6222: connection refused", "lookup b: no such host"}; !slices.Equal(all, want) {
		t.Errorf("%q, expected %q", all, want)
	}
	for i := range 2 * mostKinds {
		l.Warnf("%s", strings.Repeat("x", i))
	}
	if len(lines) > mostKinds {
		t.Errorf("%d lines, expected %d at most", len(lines), mostKinds)
	}
	later := time.Now().Add(fresh)
	if recent(l.mu.silent, later, fresh); len(l.mu.silent) > 0 {
		t.Errorf("%v, %v later", l.mu.silent, fresh)
	}
}

// TestStanding: what a user reads of a cluster.
func TestStanding(t *testing.T) {
	for want, c := range map[string]struct {
		here, all int
		began     bool
	}{
		"waits for the other servers: 1 of 3 are here": {1, 3, true},
		"waits for the other servers: 2 of 3 are here": {2, 3, false},
		"waits for the other servers: 2 of 4 are here": {2, 4, true},
		"3 of 3 servers are here, and choose a leader": {3, 3, false},
		"2 of 3 servers are here":                      {2, 3, true},
	} {
		if got := standing(c.here, c.all, c.began); got != want {
			t.Errorf("%+v: %s, expected %s", c, got, want)
		}
	}
}
