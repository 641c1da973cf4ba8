package webtest_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/webtest"
)

// inMemory serves a web of one host on a virtual network and runs fn with it.
func inMemory(t *testing.T, cfg webtest.Config, fn func(t *aio.Task, web *webtest.Web, log *webtest.Log)) {
	t.Helper()
	web, log := newWeb(t, cfg), webtest.NewLog(nil)
	network := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: 10 * time.Millisecond})
	for i := range web.Hosts() {
		if addr, ok := web.Addr(i); ok {
			network.Host(web.Name(i), addr.String())
		}
	}
	network.Run(t, func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			g.Go("server", func(task *aio.Task) error { return webtest.NewServer(web, log).Serve(task, ln) })
			defer ln.Close()
			fn(task, web, log)
			return nil
		})
	})
}

// ask sends requests for targets over one connection and returns all bytes up to its end
// (io.ErrUnexpectedEOF), or until nothing arrives for an hour.
func ask(t *testing.T, task *aio.Task, host string, targets ...string) (response string, err error) {
	t.Helper()
	var requests strings.Builder
	for _, target := range targets {
		fmt.Fprintf(&requests, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, host)
	}
	return exchange(t, task, host, requests.String())
}

func exchange(t *testing.T, task *aio.Task, host, requests string) (response string, err error) {
	t.Helper()
	c, err := aio.Dial(task, "tcp", host+":80")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Write(task, []byte(requests)); err != nil {
		t.Fatal(err)
	}
	if err := c.SetReadDeadline(task.Loop().Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	r := aio.NewReader(task.Loop(), c)
	defer r.Close()
	all := make([]byte, 1<<20)
	n, err := r.ReadFull(task, all)
	return string(all[:n]), err
}

// TestVirtualTime: delays use the loop's clock, and so does the log.
func TestVirtualTime(t *testing.T) {
	cfg := webtest.Config{Pages: 3, Clean: true, SlowDelay: 20 * time.Minute, Rates: webtest.Rates{Slow: 1}}
	inMemory(t, cfg, func(task *aio.Task, web *webtest.Web, log *webtest.Log) {
		response, err := ask(t, task, web.Name(0), "/", "/d1/p1.html", "/d2/p2/")
		if !errors.Is(err, aio.ErrTimeout) || strings.Count(response, "HTTP/1.1 200 OK") != 3 {
			t.Errorf("%v, expected three responses over one connection:\n%s", err, response)
		}
		var took []time.Duration
		for _, r := range log.Requests() {
			took = append(took, r.End.Sub(r.Start))
		}
		if want := []time.Duration{0, 20 * time.Minute, 20 * time.Minute}; !slices.Equal(took, want) {
			t.Errorf("responses took %v, expected %v", took, want)
		}
	})
}

// TestStalled: a response that never ends waits for the client to leave.
func TestStalled(t *testing.T) {
	inMemory(t, webtest.Config{Pages: 1}, func(task *aio.Task, web *webtest.Web, log *webtest.Log) {
		for _, tt := range []struct{ target, begins string }{{"/stalled/0", ""}, {"/stalled/1", "HTTP/1.1 200 OK"}} {
			response, err := ask(t, task, web.Name(0), tt.target)
			if !errors.Is(err, aio.ErrTimeout) || !strings.HasPrefix(response, tt.begins) || tt.begins == "" && response != "" {
				t.Errorf("%s: %v, %q, expected %q and a time-out", tt.target, err, response, tt.begins)
			}
		}
		if err := task.Sleep(time.Second); err != nil { // for the server to see the end
			t.Fatal(err)
		}
		for _, r := range log.Requests() {
			if r.Status != 0 || r.End.Sub(r.Start) < 59*time.Minute {
				t.Errorf("%+v, expected no status and an hour", r)
			}
		}
	})
}

// TestFlaky: a flaky page refuses as often as the truth says, for any client.
func TestFlaky(t *testing.T) {
	cfg := webtest.Config{Pages: 40, Clean: true, Fails: 3, Rates: webtest.Rates{Flaky: 0.5}}
	inMemory(t, cfg, func(task *aio.Task, web *webtest.Web, log *webtest.Log) {
		patient := webtest.Policy{Retries: 3}
		retryAfter := 0
		for url, fate := range web.Truth(patient) {
			_, target := split(url)
			refused := 0
			for {
				a := web.Response(web.Name(0), target, refused)
				response, err := ask(t, task, web.Name(0), target)
				if !errors.Is(err, aio.ErrTimeout) && !errors.Is(err, io.ErrUnexpectedEOF) || !strings.HasPrefix(response, fmt.Sprintf("HTTP/1.1 %d ", a.Status)) {
					t.Fatalf("%s: %v, expected %d after %d:\n%s", target, err, a.Status, refused, response)
				}
				if a.Status == 200 {
					break
				}
				refused++
				retryAfter += strings.Count(response, "\r\nRetry-After: 1\r\n")
			}
			if refused > 3 || fate.Status != 200 {
				t.Errorf("%s: %v after %d refusals", url, fate, refused)
			}
		}
		if p := log.Politeness(); len(maps.Collect(p.Repeated())) < 10 || retryAfter == 0 {
			t.Errorf("%d pages refused, %d times with Retry-After", len(maps.Collect(p.Repeated())), retryAfter)
		}
	})
}

// TestBodies: a body arrives with every framing and coding.
func TestBodies(t *testing.T) {
	r := webtest.Start(t, webtest.Config{Pages: 60, Clean: true, Rates: webtest.Rates{Asset: 0.3, Charset: 0.3, Missing: 0.3}})
	client := &http.Client{Transport: &http.Transport{}}
	defer client.CloseIdleConnections()
	seen := make(map[string]int)
	for url := range r.Web.Truth(webtest.Policy{Elements: allElements}) {
		host, target := split(url)
		a := r.Web.Response(host, target, 0)
		res, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || !bytes.Equal(body, a.Body) || res.StatusCode != a.Status {
			t.Errorf("%s: %d, %v, %d bytes, expected %d and %d bytes", url, res.StatusCode, err, len(body), a.Status, len(a.Body))
		}
		seen[fmt.Sprintf("close %v, chunked %v, gzip %v", res.Close, res.TransferEncoding != nil, res.Uncompressed)]++
	}
	if len(seen) != 6 {
		t.Errorf("framings and codings: %v, expected 3 with and without gzip", seen)
	}
}

// TestRequests covers other requests.
func TestRequests(t *testing.T) {
	web := newWeb(t, webtest.Config{Pages: 60, Clean: true})
	coded, kept := "", "" // a page that is compressed, and one that does not end its connection
	for url := range web.Truth(webtest.Policy{}) {
		_, target := split(url)
		if a := web.Response(web.Name(0), target, 0); a.Gzip {
			coded = target
		} else if a.Framing == webtest.Length {
			kept = target
		}
	}
	for _, tt := range []struct {
		name, request string
		status        int
		field, value  string
		gzip          bool
	}{
		{"takes no gzip", "GET " + coded + " HTTP/1.1\r\nHost: HOST\r\n\r\n", 200, "Content-Encoding", "", false},
		{"takes gzip", "GET " + coded + " HTTP/1.1\r\nhost:HOST\r\naccept-encoding: br, GZip\r\n\r\n", 200, "Content-Encoding", "gzip", true},
		{"goes", "GET " + kept + " HTTP/1.1\r\nHost: HOST\r\nConnection: close\r\n\r\n", 200, "Connection", "close", false},
		{"HTTP/1.0", "GET " + kept + " HTTP/1.0\r\nHost: HOST\r\n\r\n", 200, "Connection", "close", false},
		{"other method", "POST / HTTP/1.1\r\nHost: HOST\r\n\r\n", 501, "Connection", "close", false},
		{"other host", "GET / HTTP/1.1\r\nHost: other.test\r\n\r\n", 421, "Content-Length", "0", false},
		{"no host", "GET / HTTP/1.1\r\n\r\n", 421, "Content-Length", "0", false},
		{"no request", "hello\r\n\r\n", 501, "Connection", "close", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inMemory(t, web.Config(), func(task *aio.Task, web *webtest.Web, _ *webtest.Log) {
				response, err := exchange(t, task, web.Name(0), strings.ReplaceAll(tt.request, "HOST", web.Name(0)))
				if closed := errors.Is(err, io.ErrUnexpectedEOF); closed != (tt.field == "Connection") && tt.name != "takes no gzip" && tt.name != "takes gzip" {
					t.Errorf("the connection ends: %v", err)
				}
				res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(response)), nil)
				if err != nil {
					t.Fatalf("%v:\n%s", err, response)
				}
				defer res.Body.Close()
				got := res.Header.Get(tt.field)
				if tt.field == "Connection" && res.Close {
					got = "close"
				}
				if res.StatusCode != tt.status || got != tt.value {
					t.Errorf("expected %d and %s %q:\n%s", tt.status, tt.field, tt.value, response)
				}
				if tt.status != 200 {
					return
				}
				var body io.Reader = res.Body
				if tt.gzip {
					if body, err = gzip.NewReader(body); err != nil {
						t.Fatal(err)
					}
				}
				text, err := io.ReadAll(body)
				if err != nil || !bytes.HasSuffix(text, []byte("</body></html>\n")) {
					t.Errorf("%v in the body:\n%s", err, text)
				}
			})
		})
	}
}

