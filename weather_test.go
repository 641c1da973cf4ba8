package weft_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/tuning"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// crawlServed crawls over an in-memory network on which serve has every connection to port 80. It
// calls with before the crawl runs.
func crawlServed(t *testing.T, netw *aiotest.Net, o weft.Options, serve func(*aio.Task, aio.Conn) error, with func(*aio.Loop, *weft.Crawler)) (map[string]weft.Record, weft.Summary) {
	t.Helper()
	return crawlOn(t, aiotest.NewClock(), netw, o, serve, with)
}

// crawlOn is crawlServed on a clock of the caller.
func crawlOn(t *testing.T, clock *aiotest.Clock, netw *aiotest.Net, o weft.Options, serve func(*aio.Task, aio.Conn) error, with func(*aio.Loop, *weft.Crawler)) (map[string]weft.Record, weft.Summary) {
	t.Helper()
	loop := aio.NewLoop(aio.Options{Clock: clock, Network: netw})
	if o.Job == "" {
		o.Job = filepath.Join(t.TempDir(), "job")
	}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var sum weft.Summary
	err = loop.Run(context.Background(), func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			g.Go("servers", func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					for {
						conn, err := ln.Accept(task)
						if err != nil {
							return ignore(err, aio.ErrClosed)
						}
						g.Go("server", func(task *aio.Task) error {
							defer conn.Close()
							return serve(task, conn)
						})
					}
				})
			})
			defer ln.Close()
			with(loop, c)
			sum, err = c.RunOn(task)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if open := netw.Open(); len(open) > 0 {
		t.Errorf("connections left open: %v", open)
	}
	return records(t, o.Job), sum
}

// drip sends the head of a response, a byte a second.
func drip(task *aio.Task, conn aio.Conn) error {
	for _, b := range []byte(fmt.Sprintf("HTTP/1.1 200 OK\r\nX: %01000d", 0)) {
		if _, err := conn.Write(task, []byte{b}); err != nil {
			break // the crawler has left
		}
		if err := task.Sleep(time.Second); err != nil {
			return err
		}
	}
	return nil
}

// TestDrainIsBounded checks that a drained crawl breaks off what is still in flight after ten
// seconds, and that those URLs stay pending, untried.
func TestDrainIsBounded(t *testing.T) {
	const hosts = 40
	for name, maxTime := range map[string]time.Duration{"Drain": 0, "MaxTime": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			netw := aiotest.NewNet(aiotest.NetOptions{})
			o := weft.Options{Concurrency: hosts / 2, MaxTime: maxTime}
			for i := range hosts {
				netw.Host(fmt.Sprintf("h%d.test", i), fmt.Sprintf("10.0.0.%d", i+1))
				o.Seeds = append(o.Seeds, fmt.Sprintf("http://h%d.test/", i))
			}
			got, sum := crawlServed(t, netw, o, drip, func(l *aio.Loop, c *weft.Crawler) {
				if maxTime == 0 {
					l.CallLater(5*time.Second, c.Drain)
				}
			})
			if sum.Elapsed < 15*time.Second || sum.Elapsed > 16*time.Second || sum.Pending != hosts || len(got) > 0 {
				t.Errorf("after %v: %d records, %d pending, expected all %d after 15 s", sum.Elapsed, len(got), sum.Pending, hosts)
			}
		})
	}
}

