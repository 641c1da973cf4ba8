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
		c.speakHTTP1(to, true)
		for _, offered := range []bool{false, true} {
			_ = task.Sleep(59 * time.Minute)
			if got := c.multiplexes(to); got != offered {
				t.Errorf("HTTP/2 is offered: %t", got)
			}
		}
		if n := len(c.muxes.http1); n != 0 {
			t.Errorf("%d servers are remembered", n)
		}
		return nil
	})
}