// TestBroken: each fault matches its name.
func TestBroken(t *testing.T) {
	inMemory(t, webtest.Config{Pages: 1}, func(task *aio.Task, web *webtest.Web, log *webtest.Log) {
		for n, tt := range []struct {
			name  string
			fault func(response string, body []byte, err error) bool // of reading the body
		}{
			{"no response", func(response string, _ []byte, _ error) bool { return response == "" }},
			{"cut off", func(_ string, body []byte, err error) bool { return err == io.ErrUnexpectedEOF && len(body) > 0 }},
			{"cut off in a chunk", func(_ string, body []byte, err error) bool { return err == io.ErrUnexpectedEOF && len(body) > 0 }},
			{"not HTTP", func(response string, _ []byte, _ error) bool { return strings.HasPrefix(response, "This is no HTTP") }},
			{"not what it says", func(response string, body []byte, err error) bool {
				return err == nil && strings.Contains(response, "\r\nContent-Encoding: gzip\r\n") && body[0] == 'T'
			}},
			{"more than it says", func(response string, body []byte, err error) bool {
				return err == nil && len(body) > 0 && !strings.HasSuffix(response, "\r\n\r\n"+string(body))
			}},
		} {
			target := fmt.Sprintf("/broken/%d", n)
			response, _ := ask(t, task, web.Name(0), target)
			var body []byte
			res, err := http.ReadResponse(bufio.NewReader(strings.NewReader(response)), nil)
			if err == nil {
				body, err = io.ReadAll(res.Body)
				res.Body.Close()
			}
			if !tt.fault(response, body, err) {
				t.Errorf("%s, %s: %v:\n%.300s", target, tt.name, err, response)
			}
		}
	})
}

