package serve

import (
	"strconv"
	"testing"
	"time"
)

// TestManySessions: one token has so many sessions, the latest, and ends none of others.
func TestManySessions(t *testing.T) {
	s, now := &sessions{all: make(map[string]session)}, time.Now()
	s.add("late", session{"b", now.Add(time.Second)}, now)
	s.add("other", session{"b", now.Add(time.Hour)}, now)
	for i := range 2 * mostSessions {
		now = now.Add(time.Second)
		s.add(strconv.Itoa(i), session{"a", now.Add(sessionLasts)}, now)
	}
	if _, is := s.all["late"]; is || len(s.all) != mostSessions+1 || s.all["other"].hash != "b" {
		t.Errorf("%v", s.all)
	}
	for i := mostSessions; i < 2*mostSessions; i++ {
		if s.all[strconv.Itoa(i)].hash != "a" {
			t.Errorf("session %d has ended", i)
		}
	}
}
