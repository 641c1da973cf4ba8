package loops

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/process"
)

// waiting is the number of waiters. Each end of a connection is in a process of its own, so none
// has more descriptors than that.
const waiting = 10_000

// Waiters start in steps, or the backlog of the server overflows and connections wait for a
// retransmission.
const (
	waitStep  = 500
	waitPause = 20 * time.Millisecond
)

// BenchmarkMemory: the memory of one of 10,000 that wait for a response, each on a connection of
// its own, in a process that does nothing else. rss-B/op is the growth of the process (VmRSS)
// between idle and all waiting, garbage included. heap-B/op and stack-B/op are heap and stacks
// after a collection.
//
// streams are requests over eight connections of HTTP/2. Those that begin with then wait without a
// stack, as a crawl does. coroutine, task and conn are steps on the way, to locate the bytes. Those
// that end in tls have
// done a TLS 1.3 handshake with a verified certificate.
func BenchmarkMemory(b *testing.B) {
	for _, w := range waiters {
		b.Run(w.name, func(b *testing.B) { measureWaiting(b, w) })
	}
	b.Run("aiohttp", measureAiohttp)
}

// waiter is a way to wait.
type waiter struct {
	name   string
	remote bool // for a response of the server; otherwise for a signal
	tls    bool // from the server
	run    func(d *harness) error
}

var waiters = []waiter{
	{"coroutine", false, false, waitCoroutine},
	{"goroutine", false, false, waitGoroutine},
	{"task", false, false, waitTask},
	{"conn", true, false, waitConn},
	{"httpclient", true, false, waitHTTP1},
	{"nethttp", true, false, waitNetHTTP},
	{"streams", true, false, waitStreams},
	{"http1-tls", true, true, waitHTTP1},
	{"then-conn", true, false, thenConn},
	{"then-http1", true, false, thenHTTP1},
	{"then-streams", true, false, thenStreams},
	{"then-http1-tls", true, true, thenHTTP1},
	{"nethttp-tls", true, true, waitNetHTTP},
}

func measureWaiting(b *testing.B, w waiter) {
	var rss, live, stack int
	for range b.N {
		port, cert := "0", ""
		var server *child
		if w.remote {
			server = start(b, "holder", waiting, w.tls)
			port = server.must("port")
		}
		if w.tls {
			cert = server.must("cert")
		}
		c := start(b, "waiter", w.name, port, cert)
		c.must("idle")
		idle := residentBytes(b, c.pid)
		c.say("go")
		if w.remote {
			server.must("holding")
		}
		c.must("started")
		full := residentBytes(b, c.pid)
		rss += full - idle
		c.say("count")
		var heap, stacks int
		if _, err := fmt.Sscan(c.must("live"), &heap, &stacks); err != nil {
			b.Fatal(err)
		}
		live, stack = live+heap, stack+stacks
		if w.remote {
			server.say("respond")
		}
		c.say("end")
		c.must("right")
	}
	n := float64(waiting * b.N)
	b.ReportMetric(float64(rss)/n, "rss-B/op")
	b.ReportMetric(float64(live)/n, "heap-B/op")
	b.ReportMetric(float64(stack)/n, "stack-B/op")
	b.ReportMetric(0, "ns/op") // how long they wait means nothing
}

// measureAiohttp runs a script that measures itself and is not part of this project. It looks 4 s
// after it has started its last request, and reports only at its end.
func measureAiohttp(b *testing.B) {
	root := os.Getenv("WEFT_BENCH")
	if root == "" {
		root = "../../../shared/bench"
	}
	script := filepath.Join(root, "slow", "client_aiohttp.py")
	if _, err := os.Stat(script); err != nil {
		b.Skip(err)
	}
	python := os.Getenv("PEERS_PYTHON")
	if python == "" {
		python = "/usr/bin/python3" // the system's, which has the packages of the system
	}
	total := 0
	for range b.N {
		server := start(b, "holder", waiting, false)
		cmd := exec.Command(python, script, strconv.Itoa(waiting), server.must("port"))
		cmd.Stderr = os.Stderr
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			b.Skip(err)
		}
		server.must("holding")
		time.Sleep(6 * time.Second)
		server.say("respond")
		if err := cmd.Wait(); err != nil {
			b.Fatal(err)
		}
		got := make(map[string]int)
		for _, word := range strings.Fields(out.String()) {
			k, v, _ := strings.Cut(word, "=")
			got[k], _ = strconv.Atoi(v)
		}
		if got["inflight"] != waiting || got["ok"] != waiting {
			b.Errorf("expected %d in flight and then right: %s", waiting, &out)
		}
		total += got["bytes_per_fetch"]
	}
	b.ReportMetric(float64(total)/float64(b.N), "rss-B/op")
	b.ReportMetric(0, "ns/op")
}

