package weft_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// endless serves an infinite site: each page links to two more.
func endless(seen chan<- string) *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case seen <- r.URL.Path:
		default:
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<a href="%s/0"></a><a href="%s/1"></a>`, strings.TrimSuffix(r.URL.Path, "/"), strings.TrimSuffix(r.URL.Path, "/"))
	}))
}

// TestDrain checks that a drained crawl finishes what is in flight and reports what is left.
func TestDrain(t *testing.T) {
	aiotest.CheckLeaks(t)
	seen := make(chan string, 100)
	server := endless(seen)
	defer server.Close()
	job := filepath.Join(t.TempDir(), "job")
	c, err := weft.New(weft.Options{Seeds: []string{server.URL}, Job: job, Pace: weft.Pace{Concurrency: 8}})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for range 50 {
			<-seen
		}
		c.Drain()
	}()
	sum, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := crawltest.Records(t, job); !sum.Interrupted || sum.Pending == 0 || len(got) != sum.Recorded() || sum.Errors["canceled"].URLs > 0 {
		t.Errorf("%d records, summary %+v", len(got), sum)
	}
	if _, err := c.Run(t.Context()); !errors.Is(err, weft.ErrRan) {
		t.Errorf("a second Run returns %v", err)
	}
}

// TestClose: a crawl lets go of its job once, before its run or at the end of it.
func TestClose(t *testing.T) {
	seen := make(chan string, 100)
	server := endless(seen)
	defer server.Close()
	o := weft.Options{Seeds: []string{server.URL}, Job: filepath.Join(t.TempDir(), "job"), Limits: weft.Limits{Limit: 20}}
	open := func() *weft.Crawler {
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	c := open()
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Run(t.Context()); !errors.Is(err, weft.ErrRan) {
		t.Errorf("Run after Close: %v", err)
	}
	o.Hooks.OnPage = func(context.Context, *weft.Page) error { return c.Close() }
	c = open()
	if sum, err := c.Run(t.Context()); err != nil || sum.Recorded() != 20 {
		t.Errorf("closed while it runs: %d records, %v", sum.Recorded(), err)
	}
}

func TestDrainBeforeRun(t *testing.T) {
	c, err := weft.New(weft.Options{Seeds: []string{"http://127.0.0.1:1/"}, Job: filepath.Join(t.TempDir(), "job")})
	if err != nil {
		t.Fatal(err)
	}
	c.Drain()
	if sum, err := c.Run(t.Context()); err != nil || sum.Recorded() != 0 || sum.Pending != 1 {
		t.Errorf("summary %+v, error %v", sum, err)
	}
}

// TestCancel checks that a crawl ends as soon as its context is canceled, even while a server does
// not respond, and leaks nothing.
func TestCancel(t *testing.T) {
	aiotest.CheckLeaks(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("had enough")
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		bufio.NewReader(c).ReadString('\n')
		cancel(why)
		defer c.Close()
		bufio.NewReader(c).ReadString('\x00') // until the crawler hangs up
	}()
	c, err := weft.New(weft.Options{Seeds: []string{"http://" + ln.Addr().String()}, Job: filepath.Join(t.TempDir(), "job")})
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := c.Run(ctx); !errors.Is(err, why) || !sum.Interrupted {
		t.Errorf("summary %+v, error %v", sum, err)
	}
}

// TestTwoCrawlers checks that two crawls in one process share nothing.
func TestTwoCrawlers(t *testing.T) {
	aiotest.CheckLeaks(t)
	dir := t.TempDir()
	type result struct {
		sum weft.Summary
		err error
	}
	results := make(chan result)
	for i, pages := range []int{3, 30} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			for n := range pages {
				fmt.Fprintf(w, "<a href=/%d>%d</a>", n, n)
			}
		}))
		defer server.Close()
		c, err := weft.New(weft.Options{Seeds: []string{server.URL}, Job: filepath.Join(dir, fmt.Sprint(i))})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			sum, err := c.Run(t.Context())
			if err == nil && sum.Pages != pages+1 {
				err = fmt.Errorf("%d pages, expected %d", sum.Pages, pages+1)
			}
			results <- result{sum, err}
		}()
	}
	for range 2 {
		if r := <-results; r.err != nil {
			t.Error(r.err)
		}
	}
}

// TestEarlier: what earlier runs have come to does not change while the crawl runs, and any
// goroutine may ask for it.
func TestEarlier(t *testing.T) {
	site := crawltest.Leafy(t, 20)
	o := weft.Options{Seeds: []string{site.URL}, Job: filepath.Join(t.TempDir(), "job"), Limits: weft.Limits{Limit: 3}}
	first, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.Limits.Limit = 0
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	before := c.Earlier()
	ctx, asked := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := c.Run(t.Context())
		asked()
		ended <- err
	}()
	for ctx.Err() == nil {
		_ = c.Earlier()
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if after := c.Earlier(); before.Runs != 1 || before.Statuses[200].URLs != 3 || !reflect.DeepEqual(after, before) {
		t.Errorf("statuses %v after %d runs, before the run %v after %d", after.Statuses, after.Runs, before.Statuses, before.Runs)
	}
}

// TestJobLeaksNoDescriptors checks that canceled crawls with a job leak no file descriptors.
func TestJobLeaksNoDescriptors(t *testing.T) {
	s := crawltest.Leafy(t, 50)
	run := func() {
		ctx, cancel := context.WithCancel(t.Context())
		c, err := weft.New(weft.Options{Seeds: []string{s.URL}, Job: filepath.Join(t.TempDir(), "job"), Hooks: weft.Hooks{OnRecord: func(*weft.Record) { cancel() }}})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Run(ctx)
	}
	count := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("no /proc here: ", err)
		}
		return len(names)
	}
	run()
	s.CloseClientConnections()
	before := count()
	for range 10 {
		run()
	}
	s.CloseClientConnections()
	if now := count(); now >= before+10 { // the server closes its connections with a delay
		t.Errorf("%d descriptors after ten crawls, %d before", now, before)
	}
}

func TestMain(m *testing.M) { crawltest.Main(m) }
