package server

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// quiet is how long a warning is not repeated with other values.
const quiet = 10 * time.Second

// usual is what servers say of peers that are about to come and of a login as it was given, and settling is for how long that is
// nothing to tell.
var usual = []string{"Plaintext passwords detected", "Error trying to connect to route", "Waiting for routing", "JetStream has not established contact"}

const settling = 5 * time.Second

// logger passes on what the server warns of.
type logger struct {
	warn    func(string)
	started time.Time
	mu      struct {
		sync.Mutex
		first error                // why the server cannot run
		last  map[string]time.Time // by format, of which the server has only so many
	}
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
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	at, seen := l.mu.last[format]
	early := now.Sub(l.started) < settling && slices.ContainsFunc(usual, func(s string) bool { return strings.HasPrefix(format, s) })
	if l.warn == nil || early || seen && now.Sub(at) < quiet {
		return
	}
	if l.mu.last == nil {
		l.mu.last = make(map[string]time.Time)
	}
	l.mu.last[format] = now
	l.warn(line(format, v))
}

func (l *logger) Noticef(string, ...any) {}
func (l *logger) Debugf(string, ...any)  {}
func (l *logger) Tracef(string, ...any)  {}

// line is a message in one line of at most 500 bytes.
func line(format string, v []any) string {
	return fmt.Sprintf("%.500s", strings.Join(strings.Fields(fmt.Sprintf(format, v...)), " "))
}
