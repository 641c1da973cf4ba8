package render

import (
	"sync"
	"time"
)

// stopwatch ends something after a time that counts only while nothing holds it.
type stopwatch struct {
	mu    sync.Mutex
	left  time.Duration // at the last begin of counting
	since time.Time     // that begin
	holds int
	timer *time.Timer
}

// startStopwatch returns a stopwatch that counts. The function runs on a goroutine of its own.
func startStopwatch(most time.Duration, end func()) *stopwatch {
	return &stopwatch{left: most, since: time.Now(), timer: time.AfterFunc(most, end)}
}

// hold has the stopwatch stand still until as many calls of release.
func (s *stopwatch) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds++; s.holds == 1 && s.timer.Stop() {
		s.left -= time.Since(s.since)
	}
}

func (s *stopwatch) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holds--; s.holds == 0 {
		s.since = time.Now()
		s.timer.Reset(max(s.left, 0))
	}
}

// extend gives it more time.
func (s *stopwatch) extend(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case by <= 0:
	case s.holds > 0:
		s.left += by
	case s.timer.Stop():
		now := time.Now()
		s.left += by - now.Sub(s.since)
		s.since = now
		s.timer.Reset(max(s.left, 0))
	}
}

func (s *stopwatch) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds++
	s.timer.Stop()
}
