package cluster

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// login is the standing of a connection's login: refusals of the servers. They report these apart
// from the requests that fail because of it.
type login struct {
	mu   sync.Mutex
	away error     // refusal of the login itself, since the connection broke
	lack string    // the last permission that the servers have refused
	at   time.Time // when they refused it
}

// refuse notes that the servers refuse the login, and reports whether that is new.
func (l *login) refuse(err error) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.away
	l.away = err
	return was == nil
}

// accept notes that the servers accept the login.
func (l *login) accept() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.away, l.lack = nil, ""
}

// refused returns why the servers refuse the login; nil: they do not.
func (l *login) refused() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.away
}

// lacks notes a permission that the login lacks.
func (l *login) lacks(err error) {
	text := bare(err)
	if _, what, ok := strings.Cut(text, "Permissions Violation for "); ok {
		text = what
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lack, l.at = text, time.Now()
}

// lacked returns the permission that the login lacks, if a recent request may have failed because
// of it.
func (l *login) lacked() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lack == "" || time.Since(l.at) > 2*requestTimeout {
		return nil
	}
	return fmt.Errorf("the login lacks a permission: %.200s; docs/cluster.md lists those of a node", l.lack)
}

// bare is the text of an error of the NATS client, without its prefix.
func bare(err error) string { return strings.TrimPrefix(err.Error(), "nats: ") }
