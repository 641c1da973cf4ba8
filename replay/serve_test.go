package replay

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestServe: requests are answered until the context ends, but none with a head that is too long;
// an error of the listener is that of the call.
func TestServe(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	hello := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	go func() { ended <- Serve(ctx, listener, hello) }()
	for field, want := range map[string]int{"short": http.StatusOK, strings.Repeat("long", 20<<10): http.StatusRequestHeaderFieldsTooLarge} {
		c, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		go io.WriteString(c, "GET / HTTP/1.1\r\nHost: a\r\nX: "+field+"\r\n\r\n")
		if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || resp.StatusCode != want {
			t.Errorf("%.8s: %v, %v, expected %d", field, resp, err, want)
		}
		c.Close()
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("%v; expected none, as the context has ended", err)
	}
	if err := Serve(t.Context(), listener, hello); err == nil {
		t.Error("a closed listener is no error")
	}
}
