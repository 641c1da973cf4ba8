package httpclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// TestTLSTime checks that certificates are judged by the time of the calendar, also after that was
// set.
func TestTLSTime(t *testing.T) {
	clock := aiotest.NewClock()
	config := newTLSConfig(aio.NewLoop(aio.Options{Clock: clock}), false)
	clock.Set(-48 * time.Hour)
	if got, want := config.Time(), aiotest.Epoch.Add(-48*time.Hour); !got.Equal(want) {
		t.Errorf("%v, expected %v", got, want)
	}
}

// TestSessionsOfEndedChains: a session is offered to its origin alone, and not when its
// certificates are not valid any more: the server would not send others.
func TestSessionsOfEndedChains(t *testing.T) {
	all := newSessions(1 << 20)
	state, err := tls.NewResumptionState([]byte("ticket"), new(tls.SessionState))
	if err != nil {
		t.Fatal(err)
	}
	all.put("a.test", state, []*x509.Certificate{{}}, 0)
	var verdict error
	offered := func(origin string) bool {
		ch := &channel{sessions: &all, origin: origin, shake: &shake{verify: func([]*x509.Certificate) error { return verdict }}}
		_, known := ch.Get("a.test")
		return known
	}
	if !offered("a.test") || offered("a.test:8443") {
		t.Error("the session is not that of its origin")
	}
	if verdict = errors.New("it has expired"); offered("a.test") || len(all.known) > 0 {
		t.Error("a session is offered, or kept, whose certificates have expired")
	}
}
