//go:build unix

package natsserver

import (
	"fmt"
	"strings"
	"time"
)

const (
	lookEvery = 250 * time.Millisecond // between two counts of a server's peers
	steady    = time.Second            // age of a count before it is reported
	patience  = 15 * time.Second       // before the server says why peers that it needs do not answer
)

// peerWatch warns when another number of the cluster's servers is here.
//
// Owner: the goroutine that calls look.
type peerWatch struct {
	server *Server
	all    int // servers of the cluster

	here      int       // at the last look
	since     time.Time // since when that many are
	reported  int       // number of those here when that was reported
	explained bool      // the reason for the absence of others has been reported
	began     bool      // the cluster had a leader at some time
}

func (w *peerWatch) look() (more bool) {
	here := 1 + w.server.nats.NumRemotes()
	if here != w.here {
		w.here, w.since = here, time.Now()
	}
	w.began = w.began || w.server.nats.JetStreamIsCurrent()
	switch so := time.Since(w.since); {
	case here != w.reported && so >= steady:
		w.reported, w.explained = here, false
		w.server.log.tell(standing(here, w.all, w.began))
	case waits(here, w.all, w.began) && !w.explained && so >= patience:
		w.explained = true
		if silent := w.server.log.silence(); len(silent) > 0 {
			w.server.log.tell("expected the other servers to answer: " + strings.Join(silent, ", "))
		}
	}
	return true
}

// waits reports whether a cluster needs more servers than are here. To begin it needs all, as NATS
// has all of them elect the first leader; then a majority.
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
