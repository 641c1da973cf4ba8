package engine_test

import (
	"bytes"
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
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/frontier/store/storetest"
)

// TestSlowDiskLimitsFetching checks that only a limited number of URLs is fetched while a commit is
// stuck, and that all of them are fetched once it completes.
func TestSlowDiskLimitsFetching(t *testing.T) {
	t.Parallel() // it mostly waits
	const pages = 1500
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			<-time.After(2 * time.Millisecond) // or all pages would be done before the disk falls behind
			return
		}
		w.Header().Set("Content-Type", "text/html")
		for i := range pages {
			fmt.Fprintf(w, "<a href=/%d>", i)
		}
	}))
	defer s.Close()
	var fetched atomic.Int32
	stuck, release := make(chan struct{}), make(chan struct{})
	disk := storetest.New()
	var running atomic.Bool // set after New, which syncs too
	var once sync.Once
	disk.Before(func(op storetest.Op, path string) error {
		if op == storetest.Sync && strings.HasSuffix(path, "pages.jsonl") && running.Load() {
			once.Do(func() {
				close(stuck)
				<-release
			})
		}
		return nil
	})
	o := weft.Options{Seeds: []string{s.URL + "/"}, Job: "/job", Pace: weft.Pace{Concurrency: 4}, Hooks: weft.Hooks{OnRecord: func(*weft.Record) { fetched.Add(1) }}}
	c := crawltest.New(t, o, func(c *crawl.Config) {
		// All in memory, or it would wait for the stuck disk.
		c.Job.Files, c.Engine.Frontier.Heads = disk, 2*pages
	})
	running.Store(true)
	ended := make(chan weft.Summary)
	go func() {
		sum, err := c.Run(t.Context())
		if err != nil {
			t.Error(err)
		}
		ended <- sum
	}()
	<-stuck
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for still := 0; still < 25; still++ { // until nothing is in flight for half a second
		<-tick.C
		if c.Stats().InFlight > 0 {
			still = 0
		}
	}
	if n := fetched.Load(); n == 0 || n >= pages {
		t.Errorf("%d of %d pages were fetched while the disk was stuck", n, pages)
	}
	close(release)
	if sum := <-ended; sum.Recorded() != pages+1 || !sum.Finished {
		t.Errorf("%d URLs at the end, finished %t", sum.Recorded(), sum.Finished)
	}
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
			o := weft.Options{Pace: weft.Pace{Concurrency: hosts / 2}, Limits: weft.Limits{MaxTime: maxTime}}
			for i := range hosts {
				netw.Host(fmt.Sprintf("h%d.test", i), fmt.Sprintf("10.0.0.%d", i+1))
				o.Seeds = append(o.Seeds, fmt.Sprintf("http://h%d.test/", i))
			}
			got, sum := crawltest.CrawlServed(t, netw, o, drip, func(l *aio.Loop, c *crawl.Crawl) {
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
	c := crawltest.New(t, weft.Options{Seeds: []string{s.URL + "/"}, Output: d})
	c.Engine.SetPatience(10 * time.Millisecond)
	go func() {
		<-d.refused
		c.Drain()
	}()
	if _, err := c.Run(t.Context()); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("%v, expected that the disk is full", err)
	}
}

// failsOnce is an output of which one write fails.
type failsOnce struct {
	bytes.Buffer
	at int // the number of the write, from 1
}

func (w *failsOnce) Write(b []byte) (int, error) {
	if w.at--; w.at == 0 {
		return 0, errors.New("it fails once")
	}
	return w.Buffer.Write(b)
}

// TestNothingAfterALostBatch: when a batch cannot be saved, no later one is, though the output
// would take it: the next run goes on before the first that was lost.
func TestNothingAfterALostBatch(t *testing.T) {
	w := crawltest.Web{}
	var all []string
	for i := range 40 {
		w[fmt.Sprintf("http://a.test/%d", i)] = crawltest.Links(fmt.Sprintf("/%d", i+1))
		all = append(all, fmt.Sprintf("http://a.test/%d", i))
	}
	for at := 1; at <= 4; at++ {
		o := weft.Options{Seeds: all[:1], Job: filepath.Join(t.TempDir(), "job"), Format: weft.FormatURLs, Limits: weft.Limits{Limit: 40}, Reach: weft.Reach{NoRobots: true}}
		var got []string
		for run, out := range []*failsOnce{{at: at}, {}} {
			o.Output = out
			c, err := weft.New(o)
			if err != nil {
				t.Fatal(err)
			}
			loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: w.Network(t)})
			err = loop.Run(t.Context(), func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					ln, err := aio.Listen(task, "tcp", ":80")
					if err != nil {
						return err
					}
					defer ln.Close()
					g.Go("server", func(task *aio.Task) error { return w.Listen(task, ln, new(crawltest.Requests)) })
					_, err = c.RunOn(task)
					return err
				})
			})
			if failed := run == 0; (err != nil) != failed {
				t.Fatalf("run %d: %v", run, err)
			}
			got = append(got, strings.Fields(out.String())...)
		}
		slices.Sort(got)
		want := slices.Sorted(slices.Values(all))
		if got = slices.Compact(got); !slices.Equal(got, want) {
			t.Errorf("after a failure of write %d: %d of %d URLs in the output", at, len(got), len(want))
		}
	}
}
