package fetch_test

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// TestStaleConnection checks that a request whose kept connection turns out to have ended is sent
// again when the host may be requested, not into its Retry-After, and that it counts as a try.
func TestStaleConnection(t *testing.T) {
	netw := aiotest.NewNet(aiotest.NetOptions{Latency: time.Millisecond})
	netw.Host("a.test", "10.0.0.1")
	pages := map[string]string{"/": crawltest.Links("/1", "/2"), "/1": crawltest.Links("/busy"), "/2": crawltest.Links("/kept"), "/busy": "", "/kept": ""}
	var asked []string
	var at []time.Duration
	serve := func(task *aio.Task, conn aio.Conn) error {
		r := aio.NewReader(task.Loop(), conn)
		defer r.Close()
		for n := 0; ; n++ {
			head, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
			if err != nil {
				return crawltest.Ignore(err, io.EOF)
			}
			path := strings.Fields(string(head))[1]
			first := len(asked) < 5
			asked, at = append(asked, path), append(at, task.Loop().Now().Sub(aiotest.Epoch))
			if err := task.Sleep(100 * time.Millisecond); err != nil {
				return err
			}
			w := crawltest.Writer(task, conn)
			switch {
			case path == "/busy" && first:
				_, err = io.WriteString(w, "HTTP/1.1 429 Busy\r\nRetry-After: 30\r\nContent-Length: 0\r\n\r\n")
			case path == "/kept" && first && n > 0:
				return task.Sleep(200 * time.Millisecond) // and then the connection ends
			default:
				_, err = fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(pages[path]), pages[path])
			}
			if err != nil {
				return err
			}
		}
	}
	o := weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{NoRobots: true}, Pace: weft.Pace{PerHost: 2, Retries: 1}}
	got, _ := crawltest.CrawlServed(t, netw, o, serve, func(*aio.Loop, *crawl.Crawl) {})
	if r := got["http://a.test/kept"]; r.Status != 200 || r.Tries != 2 {
		t.Errorf("status %d after %d tries, %s; expected 200 after 2", r.Status, r.Tries, r.Error)
	}
	if len(asked) != 7 {
		t.Fatalf("requested %q at %v", asked, at)
	}
	for i, path := range asked[5:] {
		if at[5+i] < 30*time.Second {
			t.Errorf("%s was requested again after %v, within the Retry-After", path, at[5+i])
		}
	}
}

// TestStaleConnectionWithoutRetries checks that a crawl without retries does so once, too, over a
// new connection.
func TestStaleConnectionWithoutRetries(t *testing.T) {
	netw := aiotest.NewNet(aiotest.NetOptions{Latency: time.Millisecond})
	netw.Host("a.test", "10.0.0.1")
	serve := func(task *aio.Task, conn aio.Conn) error {
		r := aio.NewReader(task.Loop(), conn)
		defer r.Close()
		if _, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192); err != nil {
			return crawltest.Ignore(err, io.EOF)
		}
		body := crawltest.Links("/1", "/2", "/3", "/4")
		if _, err := fmt.Fprintf(crawltest.Writer(task, conn), "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			return err
		}
		_, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192) // each connection serves one request
		return crawltest.Ignore(err, io.EOF)
	}
	o := weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{NoRobots: true}, Pace: weft.Pace{PerHost: 2, Retries: -1}}
	got, sum := crawltest.CrawlServed(t, netw, o, serve, func(*aio.Loop, *crawl.Crawl) {})
	if sum.Pages != 5 || sum.Elapsed > time.Second {
		t.Errorf("%d pages in %v, errors %v", sum.Pages, sum.Elapsed, sum.Errors)
	}
	for u, r := range got {
		if r.Tries < 1 || r.Tries > 2 || r.Status != 200 {
			t.Errorf("%s: status %d after %d tries", u, r.Status, r.Tries)
		}
	}
}