// TestStaleConnection checks that a request whose kept connection turns out to have ended is sent
// again when the host may be requested, not into its Retry-After, and that it counts as a try.
func TestStaleConnection(t *testing.T) {
	netw := aiotest.NewNet(aiotest.NetOptions{Latency: time.Millisecond})
	netw.Host("a.test", "10.0.0.1")
	pages := map[string]string{"/": a("/1", "/2"), "/1": a("/busy"), "/2": a("/kept"), "/busy": "", "/kept": ""}
	var asked []string
	var at []time.Duration
	serve := func(task *aio.Task, conn aio.Conn) error {
		r := aio.NewReader(task.Loop(), conn)
		defer r.Close()
		for n := 0; ; n++ {
			head, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
			if err != nil {
				return ignore(err, io.EOF)
			}
			path := strings.Fields(string(head))[1]
			first := len(asked) < 5
			asked, at = append(asked, path), append(at, task.Loop().Now().Sub(aiotest.Epoch))
			if err := task.Sleep(100 * time.Millisecond); err != nil {
				return err
			}
			w := writer(task, conn)
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
	o := weft.Options{Seeds: []string{"http://a.test/"}, NoRobots: true, PerHost: 2, Retries: 1}
	got, _ := crawlServed(t, netw, o, serve, func(*aio.Loop, *weft.Crawler) {})
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
			return ignore(err, io.EOF)
		}
		body := a("/1", "/2", "/3", "/4")
		if _, err := fmt.Fprintf(writer(task, conn), "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
			return err
		}
		_, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192) // each connection serves one request
		return ignore(err, io.EOF)
	}
	o := weft.Options{Seeds: []string{"http://a.test/"}, NoRobots: true, PerHost: 2, Retries: -1}
	got, sum := crawlServed(t, netw, o, serve, func(*aio.Loop, *weft.Crawler) {})
	if sum.Pages != 5 || sum.Elapsed > time.Second {
		t.Errorf("%d pages in %v, errors %v", sum.Pages, sum.Elapsed, sum.Errors)
	}
	for u, r := range got {
		if r.Tries < 1 || r.Tries > 2 || r.Status != 200 {
			t.Errorf("%s: status %d after %d tries", u, r.Status, r.Tries)
		}
	}
}

// TestClockIsSet checks that a record has the time of the calendar, although that was set while the
// crawl ran, and durations that do not include the step; and that a Retry-After with a date means
// the new time.
func TestClockIsSet(t *testing.T) {
	const step = 49 * time.Hour
	clock := aiotest.NewClock()
	netw := aiotest.NewNet(aiotest.NetOptions{Latency: time.Millisecond})
	netw.Host("a.test", "10.0.0.1")
	busy := true
	serve := func(task *aio.Task, conn aio.Conn) error {
		r := aio.NewReader(task.Loop(), conn)
		defer r.Close()
		if _, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192); err != nil {
			return ignore(err, io.EOF)
		}
		if busy {
			busy = false
			clock.Set(step)
			at := aiotest.Epoch.Add(step + time.Minute).Format(http.TimeFormat)
			_, err := fmt.Fprintf(writer(task, conn), "HTTP/1.1 503 Busy\r\nRetry-After: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", at)
			return err
		}
		_, err := io.WriteString(writer(task, conn), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return err
	}
	o := weft.Options{Seeds: []string{"http://a.test/"}, NoRobots: true}
	got, sum := crawlOn(t, clock, netw, o, serve, func(*aio.Loop, *weft.Crawler) {})
	r := got["http://a.test/"]
	if want := aiotest.Epoch.Add(step + time.Minute); r.Started.Before(want) || r.Started.After(want.Add(2*time.Second)) {
		t.Errorf("started at %v, expected %v", r.Started, want)
	}
	if r.TotalMS > 1000 || r.Tries != 2 || sum.Elapsed > 65*time.Second {
		t.Errorf("took %v ms at try %d, the crawl %v", r.TotalMS, r.Tries, sum.Elapsed)
	}
}

// fullDisk is an output on a disk that is full until there is room, after a few bytes.
type fullDisk struct {
	mu sync.Mutex
	bytes.Buffer
	left    int
	refused chan bool
}

func (d *fullDisk) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n, _ := d.Buffer.Write(p[:min(len(p), d.left)])
	if d.left -= n; n == len(p) {
		return n, nil
	}
	select {
	case d.refused <- true:
	default:
	}
	return n, syscall.ENOSPC
}

