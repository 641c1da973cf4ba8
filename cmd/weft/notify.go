package main

import (
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// notifier tells a service manager how a crawl or a server stands, as sd_notify(3) describes it. A
// nil one has none to tell.
type notifier struct {
	conn  net.Conn
	every time.Duration // between two signs of life
}

const (
	notifyEvery = 5 * time.Second
	notifyTakes = time.Second // at most: a manager that does not read holds nothing up
)

// newNotifier returns that of the manager that has started this process. Processes that this one
// starts have none.
func newNotifier() *notifier {
	of := os.Getenv
	path, watchdog, pid := of("NOTIFY_SOCKET"), of("WATCHDOG_USEC"), of("WATCHDOG_PID")
	if path == "" {
		return nil
	}
	for _, name := range []string{"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"} {
		_ = os.Unsetenv(name)
	}
	conn, err := net.Dial("unixgram", path)
	if err != nil {
		return nil // whoever wants to know learns it by the time that this takes
	}
	n := &notifier{conn, notifyEvery}
	if us, err := strconv.ParseInt(watchdog, 10, 64); err == nil && us > 0 && (pid == "" || pid == strconv.Itoa(os.Getpid())) {
		n.every = min(n.every, time.Duration(us)*time.Microsecond/2)
	}
	return n
}

// tell sends assignments, one a line.
func (n *notifier) tell(lines ...string) {
	if n == nil {
		return
	}
	_ = n.conn.SetWriteDeadline(time.Now().Add(notifyTakes))
	_, _ = n.conn.Write([]byte(strings.Join(lines, "\n"))) // the manager may have gone
}

// follow says again and again that a crawl lives, which its coordinator has to confirm, and how it
// stands, until stop is called.
func (n *notifier) follow(c crawler) (stop func()) {
	var m meter
	return n.repeat(func() string { return m.sample(c.Stats()).brief() })
}

// repeat says again and again what status returns, until stop is called. Of a process that is
// stuck, it does not return.
func (n *notifier) repeat(status func() string) (stop func()) {
	if n == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		tick := time.NewTicker(n.every)
		defer tick.Stop()
		for {
			s := status()
			select {
			case <-done:
				return
			default:
				n.tell("WATCHDOG=1", "STATUS="+s)
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() { close(done) }
}

// brief is a line about the crawl for whoever lists services.
func (s sample) brief() string {
	text := fmt.Sprintf("%s (%s/s), %s, %s waiting, %s in flight", plural(s.stats.Recorded(), "URL"), perSecond(s.urlRate),
		strings.Join(s.notes(), ", "), count(s.stats.Pending), count(s.stats.InFlight))
	switch {
	case s.stats.Ending:
		return text + ", " + s.ends()
	case len(s.stats.Paused) > 0:
		return text + ", paused: " + printable(strings.Join(s.stats.Paused, ", "))
	}
	return text
}
