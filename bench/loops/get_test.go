package loops

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
)

const (
	atATime  = 64
	getRound = 1_000 // requests
)

// page is the body of every response: 4 KB.
var page = bytes.Repeat([]byte("<a href=\"/next\">next</a> weft\r\n\n"), 4096/32)

// pageHead resembles the header of a static site.
var pageHead = fmt.Sprintf("HTTP/1.1 200 OK\r\n"+
	"Server: bench\r\n"+
	"Date: Mon, 02 Jan 2006 15:04:05 GMT\r\n"+
	"Content-Type: text/html; charset=utf-8\r\n"+
	"Content-Length: %d\r\n"+
	"Last-Modified: Mon, 02 Jan 2006 15:04:05 GMT\r\n"+
	"Connection: keep-alive\r\n"+
	"ETag: \"65a1b2c3-1000\"\r\n"+
	"Accept-Ranges: bytes\r\n\r\n", len(page))

// BenchmarkGet: keep-alive GETs of one client, 64 at a time; with two processors the tasks have two
// loops. The figures include the few connections that are made.
func BenchmarkGet(b *testing.B) {
	b.Run("httpclient", func(b *testing.B) {
		host := start(b, "pages").must("at")
		m := &meter{b: b}
		m.start()
		onLoops(b, func(t *aio.Task, i, n int) error {
			c := httpclient.NewClient(t.Loop(), httpclient.Options{})
			defer c.Close()
			left := share(getRound*b.N, i, n)
			return t.Group(func(g *aio.Group) error {
				for range atATime / n {
					g.Go("get", func(t *aio.Task) error {
						for left > 0 {
							left--
							res, err := c.Do(t, httpclient.Request{Scheme: "http", Host: host, Target: "/docs/page.html"})
							if err != nil {
								return err
							}
							if err := checkPage(res.Status, res.Body); err != nil {
								return err
							}
							res.Close()
						}
						return nil
					})
				}
				return nil
			})
		})
		m.stop()
		m.report(getRound * b.N)
	})
	// The Transport itself, with a request made once and a buffer for the body: http.Client and
	// http.NewRequest on top of it would only make the peer slower.
	b.Run("nethttp", func(b *testing.B) {
		host := start(b, "pages").must("at")
		transport := &http.Transport{MaxIdleConnsPerHost: atATime}
		defer transport.CloseIdleConnections()
		var left atomic.Int64
		left.Store(int64(getRound * b.N))
		m := &meter{b: b}
		m.start()
		var wg sync.WaitGroup
		for range atATime {
			wg.Go(func() {
				req, err := http.NewRequest("GET", "http://"+host+"/docs/page.html", nil)
				if err != nil {
					b.Error(err)
					return
				}
				var body bytes.Buffer
				for left.Add(-1) >= 0 {
					res, err := transport.RoundTrip(req)
					if err != nil {
						b.Error(err)
						return
					}
					body.Reset()
					_, err = body.ReadFrom(res.Body)
					res.Body.Close()
					if err == nil {
						err = checkPage(res.StatusCode, body.Bytes())
					}
					if err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		m.stop()
		m.report(getRound * b.N)
	})
}

func checkPage(status int, body []byte) error {
	if status != 200 || !bytes.Equal(body, page) {
		return fmt.Errorf("status %d with %d bytes, expected 200 with %d known ones", status, len(body), len(page))
	}
	return nil
}

// servePages responds to every request with the page.
func servePages(talk talk, args []string) error {
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		talk.hear()
		stop()
	}()
	response := []byte(pageHead + string(page))
	err := aio.Run(ctx, func(t *aio.Task) error {
		ln, err := aio.Listen(t, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		defer ln.Close()
		talk.say("at", ln.Addr())
		return t.Group(func(g *aio.Group) error {
			for {
				c, err := ln.Accept(t)
				if err != nil {
					return err
				}
				g.Go("client", func(t *aio.Task) error {
					defer c.Close()
					r := aio.NewReader(t.Loop(), c)
					for {
						if _, err := r.ReadUntil(t, []byte("\r\n\r\n"), 4096); err != nil {
							return nil
						}
						if _, err := c.Write(t, response); err != nil {
							return nil
						}
					}
				})
			}
		})
	})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// readHead reads a request without a body and returns its target.
func readHead(r *bufio.Reader) (target string, err error) {
	line, err := r.ReadSlice('\n')
	if err != nil {
		return "", err
	}
	if _, rest, ok := strings.Cut(string(line), " "); ok {
		target, _, _ = strings.Cut(rest, " ")
	}
	for len(line) > 2 {
		if line, err = r.ReadSlice('\n'); err != nil {
			return "", err
		}
	}
	return target, nil
}
