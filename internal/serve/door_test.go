package serve

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/internal/loopback"
)

// TestDoor: connections without a request, and requests that never come whole, keep nobody out, and
// close no connection with a request of somebody known.
func TestDoor(t *testing.T) {
	t.Parallel()
	const most = 8
	entered, leave := make(chan bool), make(chan bool)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = loopback.Serve(t.Context(), listener, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			busy(r.Context())
			if r.URL.Path == "/long" {
				entered <- true
				<-leave
			}
		}), newDoor(most).guard)
	}()
	ask := func(path string) error {
		resp, err := (&http.Client{Transport: &http.Transport{}}).Get("http://" + listener.Addr().String() + path)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	long := make(chan error, 1)
	go func() { long <- ask("/long") }()
	<-entered
	for _, begin := range []string{"", "GET / HTTP/1.1\r\nHost: "} {
		for range 5 * most {
			conn, err := net.Dial("tcp", listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.Copy(conn, strings.NewReader(begin)); err != nil {
				t.Fatal(err)
			}
		}
		if err := ask("/"); err != nil {
			t.Errorf("beside connections that send %q: %v", begin, err)
		}
	}
	leave <- true
	if err := <-long; err != nil {
		t.Errorf("the request that came first: %v", err)
	}
}