func residentBytes(b *testing.B, pid int) int {
	s, err := process.ReadStatus(pid)
	if err != nil {
		b.Fatal(err)
	}
	return int(s.Resident)
}

// serveHeld holds back its responses until it has n requests and the benchmark lets it go. It
// listens on the same port of eight addresses, or a client would run out of ports.
func serveHeld(talk talk, args []string) error {
	n, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var held atomic.Int64
	all, enough := make(chan struct{}), make(chan struct{})
	hold := func(c net.Conn) {
		defer c.Close()
		target, err := readHead(bufio.NewReaderSize(c, 512))
		if err != nil {
			return
		}
		if held.Add(1) == int64(n) {
			close(all)
		}
		<-enough
		body := heldBody(target)
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
	}
	var secret *tls.Config // nil: plain
	if args[1] == "true" {
		if secret, err = newSecret(); err != nil {
			return err
		}
	}
	port := 0
	for i := 1; i <= 8; i++ {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.%d:%d", i, port))
		if err != nil {
			return err
		}
		defer ln.Close()
		port = ln.Addr().(*net.TCPAddr).Port
		streams := &http.Server{
			Protocols: new(http.Protocols), HTTP2: &http.HTTP2Config{MaxConcurrentStreams: n},
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if held.Add(1) == int64(n) {
					close(all)
				}
				<-enough
				io.WriteString(w, heldBody(r.URL.Path))
			}),
		}
		streams.Protocols.SetUnencryptedHTTP2(true)
		accepted := make(chan net.Conn)
		go streams.Serve(&handed{ln, accepted})
		go func() {
			for {
				c, err := ln.Accept()
				if err != nil {
					return
				}
				if secret != nil {
					c = tls.Server(c, secret)
				}
				go func() {
					if first := bufio.NewReaderSize(c, 512); secret == nil {
						if b, _ := first.Peek(3); string(b) == "PRI" {
							accepted <- &begun{c, first}
							return
						}
						c = &begun{c, first}
					}
					hold(c)
				}()
			}
		}()
	}
	talk.say("port", port)
	if secret != nil {
		talk.say("cert", hex.EncodeToString(secret.Certificates[0].Certificate[0]))
	}
	<-all
	talk.say("holding")
	talk.hear()
	close(enough)
	talk.hear()
	return nil
}

// handed is a listener whose connections somebody else accepts.
type handed struct {
	net.Listener
	conns chan net.Conn
}

func (h *handed) Accept() (net.Conn, error) { return <-h.conns, nil }

// begun is a connection of which something was read.
type begun struct {
	net.Conn
	from *bufio.Reader
}

func (c *begun) Read(b []byte) (int, error) { return c.from.Read(b) }

// newSecret returns a self-signed certificate for the addresses of serveHeld.
func newSecret() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	for i := 1; i <= 8; i++ {
		template.IPAddresses = append(template.IPAddresses, net.IPv4(127, 0, 0, byte(i)))
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, nil
}

// heldBody returns the body for a target.
func heldBody(target string) string { return "<a href=\"" + target + "\">this</a>" }

