package httpclient

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// TestHTTP1ForAnHour: a server that has asked for HTTP/1.1 is offered HTTP/2 again after an hour.
func TestHTTP1ForAnHour(t *testing.T) {
	aiotest.NewNet(aiotest.NetOptions{}).Run(t, func(task *aio.Task) error {
		c := NewClient(task.Loop(), Options{})
		defer c.Close()
		to := route{tls: true, host: "www.example"}
		c.muxes.remember(to, habit{http1: true, wanted: true})
		for _, offered := range []bool{false, true} {
			_ = task.Sleep(59 * time.Minute)
			if got := c.muxes.multiplexes(to); got != offered {
				t.Errorf("HTTP/2 is offered: %t", got)
			}
		}
		if n := len(c.muxes.habits); n != 0 {
			t.Errorf("%d servers are remembered", n)
		}
		return nil
	})
}

// sends counts the calls and bytes that a connection sends.
type sends struct {
	aio.Conn
	n, bytes int
}

func (s *sends) Send(p []byte, _ func()) (int, error) {
	s.n++
	s.bytes += len(p)
	return len(p), nil
}

// TestHTTP2SendsTogether: what tasks send in one turn leaves in one write.
func TestHTTP2SendsTogether(t *testing.T) {
	aiotest.NewNet(aiotest.NetOptions{}).Run(t, func(task *aio.Task) error {
		c := NewClient(task.Loop(), Options{})
		defer c.Close()
		var sent sends
		m := newMux(&conn{Conn: &sent, client: c})
		for turn := 1; turn <= 2; turn++ {
			bytes := sent.bytes
			err := task.Group(func(g *aio.Group) error {
				for range 3 {
					g.Go("request", func(*aio.Task) error { m.h2.Ping(); m.sendSoon(); return nil })
				}
				return nil
			})
			if err != nil {
				return err
			}
			_ = task.Sleep(0)
			if sent.n != turn || sent.bytes-bytes < 3*(9+8) || m.pending() {
				t.Errorf("turn %d: %d writes of %d bytes in all", turn, sent.n, sent.bytes)
			}
		}
		return nil
	})
}
