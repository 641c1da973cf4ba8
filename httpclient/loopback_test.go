package httpclient_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/httpclient"
)

// TestLoopback fetches from the standard library's server over real sockets.
func TestLoopback(t *testing.T) {
	aiotest.CheckLeaks(t)
	long := strings.Repeat("a long page. ", 50_000)
	zipped := zip(t, long)
	mux := http.NewServeMux()
	mux.HandleFunc("/length", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") })
	mux.HandleFunc("/long", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, long) })
	mux.HandleFunc("/chunked", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		for _, piece := range []string{"in ", "three ", "chunks"} {
			fmt.Fprint(w, piece)
			w.(http.Flusher).Flush()
		}
		w.Header().Set("X-Sum", "1")
	})
	mux.HandleFunc("/gzip", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") != "gzip, deflate, br, zstd" {
			http.Error(w, "Accept-Encoding lacks gzip", http.StatusNotAcceptable)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		fmt.Fprint(w, zipped)
	})
	mux.HandleFunc("/close", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		fmt.Fprint(w, "the last one")
	})
	mux.HandleFunc("/hints", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		fmt.Fprint(w, "after hints")
	})
	mux.HandleFunc("/nothing", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/moved", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/length", http.StatusFound) })
	mux.HandleFunc("/abort", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "half a page")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	pages := []struct {
		target string
		status int
		body   string
		kind   httpclient.Kind // "": none
	}{
		{"/length", 200, "hello", ""},
		{"/long", 200, long, ""},
		{"/chunked", 200, "in three chunks", ""},
		{"/gzip", 200, long, ""},
		{"/hints", 200, "after hints", ""},
		{"/nothing", 204, "", ""},
		{"/moved", 302, "<a href=\"/length\">Found</a>.\n\n", ""},
		{"/none", 404, "404 page not found\n", ""},
		{"/close", 200, "the last one", ""},
		{"/abort", 0, "", httpclient.KindEarlyEnd},
	}
	const tasks, rounds = 4, 5

	var opened atomic.Int64
	server := httptest.NewUnstartedServer(mux)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.Start()
	defer server.Close()

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a last resort
	defer cancel()
	err := aio.Run(ctx, func(task *aio.Task) error {
		client := httpclient.NewClient(task.Loop(), httpclient.Options{})
		defer client.Close()
		return task.Group(func(g *aio.Group) error {
			for i := range tasks {
				g.Go(fmt.Sprintf("reader %d", i), func(task *aio.Task) error {
					for n := range rounds * len(pages) {
						page := pages[(n+i)%len(pages)]
						res, err := client.Do(task, httpclient.Request{Scheme: "http", Host: server.Listener.Addr().String(), Target: page.target})
						if page.kind != "" {
							expectKind(t, err, page.kind)
							continue
						}
						if err != nil {
							t.Errorf("GET %s: %v", page.target, err)
							continue
						}
						if res.Status != page.status || string(res.Body) != page.body {
							t.Errorf("GET %s: status %d, body of %d bytes (%.100q)", page.target, res.Status, len(res.Body), res.Body)
						}
						res.Close()
					}
					return nil
				})
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	// Each task needs a connection at first, and another after each page that ends it.
	if got, want := opened.Load(), int64(tasks+2*tasks*rounds); got > want {
		t.Errorf("%d connections for %d requests, want at most %d", got, tasks*rounds*len(pages), want)
	}
}

// TestLoopbackTLS fetches from the standard library's server over TLS and real sockets, many at
// once.
func TestLoopbackTLS(t *testing.T) {
	aiotest.CheckLeaks(t)
	long := strings.Repeat("a long page. ", 50_000)
	var opened atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, long) }))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	server.StartTLS()
	defer server.Close()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())

	const tasks, rounds = 8, 10
	resumed := 0
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a last resort
	defer cancel()
	err := aio.Run(ctx, func(task *aio.Task) error {
		override := httpclient.Override{Host: "example.com", Port: 443}
		to := server.Listener.Addr().(*net.TCPAddr).AddrPort()
		override.Addr, override.To = to.Addr(), to.Port()
		client := httpclient.NewClient(task.Loop(), httpclient.Options{RootCAs: roots, Resolve: []httpclient.Override{override}})
		defer client.Close()
		get := func(task *aio.Task) error {
			res, err := client.Do(task, httpclient.Request{Scheme: "https", Host: "example.com", Target: "/"})
			if err != nil {
				return err
			}
			defer res.Close()
			if string(res.Body) != long || res.Addr != to {
				t.Errorf("body of %d bytes, from %v", len(res.Body), res.Addr)
			}
			if res.TLS.DidResume {
				resumed++
			}
			return nil
		}
		if err := get(task); err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			for range tasks {
				g.Go("reader", func(task *aio.Task) error {
					for range rounds {
						if err := get(task); err != nil {
							return err
						}
					}
					return nil
				})
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := opened.Load(); n > tasks+1 || n > 1 && resumed == 0 {
		t.Errorf("%d connections for %d tasks, %d exchanges over resumed ones", n, tasks, resumed)
	}
}

// TestLoopbackTLSEnd checks that a response is incomplete if TCP ends between two TLS records, as
// anybody on the path could make it.
func TestLoopbackTLSEnd(t *testing.T) {
	aiotest.CheckLeaks(t)
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprint(c, "HTTP/1.1 200 OK\r\n\r\nto the end")
		if r.URL.Path == "/cut" {
			c.(*tls.Conn).NetConn().Close()
		}
	}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a last resort
	defer cancel()
	err := aio.Run(ctx, func(task *aio.Task) error {
		client := httpclient.NewClient(task.Loop(), httpclient.Options{Insecure: true})
		defer client.Close()
		for target, kind := range map[string]httpclient.Kind{"/whole": "", "/cut": httpclient.KindEarlyEnd} {
			res, err := client.Do(task, httpclient.Request{Scheme: "https", Host: server.Listener.Addr().String(), Target: target})
			switch {
			case kind != "":
				expectKind(t, err, kind)
			case err != nil:
				return err
			case string(res.Body) != "to the end":
				t.Errorf("body %q", res.Body)
			}
			res.Close()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLoopbackUnrequested is TestUnrequestedResponse over real sockets: bytes that arrive while a
// connection is kept are noticed there too, and nothing more is sent over it.
func TestLoopbackUnrequested(t *testing.T) {
	for _, c := range []struct {
		name string
		send func(c net.Conn)
	}{
		{"a response", func(c net.Conn) { fmt.Fprint(c, ok("forged")) }},
		{"the end", func(c net.Conn) { c.(*net.TCPConn).CloseWrite() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			aiotest.CheckLeaks(t)
			ln, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer ln.Close()
			accept := func() (net.Conn, error) {
				conn, err := ln.Accept()
				if err != nil {
					return nil, err
				}
				// No read blocks the test for ever.
				_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
				_, err = http.ReadRequest(bufio.NewReader(conn))
				return conn, err
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a last resort
			defer cancel()
			err = aio.Run(ctx, func(task *aio.Task) error {
				client := httpclient.NewClient(task.Loop(), httpclient.Options{Timeout: 10 * time.Second})
				defer client.Close()
				// exchange fetches with the client while another goroutine runs the server's part.
				exchange := func(want string, server func() error) error {
					return task.Group(func(g *aio.Group) error {
						g.Go("server", func(task *aio.Task) error {
							_, err := aio.Offload(task, func(ctx context.Context) (struct{}, error) {
								stop := context.AfterFunc(ctx, func() { ln.Close() })
								defer stop()
								return struct{}{}, server()
							})
							return err
						})
						g.Go("client", func(task *aio.Task) error {
							res, err := client.Do(task, httpclient.Request{Scheme: "http", Host: ln.Addr().String(), Target: "/"})
							if err != nil {
								return err
							}
							defer res.Close()
							if string(res.Body) != want {
								return fmt.Errorf("body %q, want %q", res.Body, want)
							}
							return nil
						})
						return nil
					})
				}
				var first net.Conn
				err := exchange("first", func() (err error) {
					if first, err = accept(); err != nil {
						return err
					}
					_, err = fmt.Fprint(first, ok("first"))
					return err
				})
				if err != nil {
					return err
				}
				defer first.Close()
				c.send(first)
				err = exchange("second", func() error {
					second, err := accept()
					if err != nil {
						return err
					}
					defer second.Close()
					_, err = fmt.Fprint(second, ok("second"))
					return err
				})
				if err != nil {
					return err
				}
				rest, _ := io.ReadAll(first) // to the client's end, or its reset
				if len(rest) > 0 {
					return fmt.Errorf("got %q over the first connection", rest)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestTimingOfABusyLoop: the times of a response do not include what the client did meanwhile. On a
// busy machine the server may be late, too: it has a few tries.
func TestTimingOfABusyLoop(t *testing.T) {
	wrong := timeBusyLoop(t)
	for range 4 {
		if wrong == "" {
			return
		}
		wrong = timeBusyLoop(t)
	}
	if wrong != "" {
		t.Error(wrong)
	}
}

// timeBusyLoop says what is wrong with the times of two responses to a client that is busy when
// they come; "": nothing is.
func timeBusyLoop(t *testing.T) (wrong string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	const response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	asked, served := make(chan struct{}), make(chan struct{})
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		b := make([]byte, 4096)
		for range 2 {
			if _, err := c.Read(b); err != nil {
				return
			}
			asked <- struct{}{}
			_, _ = c.Write([]byte(response))
			served <- struct{}{}
		}
	}()
	const busy = 300 * time.Millisecond
	err = aio.Run(t.Context(), func(task *aio.Task) error {
		client := httpclient.NewClient(task.Loop(), httpclient.Options{})
		defer client.Close()
		for _, kept := range []bool{false, true} {
			var res *httpclient.Response
			err := task.Group(func(g *aio.Group) error {
				g.Go("fetch", func(task *aio.Task) (err error) {
					res, err = client.Do(task, httpclient.Request{Method: "GET", Scheme: "http", Host: ln.Addr().String(), Target: "/"})
					return err
				})
				g.Go("work", func(task *aio.Task) error {
					for {
						select {
						case <-asked: // the loop works on something else
							<-served
							for began := time.Now(); time.Since(began) < busy; {
							}
							return nil
						default:
							if err := task.Yield(); err != nil {
								return err
							}
						}
					}
				})
				return nil
			})
			if err != nil {
				return err
			}
			if tm := res.Timing; res.Reused != kept || tm.FirstByte > busy/3 || tm.Total > busy/2 {
				wrong = fmt.Sprintf("a kept connection: %v, took %+v, with a client that was busy for %v", res.Reused, tm, busy)
			}
			res.Close()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return wrong
}

// TestOneFullHandshake: of requests that come at once to a server of HTTP/1.1, one does a full
// handshake, and the others resume its session, which comes while they connect: nearly always
// first. They do not wait for the response.
func TestOneFullHandshake(t *testing.T) {
	const requests = 6
	for _, c := range []struct {
		name    string
		http1   bool // asked for
		tickets bool
		full    int64
	}{
		{"HTTP/1.1 is chosen by the server", false, true, 1},
		{"HTTP/1.1 is asked for", true, true, 1},
		{"no tickets", false, false, requests},
	} {
		t.Run(c.name, func(t *testing.T) {
			var full, there atomic.Int64
			all := make(chan struct{})
			s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if there.Add(1) == requests { // each has a connection of its own
					close(all)
				}
				<-all
			}))
			s.TLS = &tls.Config{NextProtos: []string{"http/1.1"}, SessionTicketsDisabled: !c.tickets, VerifyConnection: func(state tls.ConnectionState) error {
				if !state.DidResume {
					full.Add(1)
				}
				return nil
			}}
			s.StartTLS()
			defer s.Close()
			roots := x509.NewCertPool()
			roots.AddCert(s.Certificate())
			onLoop(t, httpclient.Options{RootCAs: roots, HTTP1: c.http1}, func(task *aio.Task, client *httpclient.Client) error {
				return task.Group(func(g *aio.Group) error {
					for range requests {
						g.Go("get", func(task *aio.Task) error {
							res, err := client.Do(task, httpclient.Request{Scheme: "https", Host: s.Listener.Addr().String(), Target: "/"})
							if err == nil {
								res.Close()
							}
							return err
						})
					}
					return nil
				})
			})
			if n := full.Load(); n < c.full || n > c.full+requests/2 {
				t.Errorf("%d full handshakes, want %d", n, c.full)
			}
		})
	}
}
