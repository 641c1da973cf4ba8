package httpclient_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
)

// echo answers with what it was sent.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	fmt.Fprintln(w, r.Proto, r.Method, r.URL.Path, r.Header.Get("Content-Type"), r.ContentLength, err)
	_, _ = w.Write(body)
}

// TestPost: a POST arrives with its body and its length, over HTTP/1.1, TLS and HTTP/2, and a body
// longer than a server takes at once over HTTP/2 does too.
func TestPost(t *testing.T) {
	plain := httptest.NewServer(http.HandlerFunc(echo))
	defer plain.Close()
	secure := newH2Server(t, echo)
	for _, test := range []struct {
		proto, scheme, host string
		opt                 httpclient.Options
	}{
		{"HTTP/1.1", "http", plain.Listener.Addr().String(), httpclient.Options{KeepRaw: true}},
		{"HTTP/1.1", "https", secure.Listener.Addr().String(), func() httpclient.Options { o := secure.options(); o.HTTP1 = true; return o }()},
		{"HTTP/2.0", "https", secure.Listener.Addr().String(), secure.options()},
	} {
		onLoop(t, test.opt, func(task *aio.Task, c *httpclient.Client) error {
			for _, body := range []string{"", "q=red+shoes", strings.Repeat("0123456789", 100_000)} {
				req := httpclient.Request{Method: "POST", Scheme: test.scheme, Host: test.host, Target: "/form", Body: []byte(body),
					Header: httpclient.Header{{Name: "Content-Type", Value: "text/x-test"}}}
				res, err := c.Do(task, req)
				if err != nil {
					return err
				}
				want := fmt.Sprintf("%s POST /form text/x-test %d <nil>\n%s", test.proto, len(body), body)
				if !bytes.Equal(res.Body, []byte(want)) {
					t.Errorf("%s %s: %.80q, expected %.80q", test.scheme, test.proto, res.Body, want)
				}
				if !strings.HasPrefix(res.Sent, "POST /form HTTP/1.1\r\n") || !strings.HasSuffix(res.Sent, fmt.Sprintf("Content-Length: %d\r\n\r\n", len(body))) {
					t.Errorf("sent %.300q", res.Sent)
				}
				res.Close()
			}
			for _, wrong := range []httpclient.Request{{Method: "PUT"}, {Body: []byte("a")}, {Method: "HEAD", Body: []byte("a")}} {
				wrong.Scheme, wrong.Host, wrong.Target = test.scheme, test.host, "/"
				if _, err := c.Do(task, wrong); err == nil || !strings.Contains(err.Error(), "expected") {
					t.Errorf("%q with %q: %v, expected an error", wrong.Method, wrong.Body, err)
				}
			}
			return nil
		})
	}
}

// TestGivenUp: what the system still has of a request that was given up does not arrive later, when
// others may ask the host.
func TestGivenUp(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	begun, gaveUp, read := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		conn, err := ln.Accept()
		if err == nil {
			_, _ = io.ReadFull(conn, make([]byte, 1))
			close(begun)
			<-gaveUp // the network brings nothing meanwhile: its buffers are full
			_, err = io.Copy(io.Discard, conn)
			conn.Close()
		}
		read <- err
	}()
	onLoop(t, httpclient.Options{}, func(task *aio.Task, c *httpclient.Client) error {
		return task.Group(func(g *aio.Group) error {
			asks := g.Go("asks", func(task *aio.Task) error {
				_, _ = c.Do(task, httpclient.Request{Method: "POST", Scheme: "http", Host: ln.Addr().String(), Target: "/", Body: make([]byte, 32<<20)})
				return nil
			})
			_, err := aio.Offload(task, func(context.Context) (struct{}, error) { <-begun; return struct{}{}, nil })
			asks.Cancel()
			return err
		})
	})
	close(gaveUp)
	if err := <-read; !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("%v, expected a reset", err)
	}
}
