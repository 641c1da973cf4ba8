package crawltest

import (
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
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/weburl"
)

// Web maps URLs to pages. A page that starts with a status, as in "301 http://b.test/" or "404", is
// a response with that status and Location; "503 5" has Retry-After. A request for the page "stall"
// gets no response.
type Web map[string]string

// Request is an HTTP request as the server sees it.
type Request struct {
	URL     string
	Method  string
	At, End time.Time
	Header  http.Header
}

// Requests are all requests in the order of their responses.
type Requests []Request

// URLs returns the URLs that were requested.
func (v Requests) URLs() (urls []string) {
	for _, one := range v {
		urls = append(urls, one.URL)
	}
	return urls
}

// Crawl runs a crawl over an in-memory network, on a virtual clock. Each response takes 100 ms.
func (w Web) Crawl(t *testing.T, o weft.Options, changes ...func(*crawl.Config)) (map[string]weft.Record, weft.Summary, Requests) {
	t.Helper()
	return w.CrawlOver(t, w.Network(t), o, changes...)
}

// Network returns a network with the hosts of w.
func (w Web) Network(t *testing.T) aio.Network {
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

// CrawlOver is like Crawl, over the given network.
func (w Web) CrawlOver(t *testing.T, netw aio.Network, o weft.Options, changes ...func(*crawl.Config)) (map[string]weft.Record, weft.Summary, Requests) {
	t.Helper()
	if o.Job == "" {
		o.Job = filepath.Join(t.TempDir(), "job")
	}
	sum, seen := w.Run(t, netw, o, changes...)
	return Records(t, o.Job), sum, seen
}

// Run is like CrawlOver, and does not look at what the crawl has written.
func (w Web) Run(t *testing.T, netw aio.Network, o weft.Options, changes ...func(*crawl.Config)) (weft.Summary, Requests) {
	t.Helper()
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: netw})
	var seen Requests
	sum := run(t, loop, New(t, o, changes...), w.ports(), func(task *aio.Task, ln aio.Listener) error {
		return w.Listen(task, ln, &seen)
	}, func(*aio.Loop, *crawl.Crawl) {})
	return sum, seen
}

// ports are those at which w has pages, and 80.
func (w Web) ports() []string {
	ports := map[string]bool{"80": true}
	for u := range w {
		if _, port, ok := strings.Cut(strings.TrimPrefix(u, "http://"), ":"); ok && !strings.Contains(u, "[") {
			ports[port[:strings.IndexByte(port, '/')]] = true
		}
	}
	return slices.Sorted(maps.Keys(ports))
}

// Listen serves connections until ln is closed.
func (w Web) Listen(task *aio.Task, ln aio.Listener, seen *Requests) error {
	return accept(task, ln, func(task *aio.Task, conn aio.Conn) error { return w.Serve(task, conn, seen) })
}

// Serve answers the requests of a connection, and closes it.
func (w Web) Serve(task *aio.Task, c aio.Conn, seen *Requests) error {
	defer c.Close()
	r := aio.NewReader(task.Loop(), c)
	defer r.Close()
	for {
		head, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
		if err != nil {
			return Ignore(err, io.EOF)
		}
		v := Request{At: task.Loop().Now(), Header: make(http.Header)}
		lines := strings.Split(string(head), "\r\n")
		for _, line := range lines[1:] {
			if name, value, ok := strings.Cut(line, ": "); ok {
				v.Header.Add(name, value)
			}
		}
		v.Method = strings.Fields(lines[0])[0]
		v.URL = "http://" + v.Header.Get("Host") + strings.Fields(lines[0])[1]
		switch w[v.URL] {
		case "drip": // a byte a second, for a minute
			if _, err := io.WriteString(Writer(task, c), "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 60\r\n\r\n"); err != nil {
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
			if _, err := io.WriteString(Writer(task, c), "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5000\r\n\r\n<p>half"); err != nil {
				return err
			}
			fallthrough
		case "stall": // until the client hangs up
			*seen = append(*seen, v)
			_, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
			return Ignore(err, io.EOF)
		}
		if err := task.Sleep(100 * time.Millisecond); err != nil {
			return err
		}
		v.End = task.Loop().Now()
		*seen = append(*seen, v)
		body, ok := w[v.URL]
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
		if status == "200" && strings.HasSuffix(v.URL, "/robots.txt") {
			field = "Content-Type: text/plain"
		} else if status == "200" && strings.HasSuffix(v.URL, ".css") {
			field = "Content-Type: text/css"
		} else if strings.HasPrefix(body, "<urlset>") || strings.HasPrefix(body, "<sitemapindex>") {
			field = "Content-Type: application/xml"
		}
		length := len(body)
		if v.Method == "HEAD" {
			body = ""
		}
		if _, err := fmt.Fprintf(Writer(task, c), "HTTP/1.1 %s x\r\n%s\r\nContent-Length: %d\r\n\r\n%s", status, field, length, body); err != nil {
			return err
		}
	}
}

// Writer returns a writer to conn for a task.
func Writer(task *aio.Task, conn aio.Conn) io.Writer { return taskWriter{task, conn} }

type taskWriter struct {
	task *aio.Task
	conn aio.Conn
}

func (w taskWriter) Write(b []byte) (int, error) { return w.conn.Write(w.task, b) }

// Most returns the maximum number of requests in flight at once.
func (v Requests) Most() int {
	most := 0
	for _, x := range v {
		n := 0
		for _, y := range v {
			if !y.At.After(x.At) && y.End.After(x.At) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// Gap returns the shortest time from the end of a response to the start of the next request.
func (v Requests) Gap() time.Duration {
	v = slices.Clone(v)
	slices.SortFunc(v, func(a, b Request) int { return a.At.Compare(b.At) })
	least := time.Hour
	for i := range v[1:] {
		least = min(least, v[i+1].At.Sub(v[i].End))
	}
	return least
}
