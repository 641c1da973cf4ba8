//go:build linux

package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"sync"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/process"
)

// atOnce is the number of requests that a client has in flight.
const atOnce = 10

// task is the fetches of a client.
type task struct {
	name, what string
	requests   int
	origins    int  // that the requests go to, in turn
	fresh      bool // a connection for each request
	resume     bool // of a session that is known
	http2      bool
	openssl    string  // the option of openssl s_time; empty: it cannot do that
	mark       float64 // beside net/http; 0: none
}

var tasks = []task{
	{name: "origins", what: "1,000 origins, a page each", requests: origins, origins: origins, http2: true, mark: 0.8},
	{name: "full", what: "a full handshake, and a page", requests: 2_000, origins: 1, fresh: true, openssl: "-new"},
	{name: "resumed", what: "a resumed handshake, and a page", requests: 2_000, origins: 1, fresh: true, resume: true, openssl: "-reuse"},
	{name: "http1", what: "a page over a kept connection, HTTP/1.1", requests: 50_000, origins: 1, mark: 0.6},
	{name: "http2", what: "a page over a kept connection, HTTP/2", requests: 50_000, origins: 1, http2: true, mark: 0.6},
}

// work is a task with the server it goes to.
type work struct {
	task
	port  string
	roots *x509.CertPool
}

// host returns the server of the i-th request.
func (w *work) host(i int) string { return originName(i%w.origins) + ":" + w.port }

// clients are the programs that are compared.
var clients = map[string]func(w work) error{
	"weft": fetchWeft, "nethttp": func(w work) error { return fetchNetHTTP(w, nil) },
	"x25519": func(w work) error { return fetchNetHTTP(w, []tls.CurveID{tls.X25519}) },
}

// runClient does a task, and prints the CPU time and the bytes allocated for it, for a request.
func runClient(client, name, port, roots string) error {
	pem, err := os.ReadFile(roots)
	if err != nil {
		return err
	}
	w := work{port: port, roots: x509.NewCertPool()}
	w.roots.AppendCertsFromPEM(pem)
	for _, t := range tasks {
		if t.name == name {
			w.task = t
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := process.CPU()
	if err := clients[client](w); err != nil {
		return err
	}
	cpu := process.CPU() - began
	runtime.ReadMemStats(&after)
	n := w.requests
	fmt.Println(strconv.FormatFloat(float64(cpu.Nanoseconds())/1e3/float64(n), 'f', 2, 64), (after.TotalAlloc-before.TotalAlloc)/uint64(n))
	return nil
}

// atLoopback resolves every name.
type atLoopback struct{}

func (atLoopback) Lookup(*aio.Task, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1})}, nil
}

func fetchWeft(w work) error {
	return aio.Run(context.Background(), func(t *aio.Task) error {
		options := httpclient.Options{RootCAs: w.roots, HTTP1: !w.http2, Resolver: atLoopback{}}
		if w.fresh && !w.resume {
			options.MaxSessionBytes = 1
		}
		client := httpclient.NewClient(t.Loop(), options)
		defer client.Close()
		next := 0
		return t.Group(func(g *aio.Group) error {
			for range atOnce {
				g.Go("get", func(t *aio.Task) error {
					for next < w.requests {
						i := next
						next++
						res, err := client.Do(t, httpclient.Request{Scheme: "https", Host: w.host(i), Target: "/page.html", Fresh: w.fresh})
						if err != nil {
							return err
						}
						if len(res.Body) != pageBytes {
							return fmt.Errorf("%d bytes, expected %d", len(res.Body), pageBytes)
						}
						res.Close()
						if w.fresh {
							client.Disconnect()
						}
					}
					return nil
				})
			}
			return nil
		})
	})
}

func fetchNetHTTP(w work, curves []tls.CurveID) error {
	config := &tls.Config{RootCAs: w.roots, CurvePreferences: curves}
	if w.resume {
		config.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	var dialer net.Dialer
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: config, ForceAttemptHTTP2: w.http2, DisableKeepAlives: w.fresh, MaxIdleConnsPerHost: atOnce,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, "127.0.0.1:"+w.port)
		},
	}}
	var turn sync.Mutex
	next := 0
	var wg sync.WaitGroup
	errs := make([]error, atOnce)
	for worker := range atOnce {
		wg.Go(func() {
			for {
				turn.Lock()
				i := next
				next++
				turn.Unlock()
				if i >= w.requests || errs[worker] != nil {
					return
				}
				errs[worker] = func() error {
					res, err := client.Get("https://" + w.host(i) + "/page.html")
					if err != nil {
						return err
					}
					defer res.Body.Close()
					body, err := io.ReadAll(res.Body)
					if err == nil && len(body) != pageBytes {
						err = fmt.Errorf("%d bytes, expected %d", len(body), pageBytes)
					}
					return err
				}()
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}
