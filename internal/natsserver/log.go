package natsserver

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// quiet is the time in which a warning is not repeated with other values.
const quiet = time.Minute

// fresh is the time for which a peer counts as silent after it has not answered: the server tries
// once a second.
const fresh = 5 * time.Second

// usual begins the warnings that are left out: of a login as it was given, and of peers, which
// peerWatch counts.
var usual = []string{"Plaintext passwords detected", noRoute, "Waiting for routing", "JetStream has not established contact"}

// noRoute begins a server's line about a peer that does not answer, about one a second.
const noRoute = "Error trying to connect to route"

// logger passes on what the server warns of.
type logger struct {
	mu struct {
		sync.Mutex
		warn   func(string)
		first  error                // the reason why the server cannot run
		last   map[string]time.Time // when it has warned, by kind: of mostKinds at most
		silent map[string]time.Time // when a peer did not answer, by the reason
	}
}

// mostKinds is the number of the server's formats, roughly.
const mostKinds = 64

func newLogger(warn func(string)) *logger {
	l := new(logger)
	if l.mu.warn = warn; warn == nil {
		l.mu.warn = func(string) {}
	}
	l.mu.last, l.mu.silent = make(map[string]time.Time), make(map[string]time.Time)
	return l
}

// Fatalf keeps the first reason: NATS would end the process.
func (l *logger) Fatalf(format string, v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.first == nil {
		l.mu.first = errors.New(line(format, v))
	}
}

func (l *logger) fatal() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mu.first
}

// Errorf warns, as the server goes on.
func (l *logger) Errorf(format string, v ...any) { l.Warnf(format, v...) }

// Warnf warns in one line, and not too often.
func (l *logger) Warnf(format string, v ...any) {
	text, kind, now := connection.ReplaceAllString(line(format, v), "$1: "), format, time.Now()
	ofConnection := connection.MatchString(format)
	if ofConnection || format == "%s" { // the server has put the message together
		kind = text
	}
	if ofConnection && slices.ContainsFunc(v, brokenOff) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if strings.HasPrefix(text, noRoute) && len(v) > 0 {
		recent(l.mu.silent, now, fresh)
		l.mu.silent[reason(v[len(v)-1])] = now
	}
	recent(l.mu.last, now, quiet)
	if _, seen := l.mu.last[kind]; seen || len(l.mu.last) == mostKinds || slices.ContainsFunc(usual, func(s string) bool { return strings.HasPrefix(text, s) }) {
		return
	}
	l.mu.last[kind] = now
	l.mu.warn(text)
}

// connection matches the beginning of a message of one: the port and number of that one, which the
// next does not have.
var connection = regexp.MustCompile(`^(\S+):\d+ - [a-z_]+:\d+ - `)

// brokenOff reports whether v is the error of a connection whose other side has gone, in the middle
// of whatever was going on: peerWatch counts the peers that are here, and a client that is alive
// connects again.
func brokenOff(v any) bool {
	err, ok := v.(error)
	return ok && (errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE))
}

// tell warns of what this package finds, which NATS does not log.
func (l *logger) tell(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mu.warn(text)
}

// silence returns why peers do not answer, sorted.
func (l *logger) silence() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	recent(l.mu.silent, time.Now(), fresh)
	return slices.Sorted(maps.Keys(l.mu.silent))
}

// recent removes old entries, so that the map stays small.
func recent(all map[string]time.Time, now time.Time, age time.Duration) {
	maps.DeleteFunc(all, func(_ string, at time.Time) bool { return now.Sub(at) >= age })
}

// reason says in few words why a connection to a peer has failed.
func reason(v any) string {
	err, ok := v.(error)
	var dial *net.OpError
	if !ok || !errors.As(err, &dial) || dial.Addr == nil {
		return line("%v", []any{v})
	}
	err = dial.Err
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return fmt.Sprintf("%s: %v", dial.Addr, err)
}

func (l *logger) Noticef(string, ...any) {}
func (l *logger) Debugf(string, ...any)  {}
func (l *logger) Tracef(string, ...any)  {}

// line is a message in one line of at most 500 bytes.
func line(format string, v []any) string {
	return fmt.Sprintf("%.500s", strings.Join(strings.Fields(fmt.Sprintf(format, v...)), " "))
}