// TestServeEnds: a server closes its connections when its listener is closed.
func TestServeEnds(t *testing.T) {
	web := newWeb(t, webtest.Config{Pages: 1, Clean: true})
	network := aiotest.NewNet(aiotest.NetOptions{})
	network.Run(t, func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", "127.0.0.1:80")
		if err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			server := g.Go("server", func(task *aio.Task) error { return webtest.NewServer(web, nil).Serve(task, ln) })
			c, err := aio.Dial(task, "tcp", "127.0.0.1:80")
			if err != nil {
				return err
			}
			defer c.Close()
			if _, err := c.Write(task, []byte("GET / HTTP/1.1\r\nHost: elsewhere\r\n\r\n")); err != nil {
				return err
			}
			r := aio.NewReader(task.Loop(), c)
			defer r.Close()
			if _, err := r.ReadUntil(task, []byte("\r\n\r\n"), 1000); err != nil { // all of the response
				return err
			}
			ln.Close()
			if err := server.Await(task); err != nil {
				t.Errorf("the server ended with %v", err)
			}
			if more, err := r.Peek(task); err != io.EOF {
				t.Errorf("the connection gave %q, %v, expected its end", more, err)
			}
			return nil
		})
	})
}

// short is a listener of a process that runs out of descriptors once.
type short struct {
	aio.Listener
	failed bool
}

func (l *short) Accept(t *aio.Task) (aio.Conn, error) {
	if !l.failed {
		l.failed = true
		return nil, os.NewSyscallError("accept", syscall.EMFILE)
	}
	return l.Listener.Accept(t)
}

// TestNoDescriptor: a server that runs out of descriptors continues later.
func TestNoDescriptor(t *testing.T) {
	web := newWeb(t, webtest.Config{Pages: 1, Clean: true})
	network := aiotest.NewNet(aiotest.NetOptions{})
	network.Host(web.Name(0), "127.0.0.1")
	network.Run(t, func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			g.Go("server", func(task *aio.Task) error {
				return webtest.NewServer(web, nil).Serve(task, &short{Listener: ln})
			})
			defer ln.Close()
			if response, _ := ask(t, task, web.Name(0), "/"); !strings.HasPrefix(response, "HTTP/1.1 200 OK") {
				t.Errorf("response %q", response)
			}
			return nil
		})
	})
}

// TestLocations: redirects use every spelling of Location. (TestTruth follows them.)
func TestLocations(t *testing.T) {
	web := newWeb(t, webtest.Config{Hosts: 20, Pages: 40})
	spellings := make(map[string]int)
	for url, fate := range web.Truth(everywhere) {
		host, target := split(url)
		if fate.Status < 300 || fate.Status > 399 {
			continue
		}
		header := web.Response(host, target, 0).Header
		location := strings.TrimPrefix(header[len(header)-1], "Location: ")
		switch {
		case strings.HasPrefix(location, "http://"):
			spellings["absolute"]++
		case strings.HasPrefix(location, "//"):
			spellings["without scheme"]++
		case strings.HasSuffix(location, "#part"):
			spellings["fragment"]++
		case strings.HasPrefix(location, "/"):
			spellings["path"]++
		default:
			spellings["relative"]++
		}
	}
	if len(spellings) != 5 {
		t.Errorf("spellings of Location: %v, expected 5", spellings)
	}
}
