package weft_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/weburl"
)

// web maps URLs to pages. A page that starts with a status, as in "301 http://b.test/" or "404", is
// a response with that status and Location; "503 5" has Retry-After. A request for the page "stall"
// gets no response.
type web map[string]string

// request is an HTTP request as the server sees it.
type request struct {
	url     string
	method  string
	at, end time.Time
	header  http.Header
}

// requests are all requests in the order of their responses.
type requests []request

func (v requests) urls() (urls []string) {
	for _, one := range v {
		urls = append(urls, one.url)
	}
	return urls
}

// crawl runs a crawl over an in-memory network, on a virtual clock. Each response takes 100 ms.
func (w web) crawl(t *testing.T, o weft.Options) (map[string]weft.Record, weft.Summary, requests) {
	t.Helper()
	return w.crawlOver(t, w.network(t), o)
}

// network returns a network with the hosts of w.
func (w web) network(t *testing.T) aio.Network {
	t.Helper()
	netw := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: time.Millisecond})
	hosts := make(map[string]bool)
	for u := range w {
		p, err := weburl.Parse(u)
		if err != nil {
			t.Fatal(err)
		}
		hosts[p.Hostname()] = true
	}
	for i, host := range slices.Sorted(maps.Keys(hosts)) {
		netw.Host(host, fmt.Sprintf("10.0.%d.%d", (i+1)/256, (i+1)%256))
	}
	return netw
}

// crawlOver is like crawl, over the given network.
func (w web) crawlOver(t *testing.T, netw aio.Network, o weft.Options) (map[string]weft.Record, weft.Summary, requests) {
	t.Helper()
	if o.Job == "" {
		o.Job = filepath.Join(t.TempDir(), "job")
	}
	sum, seen := w.run(t, netw, o)
	return records(t, o.Job), sum, seen
}

// run is like crawlOver, and does not look at what the crawl has written.
func (w web) run(t *testing.T, netw aio.Network, o weft.Options) (weft.Summary, requests) {
	t.Helper()
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: netw})
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var sum weft.Summary
	var seen requests
	err = loop.Run(context.Background(), func(task *aio.Task) error {
		return task.Group(func(g *aio.Group) error {
			for _, port := range w.ports() {
				ln, err := aio.Listen(task, "tcp", ":"+port)
				if err != nil {
					return err
				}
				defer ln.Close()
				g.Go("port "+port, func(task *aio.Task) error { return w.listen(task, ln, &seen) })
			}
			sum, err = c.RunOn(task)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return sum, seen
}

// ports are those at which w has pages, and 80.
func (w web) ports() []string {
	ports := map[string]bool{"80": true}
	for u := range w {
		if _, port, ok := strings.Cut(strings.TrimPrefix(u, "http://"), ":"); ok && !strings.Contains(u, "[") {
			ports[port[:strings.IndexByte(port, '/')]] = true
		}
	}
	return slices.Sorted(maps.Keys(ports))
}

// listen serves connections until ln is closed.
func (w web) listen(task *aio.Task, ln aio.Listener, seen *requests) error {
	return task.Group(func(g *aio.Group) error {
		for {
			conn, err := ln.Accept(task)
			if err != nil {
				return ignore(err, aio.ErrClosed)
			}
			g.Go("server", func(task *aio.Task) error { return w.serve(task, conn, seen) })
		}
	})
}

func ignore(err, known error) error {
	if errors.Is(err, known) {
		return nil
	}
	return err
}

func (w web) serve(task *aio.Task, c aio.Conn, seen *requests) error {
	defer c.Close()
	r := aio.NewReader(task.Loop(), c)
	defer r.Close()
	for {
		head, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
		if err != nil {
			return ignore(err, io.EOF)
		}
		v := request{at: task.Loop().Now(), header: make(http.Header)}
		lines := strings.Split(string(head), "\r\n")
		for _, line := range lines[1:] {
			if name, value, ok := strings.Cut(line, ": "); ok {
				v.header.Add(name, value)
			}
		}
		v.method = strings.Fields(lines[0])[0]
		v.url = "http://" + v.header.Get("Host") + strings.Fields(lines[0])[1]
		switch w[v.url] {
		case "drip": // a byte a second, for a minute
			if _, err := io.WriteString(writer(task, c), "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 60\r\n\r\n"); err != nil {
				return err
			}
			for range 60 {
				if err := task.Sleep(time.Second); err != nil {
					return err
				}
				if _, err := c.Write(task, []byte("x")); err != nil {
					return err
				}
			}
			continue
		case "half": // of a body, and no more until the client hangs up
			if _, err := io.WriteString(writer(task, c), "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<p>half"); err != nil {
				return err
			}
			fallthrough
		case "stall": // until the client hangs up
			*seen = append(*seen, v)
			_, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
			return ignore(err, io.EOF)
		}
		if err := task.Sleep(100 * time.Millisecond); err != nil {
			return err
		}
		v.end = task.Loop().Now()
		*seen = append(*seen, v)
		body, ok := w[v.url]
		status, field := "200", "Content-Type: text/html"
		if !ok {
			body = "404"
		}
		if len(body) >= 3 && strings.Trim(body[:3], "0123456789") == "" {
			status = body[:3]
			if rest := strings.TrimSpace(body[3:]); status == "503" && rest != "" {
				field = "Retry-After: " + rest
			} else if rest != "" {
				field = "Location: " + rest
			}
			body = ""
		}
		if status == "200" && strings.HasSuffix(v.url, "/robots.txt") {
			field = "Content-Type: text/plain"
		} else if status == "200" && strings.HasSuffix(v.url, ".css") {
			field = "Content-Type: text/css"
		} else if strings.HasPrefix(body, "<urlset>") || strings.HasPrefix(body, "<sitemapindex>") {
			field = "Content-Type: application/xml"
		}
		length := len(body)
		if v.method == "HEAD" {
			body = ""
		}
		if _, err := fmt.Fprintf(writer(task, c), "HTTP/1.1 %s x\r\n%s\r\nContent-Length: %d\r\n\r\n%s", status, field, length, body); err != nil {
			return err
		}
	}
}

// writer returns a writer to conn for a task.
func writer(task *aio.Task, conn aio.Conn) io.Writer { return taskWriter{task, conn} }

type taskWriter struct {
	task *aio.Task
	conn aio.Conn
}

func (w taskWriter) Write(b []byte) (int, error) { return w.conn.Write(w.task, b) }

// a returns links to URLs.
func a(urls ...string) string {
	var b strings.Builder
	for _, u := range urls {
		fmt.Fprintf(&b, "<a href=%q>to %s</a>\n", u, u)
	}
	return b.String()
}

// fetched returns the sorted URLs of the records that have a status.
func fetched(records map[string]weft.Record) []string {
	var urls []string
	for u, r := range records {
		if r.Status != 0 {
			urls = append(urls, u)
		}
	}
	slices.Sort(urls)
	return urls
}
