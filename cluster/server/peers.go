//go:build unix

package server

import (
	"fmt"
	"strings"
	"time"
)

// How often a server looks which peers are here, how long they have to be so before it says that, and how long it waits for
// those that it needs before it says why they do not answer.
const (
	lookEvery = 250 * time.Millisecond
	steady    = time.Second
	patience  = 15 * time.Second
)

// watchPeers warns when the number of servers that are here has changed, of a cluster of so many, until the server is closed.
func (s *Server) watchPeers(all int) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	was, said, explained, began, since := 0, 0, false, false, time.Now()
	for {
		select {
		case <-s.ended:
			return
		case <-look.C:
		}
		here := 1 + s.nats.NumRemotes()
		if here != was {
			was, since = here, time.Now()
		}
		began = began || s.nats.JetStreamIsCurrent()
		switch so := time.Since(since); {
		case here != said && so >= steady:
			said, explained = here, false
			s.log.tell(standing(here, all, began))
		case waits(here, all, began) && !explained && so >= patience:
			explained = true
			if silent := s.log.silence(); len(silent) > 0 {
				s.log.tell("expected the other servers to answer: " + strings.Join(silent, ", "))
			}
		}
	}
}

// waits reports whether a cluster needs more servers than are here. To begin, it needs all: NATS has them elect the first leader.
func waits(here, all int, began bool) bool { return here < all && !began || here <= all/2 }

// standing says how many servers of a cluster are here, and what that means.
func standing(here, all int, began bool) string {
	text := fmt.Sprintf("%d of %d servers are here", here, all)
	switch {
	case waits(here, all, began):
		return fmt.Sprintf("waits for the other servers: %d of %d are here", here, all)
	case !began:
		text += ", and choose a leader"
	}
	return text
}
