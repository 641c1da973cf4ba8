package engine_test

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// TestClockBetweenRuns checks that a job resumes its waits where they were, although the machine's
// clock was set while it ran or since: no wait becomes longer, and none is over before its time
// unless the calendar says so.
func TestClockBetweenRuns(t *testing.T) {
	const year = 365 * 24 * time.Hour
	const hold = 30 * time.Minute
	for name, c := range map[string]struct {
		during, between time.Duration // by which the clock is set
		after           time.Duration // the page is requested so long after the second start
	}{
		"right":              {0, 10 * time.Minute, hold - 10*time.Minute},
		"back a year":        {0, -year, hold},
		"forward a year":     {0, year, 0},
		"forward in the run": {time.Hour, 10 * time.Minute, hold - 10*time.Minute},
		"back in the run":    {-time.Hour, 10 * time.Minute, hold - 10*time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := weft.Options{Seeds: []string{"http://a.test/"}, Job: filepath.Join(t.TempDir(), "job")}
			clock := aiotest.NewClock()
			site := &once{busy: hold, begins: func() { clock.Set(c.during) }}
			crawltest.CrawlOn(t, clock, site.network(), o, site.serve, func(l *aio.Loop, run *crawl.Crawl) {
				l.CallLater(10*time.Second, run.Drain)
			})
			ended := clock.Wall()
			asked := hostsOf(t, o.Job)[0].Asked
			if d := ended.Sub(asked); d < 9*time.Second || d > 11*time.Second {
				t.Errorf("the host was requested at %v, %v before the end of the run", asked, d)
			}

			left := urlIn(t, o.Job, weft.URLPending).NotBefore.Sub(ended)
			if d := hold - left; d < 9*time.Second || d > 11*time.Second {
				t.Errorf("the next try is %v after the end of the run", left)
			}
			refused := urlIn(t, o.Job, weft.URLRefused)
			if d := ended.Sub(refused.At); d < 9*time.Second || d > 11*time.Second {
				t.Errorf("%s was refused %v before the end of the run", refused.URL, d)
			}

			site.begins = func() {}
			clock = aiotest.NewClock()
			clock.Set(ended.Sub(clock.Wall()) + c.between)
			crawltest.CrawlOn(t, clock, site.network(), o, site.serve, func(*aio.Loop, *crawl.Crawl) {})
			late := site.last.Sub(aiotest.Epoch) - c.after
			if late < -11*time.Second || late > 2*time.Second {
				t.Errorf("requested %v after the start, expected %v", site.last.Sub(aiotest.Epoch), c.after)
			}
		})
	}
}

