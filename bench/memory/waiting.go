//go:build linux

package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/weftcrawl/weft/internal/process"
)

// A request that waits takes what many take more than few, for each.
const (
	few  = 1_000
	many = 10_000
)

// addresses is the number of addresses of the server that keeps requests waiting: a client has
// 28,000 ports for one.
const addresses = 8

// patience is the longest time of a crawl until all of its requests wait.
const patience = 2 * time.Minute

// protocol is the way in which requests that wait were sent.
type protocol struct {
	name string
	mark int // bytes of memory for one, at most
	tls  bool
	args []string
}

var protocols = []protocol{
	{"HTTP/1.1", 4 << 10, false, []string{"--http1.1"}},
	{"a stream of HTTP/2, over TLS", 4 << 10, true, []string{"--http2"}},
	{"HTTP/1.1 over TLS", 16 << 10, true, []string{"--http1.1"}},
}

const waits = `What a crawl takes whose 10,000 requests wait for responses, more than one with 1,000, for each:
RssAnon, the memory without files, with garbage; --memory 1GiB, eight addresses.`

// waiting writes the memory of a request that waits in a crawl, by protocol.
func waiting(b *bytes.Buffer, weft string, runs int) error {
	sizes := make(map[string][]int64)
	for range runs {
		for _, p := range protocols {
			least, err := p.measure(weft, few)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			most, err := p.measure(weft, many)
			if err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
			each := (most - least) / (many - few)
			sizes[p.name] = append(sizes[p.name], each)
			fmt.Fprintf(os.Stderr, "%s: %d bytes each; %d MiB, %d MiB\n", p.name, each, least>>20, most>>20)
		}
	}
	fmt.Fprintf(b, "\n## Requests that wait\n\n%s\nMedians of %d runs, and their range.\n\n", waits, runs)
	fmt.Fprintf(b, "| over | mark | KB for each |\n|---|---|---|\n")
	for _, p := range protocols {
		all := sizes[p.name]
		slices.Sort(all)
		verdict := "met"
		if all[runs/2] > int64(p.mark) {
			verdict = "**missed**"
		}
		kb := func(n int64) float64 { return float64(n) / 1024 }
		fmt.Fprintf(b, "| %s | ≤ %d | %.1f (%.1f to %.1f), %s |\n", p.name, p.mark>>10, kb(all[runs/2]), kb(all[0]), kb(all[runs-1]), verdict)
	}
	return nil
}

// measure returns the memory of a crawl of which n requests wait, without its files.
func (p protocol) measure(weft string, n int) (int64, error) {
	s, err := hold(n, p.tls)
	if err != nil {
		return 0, err
	}
	defer s.close()
	dir, err := os.MkdirTemp("", "weft-memory")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	seeds := filepath.Join(dir, "seeds")
	if err := os.WriteFile(seeds, []byte(strings.Join(s.urls(n, p.tls), "\n")), 0o600); err != nil {
		return 0, err
	}
	args := append([]string{"crawl", "--memory", "1GiB", "-c", fmt.Sprint(many),
		"--timeout", "10m", "--first-byte-timeout", "10m", "--no-robots", "--insecure",
		"--job", filepath.Join(dir, "job"), "-i", seeds, "-q"}, p.args...)
	crawl, err := process.Start(context.Background(), process.Options{}, weft, args...)
	if err != nil {
		return 0, err
	}
	defer crawl.Kill()
	select {
	case <-s.all:
	case <-crawl.Ended():
		return 0, fmt.Errorf("the crawl has ended: %w", crawl.Wait())
	case <-time.After(patience):
		return 0, fmt.Errorf("%d of %d requests wait", s.held.Load(), n)
	}
	status, err := process.ReadStatus(crawl.PID())
	return status.Anonymous, err
}

// holder is a server that sends no response.
type holder struct {
	port  string
	held  atomic.Int64  // requests so far
	all   chan struct{} // closed once all that are expected are there
	close func()
}

// hold serves until n requests wait, and then until it is closed.
func hold(n int, secure bool) (*holder, error) {
	ctx, stop := context.WithCancel(context.Background())
	h := &holder{port: "0", all: make(chan struct{})}
	server := &http.Server{
		ErrorLog:    log.New(io.Discard, "", 0), // the crawler ends before its responses
		BaseContext: func(net.Listener) context.Context { return ctx },
		HTTP2:       &http.HTTP2Config{MaxConcurrentStreams: n},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if h.held.Add(1) == int64(n) {
				close(h.all)
			}
			<-r.Context().Done()
		}),
	}
	h.close = func() { stop(); _ = server.Close() }
	if secure {
		config, err := certificate()
		if err != nil {
			return nil, err
		}
		server.TLSConfig = config
	}
	for i := range addresses {
		ln, err := net.Listen("tcp", fmt.Sprintf("127.0.0.%d:%s", i+1, h.port))
		if err != nil {
			h.close()
			return nil, err
		}
		if _, h.port, err = net.SplitHostPort(ln.Addr().String()); err != nil {
			return nil, err
		}
		go func() { // until it is closed
			if secure {
				_ = server.ServeTLS(ln, "", "")
			} else {
				_ = server.Serve(ln)
			}
		}()
	}
	return h, nil
}

// urls returns a page for each request.
func (h *holder) urls(n int, secure bool) (urls []string) {
	scheme := "http"
	if secure {
		scheme = "https"
	}
	for i := range n {
		urls = append(urls, fmt.Sprintf("%s://127.0.0.%d:%s/%d", scheme, i%addresses+1, h.port, i))
	}
	return urls
}

// certificate returns a self-signed certificate, which nobody verifies.
func certificate() (*tls.Config, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, err
}