// runWaiter is the measured process.
func runWaiter(talk talk, args []string) error {
	port, err := strconv.Atoi(args[1])
	if err != nil {
		return err
	}
	for _, w := range waiters {
		if w.name == args[0] {
			d := &harness{talk: talk, scheme: "http"}
			if w.tls {
				d.scheme, d.roots = "https", x509.NewCertPool()
				der, err := hex.DecodeString(args[2])
				if err != nil {
					return err
				}
				cert, err := x509.ParseCertificate(der)
				if err != nil {
					return err
				}
				d.roots.AddCert(cert)
			}
			for i := range waiting {
				d.addrs = append(d.addrs, fmt.Sprintf("127.0.0.%d:%d", i%8+1, port))
				d.targets = append(d.targets, fmt.Sprintf("/p%d", i))
			}
			if err := w.run(d); err != nil {
				return err
			}
			if w.remote && d.right.Load() != waiting {
				return fmt.Errorf("%d correct responses, expected %d", d.right.Load(), waiting)
			}
			talk.say("right")
			talk.hear()
			return nil
		}
	}
	return fmt.Errorf("no waiter %q", args[0])
}

// harness connects a waiter to the benchmark. Its methods block.
type harness struct {
	talk
	addrs   []string // made in advance, since package fmt doubles the stack of its caller
	targets []string // one per address
	scheme  string
	roots   *x509.CertPool
	right   atomic.Int64 // correct responses
	idle    runtime.MemStats
}

// begin is called when everything is ready to start.
func (d *harness) begin() {
	settle()
	runtime.ReadMemStats(&d.idle)
	d.say("idle")
	d.hear()
}

// started is called when all wait, or soon will. When it returns, they may end.
func (d *harness) started() {
	d.say("started")
	d.hear()
	settle()
	settle() // twice: pools survive the first collection
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	d.say("live", int(now.HeapAlloc-d.idle.HeapAlloc), int(now.StackInuse-d.idle.StackInuse))
	d.hear()
}

// check is not inlined, so that its variables are not on the stack of who waits.
//
//go:noinline
func (d *harness) check(i int, body []byte) error {
	if want := heldBody(d.targets[i]); string(body) != want {
		return fmt.Errorf("response %q, expected %q", body, want)
	}
	d.right.Add(1)
	return nil
}

// request returns the request of an HTTP client.
//
//go:noinline
func (d *harness) request(i int) []byte {
	return []byte("GET " + d.targets[i] + " HTTP/1.1\r\nHost: " + d.addrs[i] + "\r\n\r\n")
}

// waitTasks starts tasks, in steps, with the body that prepare returns; end releases the tasks that
// wait for a signal.
func (d *harness) waitTasks(prepare func(l *aio.Loop) (body func(t *aio.Task, i int) error), end func()) error {
	return aio.Run(context.Background(), func(t *aio.Task) error {
		block := func(f func()) error {
			_, err := aio.Offload(t, func(context.Context) (struct{}, error) { f(); return struct{}{}, nil })
			return err
		}
		body := prepare(t.Loop())
		if err := block(d.begin); err != nil {
			return err
		}
		return t.Group(func(g *aio.Group) error {
			for i := range waiting {
				g.Go("wait", func(t *aio.Task) error { return body(t, i) })
				if i%waitStep == waitStep-1 {
					if err := t.Sleep(waitPause); err != nil {
						return err
					}
				}
			}
			err := block(d.started)
			end()
			return err
		})
	})
}

func waitTask(d *harness) error {
	var enough aio.Event
	return d.waitTasks(func(l *aio.Loop) func(t *aio.Task, i int) error {
		return func(t *aio.Task, i int) error { return enough.Wait(t) }
	}, enough.Set)
}

func waitConn(d *harness) error {
	return d.waitTasks(func(l *aio.Loop) func(t *aio.Task, i int) error {
		return func(t *aio.Task, i int) error {
			c, err := aio.Dial(t, "tcp", d.addrs[i])
			if err != nil {
				return err
			}
			defer c.Close()
			if _, err := c.Write(t, d.request(i)); err != nil {
				return err
			}
			if err := c.WaitReadable(t); err != nil {
				return err
			}
			response, err := aio.NewReader(l, c).ReadAll(t, 4096)
			if err != nil {
				return err
			}
			_, body, _ := bytes.Cut(response, []byte("\r\n\r\n"))
			return d.check(i, body)
		}
	}, func() {})
}

