package weft_test

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
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
			crawlOn(t, clock, site.network(), o, site.serve, func(l *aio.Loop, run *weft.Crawler) {
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
			crawlOn(t, clock, site.network(), o, site.serve, func(*aio.Loop, *weft.Crawler) {})
			late := site.last.Sub(aiotest.Epoch) - c.after
			if late < -11*time.Second || late > 2*time.Second {
				t.Errorf("requested %v after the start, expected %v", site.last.Sub(aiotest.Epoch), c.after)
			}
		})
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
		return ignore(err, io.EOF)
	}
	s.asked++
	s.last = task.Loop().Now()
	w := writer{task, conn}
	switch path := strings.Fields(string(head))[1]; {
	case path == "/robots.txt":
		s.begins()
		_, err = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 30\r\nConnection: close\r\n\r\nUser-agent: *\nDisallow: /shut\n")
	case path == "/":
		body := a("/shut", "/busy")
		_, err = fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", len(body), body)
	case s.asked == 3:
		_, err = fmt.Fprintf(w, "HTTP/1.1 503 Busy\r\nRetry-After: %d\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", int(s.busy.Seconds()))
	default:
		_, err = io.WriteString(w, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	}
	return err
}