// TestClockOfLookUps: the calendar was set forward in the first run, so that in the second the
// job's clock is behind that of the loop. Neither what is looked up in the store nor the levels of
// a crawl to a depth go by the loop's: requests keep their distance, and none waits until the job's
// clock has caught up.
func TestClockOfLookUps(t *testing.T) {
	const pages, delay = 40, time.Second
	var asked []time.Time
	serve := func(task *aio.Task, conn aio.Conn) error {
		r := aio.NewReader(task.Loop(), conn)
		defer r.Close()
		head, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
		if err != nil {
			return crawltest.Ignore(err, io.EOF)
		}
		asked = append(asked, task.Loop().Now())
		n, _ := strconv.Atoi(strings.Trim(strings.Fields(string(head))[1], "/"))
		body := crawltest.Links(fmt.Sprintf("/%d", min(n+1, pages)), fmt.Sprintf("/%d", min(n+2, pages)))
		_, err = fmt.Fprintf(crawltest.Writer(task, conn), "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
		return err
	}
	run := func(clock *aiotest.Clock, o weft.Options, drain time.Duration) {
		netw := aiotest.NewNet(aiotest.NetOptions{Latency: time.Millisecond})
		netw.Host("a.test", "10.0.0.1")
		crawltest.CrawlOn(t, clock, netw, o, serve, func(l *aio.Loop, run *crawl.Crawl) {
			l.CallLater(drain/2, func() { clock.Set(time.Hour) })
			l.CallLater(drain, run.Drain)
		}, func(c *crawl.Config) { c.Engine.Frontier.SeenBytes = 1 })
	}
	o := weft.Options{
		Seeds: []string{"http://a.test/0"}, Job: filepath.Join(t.TempDir(), "job"), Pace: weft.Pace{Delay: delay}, Reach: weft.Reach{NoRobots: true, Depth: pages},
	}
	clock := aiotest.NewClock()
	run(clock, o, 10*time.Second)
	ended := clock.Wall()
	clock = aiotest.NewClock()
	pass(t, clock, ended.Sub(aiotest.Epoch))
	began := len(asked)
	run(clock, o, 2*pages*delay)
	for i := began + 1; i < len(asked); i++ {
		if gap := asked[i].Sub(asked[i-1]); gap < delay || gap > 3*delay {
			t.Errorf("request %d came %v after the one before, expected %v", i, gap, delay)
		}
	}
	if len(asked) < pages {
		t.Errorf("%d requests, expected at least %d", len(asked), pages)
	}
}

// pass lets time pass on a clock.
func pass(t *testing.T, clock *aiotest.Clock, d time.Duration) {
	t.Helper()
	err := aio.NewLoop(aio.Options{Clock: clock}).Run(t.Context(), func(task *aio.Task) error { return task.Sleep(d) })
	if err != nil {
		t.Fatal(err)
	}
}

// hostsOf returns the hosts of a job.
func hostsOf(t *testing.T, job string) (all []weft.HostStatus) {
	t.Helper()
	j, err := weft.OpenJob(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for h, err := range j.Hosts(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, h)
	}
	return all
}

// urlIn returns the one URL of a job that is in a state.
func urlIn(t *testing.T, job string, state weft.URLState) (u weft.URLStatus) {
	t.Helper()
	j, err := weft.OpenJob(t.Context(), job)
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for u, err = range j.URLs(t.Context(), weft.URLFilter{State: state}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	return u
}

// once is a site of three pages, one of which is busy once, and one disallowed.
type once struct {
	busy   time.Duration // its Retry-After
	begins func()        // called by the first request
	asked  int
	last   time.Time // of its requests, by the loop's clock
}

func (s *once) network() *aiotest.Net {
	netw := aiotest.NewNet(aiotest.NetOptions{Latency: time.Millisecond})
	netw.Host("a.test", "10.0.0.1")
	return netw
}

func (s *once) serve(task *aio.Task, conn aio.Conn) error {
	r := aio.NewReader(task.Loop(), conn)
	defer r.Close()
	head, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
	if err != nil {
		return crawltest.Ignore(err, io.EOF)
	}
	s.asked++
	s.last = task.Loop().Now()
	w := crawltest.Writer(task, conn)
	switch path := strings.Fields(string(head))[1]; {
	case path == "/robots.txt":
		s.begins()
		_, err = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 30\r\nConnection: close\r\n\r\nUser-agent: *\nDisallow: /shut\n")
	case path == "/":
		body := crawltest.Links("/shut", "/busy")
		_, err = fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
	case s.asked == 3:
		_, err = fmt.Fprintf(w, "HTTP/1.1 503 Busy\r\nRetry-After: %d\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", int(s.busy.Seconds()))
	default:
		_, err = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	}
	return err
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
			return crawltest.Ignore(err, io.EOF)
		}
		if busy {
			busy = false
			clock.Set(step)
			at := aiotest.Epoch.Add(step + time.Minute).Format(http.TimeFormat)
			_, err := fmt.Fprintf(crawltest.Writer(task, conn), "HTTP/1.1 503 Busy\r\nRetry-After: %s\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", at)
			return err
		}
		_, err := io.WriteString(crawltest.Writer(task, conn), "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return err
	}
	o := weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{NoRobots: true}}
	got, sum := crawltest.CrawlOn(t, clock, netw, o, serve, func(*aio.Loop, *crawl.Crawl) {})
	r := got["http://a.test/"]
	if want := aiotest.Epoch.Add(step + time.Minute); r.Started.Before(want) || r.Started.After(want.Add(2*time.Second)) {
		t.Errorf("started at %v, expected %v", r.Started, want)
	}
	if r.TotalMS > 1000 || r.Tries != 2 || sum.Elapsed > 65*time.Second {
		t.Errorf("took %v ms at try %d, the crawl %v", r.TotalMS, r.Tries, sum.Elapsed)
	}
}