// TestOutputOnFullDisk checks that a crawl whose output has no room waits for it, says so, and then
// continues with the byte at which it stopped.
func TestOutputOnFullDisk(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			for i := range 100 {
				fmt.Fprintf(w, "<a href=/%d>", i)
			}
		}
	}))
	defer s.Close()
	d := &fullDisk{left: 5000, refused: make(chan bool)}
	c, err := weft.New(weft.Options{Seeds: []string{s.URL + "/"}, Output: d})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-d.refused
		<-d.refused
		if paused := c.Stats().Paused; !slices.Contains(paused, "the disk is full") {
			t.Errorf("paused: %q", paused)
		}
		d.mu.Lock()
		d.left = 1 << 30
		d.mu.Unlock()
	}()
	sum, err := c.Run(t.Context())
	if err != nil || sum.Pages != 101 {
		t.Fatalf("%d pages, %v", sum.Pages, err)
	}
	n := 0
	for line := range bytes.Lines(d.Bytes()) {
		var r weft.Record
		if err := json.Unmarshal(line, &r); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		n++
	}
	if n != 101 {
		t.Errorf("%d lines, expected 101", n)
	}
}

// TestDrainOnFullDisk checks that a crawl that drains gives up waiting for room.
func TestDrainOnFullDisk(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "x") }))
	defer s.Close()
	d := &fullDisk{refused: make(chan bool)}
	c, err := weft.New(weft.Options{Seeds: []string{s.URL + "/"}, Output: d, Tuning: &tuning.Options{Drain: 10 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-d.refused
		c.Drain()
	}()
	if _, err := c.Run(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v, expected that the disk is full", err)
	}
}

// TestLongSitemapTakesTurns checks that a long sitemap is read in slices, whose URLs are admitted
// before the next is read, and between which everything else on the loop has its turn.
func TestLongSitemapTakesTurns(t *testing.T) {
	const entries = 20_000
	netw := aiotest.NewNet(aiotest.NetOptions{})
	netw.Host("a.test", "10.0.0.1")
	serve := func(task *aio.Task, conn aio.Conn) error {
		r := aio.NewReader(task.Loop(), conn)
		defer r.Close()
		if _, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192); err != nil {
			return ignore(err, io.EOF)
		}
		var b strings.Builder
		b.WriteString("<urlset>")
		for i := range entries {
			fmt.Fprintf(&b, "<url><loc>http://a.test/a/page/of/the/site/%d</loc></url>", i)
		}
		_, err := fmt.Fprintf(writer(task, conn), "HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\n\r\n%s</urlset>", &b)
		return err
	}
	turns, first, last := 0, 0, 0
	var tick func()
	o := weft.Options{Seeds: []string{"http://a.test/sitemap.xml"}, Sitemaps: true, NoRobots: true, Limit: 1}
	o.Hooks.OnLink = func(weburl.URL, links.Link) weft.Verdict {
		if first == 0 {
			first = 1
			tick()
		}
		last = turns
		return weft.Verdict{}
	}
	read, ended := 0, false
	o.Hooks.OnRecord = func(r *weft.Record) { read, ended = last, true }
	got, sum := crawlServed(t, netw, o, serve, func(l *aio.Loop, _ *weft.Crawler) {
		tick = func() {
			if turns++; !ended {
				l.CallSoon(tick)
			}
		}
	})
	if r := got["http://a.test/sitemap.xml"]; r.NewLinks != entries || sum.Pending != entries {
		t.Errorf("%d new links and %d pending URLs, expected %d", r.NewLinks, sum.Pending, entries)
	}
	if read < 12 {
		t.Errorf("read in %d turns, expected 12 at least", read)
	}
}

