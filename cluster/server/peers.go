//go:build unix

package server

import (
	"fmt"
	"strings"
	"time"
)

const (
	lookEvery = 250 * time.Millisecond // how often a server counts its peers
	steady    = time.Second            // how long a count has to last before it is reported
	patience  = 15 * time.Second       // after which the server says why the peers that it needs do not answer
)

// watchPeers warns when another number of the cluster's servers is here, until the server is closed.
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

// waits reports whether a cluster needs more servers than are here. To begin it needs all, as NATS has all of them elect
// the first leader; then a majority.
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