func waitHTTP1(d *harness) error { return waitDo(d, httpclient.Options{HTTP1: true}) }

func waitStreams(d *harness) error { return waitDo(d, httpclient.Options{HTTP2: true}) }

func waitDo(d *harness, opt httpclient.Options) error {
	opt.Timeout, opt.TLSTimeout, opt.RootCAs = 5*time.Minute, -1, d.roots
	return d.waitTasks(func(l *aio.Loop) func(t *aio.Task, i int) error {
		client := httpclient.NewClient(l, opt)
		return func(t *aio.Task, i int) error {
			res, err := client.Do(t, httpclient.Request{Scheme: d.scheme, Host: d.addrs[i], Target: d.targets[i]})
			if err != nil {
				return err
			}
			err = d.check(i, res.Body)
			res.Close()
			return err
		}
	}, func() {})
}

func thenConn(d *harness) error {
	return d.waitTasks(func(l *aio.Loop) func(t *aio.Task, i int) error {
		return func(t *aio.Task, i int) error {
			c, err := aio.Dial(t, "tcp", d.addrs[i])
			if err != nil {
				return err
			}
			if _, err := c.Write(t, d.request(i)); err != nil {
				return err
			}
			return c.WhenReadable(t, time.Time{}, func(t *aio.Task) error {
				defer c.Close()
				response, err := aio.NewReader(l, c).ReadAll(t, 4096)
				if err != nil {
					return err
				}
				_, body, _ := bytes.Cut(response, []byte("\r\n\r\n"))
				return d.check(i, body)
			})
		}
	}, func() {})
}

func thenHTTP1(d *harness) error { return thenDo(d, httpclient.Options{HTTP1: true}) }

func thenStreams(d *harness) error { return thenDo(d, httpclient.Options{HTTP2: true}) }

func thenDo(d *harness, opt httpclient.Options) error {
	opt.Timeout, opt.TLSTimeout, opt.RootCAs = 5*time.Minute, -1, d.roots
	return d.waitTasks(func(l *aio.Loop) func(t *aio.Task, i int) error {
		client := httpclient.NewClient(l, opt)
		return func(t *aio.Task, i int) error {
			req := httpclient.Request{Scheme: d.scheme, Host: d.addrs[i], Target: d.targets[i]}
			return client.DoThen(t, &req, func(t *aio.Task, res *httpclient.Response, err error) error {
				if err != nil {
					return err
				}
				defer res.Close()
				return d.check(i, res.Body)
			})
		}
	}, func() {})
}

// waitCoroutine is the lower bound: a bare coroutine.
func waitCoroutine(d *harness) error {
	d.begin()
	stops := make([]func(), waiting)
	for i := range stops {
		next, stop := iter.Pull(func(yield func(int) bool) { yield(i) })
		next()
		stops[i] = stop
	}
	d.started()
	for _, stop := range stops {
		stop()
	}
	return nil
}

func waitGoroutine(d *harness) error {
	d.begin()
	enough := make(chan struct{})
	var there, ended sync.WaitGroup
	there.Add(waiting)
	for range waiting {
		ended.Go(func() { there.Done(); <-enough })
	}
	there.Wait()
	d.started()
	close(enough)
	ended.Wait()
	return nil
}

func waitNetHTTP(d *harness) error {
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1, TLSClientConfig: &tls.Config{RootCAs: d.roots}}}
	d.begin()
	var wg sync.WaitGroup
	errs := make([]error, waiting)
	for i := range waiting {
		wg.Go(func() {
			res, err := client.Get(d.scheme + "://" + d.addrs[i] + d.targets[i])
			if err != nil {
				errs[i] = err
				return
			}
			defer res.Body.Close()
			body, err := io.ReadAll(res.Body)
			if err == nil {
				err = d.check(i, body)
			}
			errs[i] = err
		})
		if i%waitStep == waitStep-1 {
			time.Sleep(waitPause)
		}
	}
	d.started()
	wg.Wait()
	return errors.Join(errs...)
}