// TestLongPageTakesTurns checks that a long page is read in slices, between which everything else on
// the loop has its turn, and the page of another host is read.
func TestLongPageTakesTurns(t *testing.T) {
	for name, bulk := range map[string]string{"text": "\xa1\xd2\xc3 ", "paragraphs": "<p>\xa1\xd2\xc3", "tags": "<b></b>"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			netw := aiotest.NewNet(aiotest.NetOptions{})
			netw.Host("long.test", "10.0.0.1")
			netw.Host("short.test", "10.0.0.2")
			var reading aio.Event
			serve := func(task *aio.Task, conn aio.Conn) error {
				r := aio.NewReader(task.Loop(), conn)
				defer r.Close()
				request, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
				if err != nil {
					return ignore(err, io.EOF)
				}
				page := "<a href=/>"
				if bytes.Contains(request, []byte("long.test")) {
					page = "<a href=/first></a>" + strings.Repeat(bulk, 4<<20/len(bulk)) + "<nav></nav><a href=/last>"
				} else if err := reading.Wait(task); err != nil {
					return err
				}
				_, err = fmt.Fprintf(writer(task, conn), "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=windows-874\r\n\r\n%s", page)
				return err
			}
			turns, within, ended := 0, 0, false
			var tick func()
			var order []string
			o := weft.Options{Seeds: []string{"http://long.test/", "http://short.test/"}, NoRobots: true, Depth: 1}
			o.Hooks.OnLink = func(on weburl.URL, l links.Link) weft.Verdict {
				if order = append(order, l.URL.String()); l.URL.RequestTarget() == "/first" {
					reading.Set()
					tick()
				}
				within = turns
				return weft.Verdict{Decision: weft.Drop}
			}
			o.Hooks.OnRecord = func(r *weft.Record) { ended = ended || r.URL == "http://long.test/" }
			crawlServed(t, netw, o, serve, func(l *aio.Loop, _ *weft.Crawler) {
				tick = func() {
					if turns++; !ended {
						l.CallSoon(tick)
					}
				}
			})
			if want := []string{"http://long.test/first", "http://short.test/", "http://long.test/last"}; !slices.Equal(order, want) {
				t.Errorf("links in the order %q, expected %q", order, want)
			}
			if within < 20 {
				t.Errorf("read in %d turns, expected 20 at least", within)
			}
		})
	}
}

// TestManyBigPages checks that pages of many links on hosts that nothing is known of hold up each
// other, until their links are saved, but not a host that responds promptly.
func TestManyBigPages(t *testing.T) {
	t.Parallel()
	const hosts, prompt, most = 20, 8, 8
	netw := aiotest.NewNet(aiotest.NetOptions{Latency: time.Millisecond})
	netw.Host("prompt.test", "10.0.0.1")
	o := weft.Options{NoRobots: true, PerHost: 1, Limit: hosts + prompt}
	for i := range prompt {
		o.Seeds = append(o.Seeds, fmt.Sprintf("http://prompt.test/%d", i))
	}
	for i := range hosts {
		name := fmt.Sprintf("big%d.test", i)
		netw.Host(name, fmt.Sprintf("10.0.1.%d", i))
		o.Seeds = append(o.Seeds, "http://"+name+"/")
	}
	var anchors strings.Builder
	for i := range 8000 {
		fmt.Fprintf(&anchors, "<a href=%d>", i)
	}
	big := "<base href=/" + strings.Repeat("x", 1800) + "/>" + anchors.String()
	var asked, sent aio.Event // the last prompt page, and all big ones
	bigs := 0
	serve := func(task *aio.Task, conn aio.Conn) error {
		r := aio.NewReader(task.Loop(), conn)
		defer r.Close()
		request, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
		if err != nil {
			return ignore(err, io.EOF)
		}
		page, isBig := "<a href=/x>", !bytes.Contains(request, []byte("prompt.test"))
		if isBig {
			page, err = big, asked.Wait(task)
		} else if bytes.Contains(request, fmt.Appendf(nil, "/%d ", prompt-1)) {
			asked.Set()
			err = sent.Wait(task)
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(writer(task, conn), "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n%s", page)
		if isBig {
			if bigs++; bigs == hosts {
				sent.Set()
			}
		}
		return err
	}
	before := make(map[string]bool) // hosts whose page was read before the last one of the prompt host
	found := false
	o.Hooks.OnLink = func(on weburl.URL, _ links.Link) weft.Verdict {
		found = found || on.String() == fmt.Sprintf("http://prompt.test/%d", prompt-1)
		if !found {
			before[on.Hostname()] = true
		}
		return weft.Verdict{}
	}
	crawlServed(t, netw, o, serve, func(*aio.Loop, *weft.Crawler) {})
	if !found || len(before) > most {
		t.Errorf("found %v after the pages of %d hosts, expected true after at most %d", found, len(before), most)
	}
}
