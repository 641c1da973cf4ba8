package fetch_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft"
)

// TestKeptOfManyHosts: hosts take turns, and each comes back to its connections after many others.
func TestKeptOfManyHosts(t *testing.T) {
	t.Parallel()
	const hosts, pages, atOnce = 100, 5, 4
	var conns, asked atomic.Int32
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		asked.Add(1)
		w.Header().Set("Content-Type", "text/html")
		var page strings.Builder
		_, port, _ := net.SplitHostPort(r.Host)
		switch {
		case strings.HasPrefix(r.Host, "127.0.0.1:"):
			for i := range hosts {
				fmt.Fprintf(&page, "<a href=http://127.9.0.%d:%s/>x</a>", i+1, port)
			}
		case r.URL.Path == "/":
			for i := range pages {
				fmt.Fprintf(&page, "<a href=/%d>x</a>", i)
			}
		}
		_, _ = w.Write([]byte(page.String()))
	}))
	var err error
	if s.Listener, err = net.Listen("tcp4", "0.0.0.0:0"); err != nil {
		t.Fatal(err)
	}
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			conns.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	o := weft.Options{Seeds: []string{"http://127.0.0.1:" + port + "/"}}
	o.Reach.Scope, o.Pace.Concurrency = weft.ScopeAny, atOnce
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := asked.Load(); n != 1+hosts*(pages+1) {
		t.Errorf("%d pages", n)
	}
	// Each host may have two requests at once.
	if n := conns.Load(); n > 2*(hosts+1) {
		t.Errorf("%d connections to %d hosts", n, hosts+1)
	}
	t.Logf("%d connections", conns.Load())
}
