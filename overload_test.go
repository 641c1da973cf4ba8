package weft_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/links"
	"github.com/weftcrawl/weft/weburl"
)

// TestLongPagesAreReadInTurn checks that when many pages arrive at once, each long one is parsed in
// a loop iteration of its own, and that they do not delay a short one.
func TestLongPagesAreReadInTurn(t *testing.T) {
	const n = 8
	long := "<a href=/next>" + strings.Repeat("a long page ", 100_000)
	short := "<a href=/next>a short page"
	netw := aiotest.NewNet(aiotest.NetOptions{})
	netw.Host("site.test", "10.0.0.1")
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: netw})

	turn, found, ticking := 0, 0, false
	var tick func()
	tick = func() {
		if turn++; ticking && found < n+1 {
			loop.CallSoon(tick)
		}
	}
	read := make(map[int][]string) // request targets by loop iteration
	o := weft.Options{Seeds: []string{"http://site.test/short"}, PerHost: n + 1, NoRobots: true, Scope: weft.ScopePage}
	o.Hooks.OnLink = func(from weburl.URL, _ links.Link) weft.Verdict {
		if !ticking {
			ticking = true
			loop.CallSoon(tick)
		}
		found++
		read[turn] = append(read[turn], from.RequestTarget())
		return weft.Verdict{}
	}
	for i := range n {
		o.Seeds = append(o.Seeds, fmt.Sprintf("http://site.test/long/%d", i))
	}
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	serve := func(task *aio.Task, conn aio.Conn) error {
		defer conn.Close()
		r := aio.NewReader(loop, conn)
		defer r.Close()
		head, err := r.ReadUntil(task, []byte("\r\n\r\n"), 8192)
		if err != nil {
			return ignore(err, io.EOF)
		}
		body := short
		if strings.Contains(string(head), " /long/") {
			body = long
		}
		w := writer(task, conn)
		if _, err := fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body[:len(body)-1]); err != nil {
			return err
		}
		if err := task.SleepUntil(aiotest.Epoch.Add(time.Second)); err != nil { // so that all pages complete at once
			return err
		}
		_, err = w.Write([]byte(body[len(body)-1:]))
		return err
	}
	err = loop.Run(t.Context(), func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			g.Go("site", func(task *aio.Task) error {
				return task.Group(func(g *aio.Group) error {
					for {
						conn, err := ln.Accept(task)
						if err != nil {
							return ignore(err, aio.ErrClosed)
						}
						g.Go("server", func(task *aio.Task) error { return serve(task, conn) })
					}
				})
			})
			defer ln.Close()
			_, err := c.RunOn(task)
			ticking = false
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	pages := 0
	for turn, targets := range read {
		longs := 0
		for _, target := range targets {
			if pages++; strings.HasPrefix(target, "/long/") {
				longs++
			} else if turn > 0 {
				t.Errorf("the short page was parsed in iteration %d", turn)
			}
		}
		if longs > 1 {
			t.Errorf("iteration %d: %q were parsed together", turn, targets)
		}
	}
	if pages != n+1 {
		t.Errorf("%d pages parsed, expected %d", pages, n+1)
	}
}

// TestTooManyLinks checks that only the first 100,000 links of a page are followed.
func TestTooManyLinks(t *testing.T) {
	t.Parallel()
	w := web{
		"http://a.test/":   strings.Repeat("<a href=http://b.test/>", 99_999) + a("/in", "/beyond"),
		"http://a.test/in": strings.Repeat("<a href=http://b.test/>", 100_000),
	}
	got, sum, _ := w.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}})
	if len(got) != 2 || sum.NotFollowed["too-many"] != 1 || sum.NotFollowed["scope"] != 199_999 {
		t.Errorf("%d records, not followed: %v", len(got), sum.NotFollowed)
	}
}

// TestLongLinks checks that a small page whose links become huge, by a long base or by its own long
// URL, costs no more than others, and that an overlong URL is not requested.
func TestLongLinks(t *testing.T) {
	base := func(n int, links string) string {
		return "<base href=http://a.test/" + strings.Repeat("a", n) + "/>" + links
	}
	var many strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&many, "<a href=%d>", i)
	}
	at := "http://a.test/" + strings.Repeat("p", 3<<10)
	for name, c := range map[string]struct {
		w    web
		seed string
		want map[string]int
	}{
		"a base":         {w: web{"http://a.test/": base(8<<10, many.String())}, want: map[string]int{"too-many": 1, "depth": mostLinkText(8<<10+many.Len()) / (8<<10 + 30)}},
		"a longer one":   {w: web{"http://a.test/": base(60<<10, many.String())}, want: map[string]int{"too-many": 1, "too-long": mostLinkText(60<<10+many.Len()) / (60<<10 + 30)}},
		"a foreign one":  {w: web{"http://a.test/": "<base href=foo:/" + strings.Repeat("a", 60<<10) + "/>" + many.String()}, want: map[string]int{"too-many": 1}},
		"the page's own": {w: web{at: strings.Repeat("<a href=//b.test/>", 12_000)}, seed: at, want: map[string]int{"too-many": 1, "scope": maxLinkText / (3<<10 + 31)}},
		"one link":       {w: web{"http://a.test/": "<a href=/" + strings.Repeat("a", 16<<10) + "><a href=b>"}, want: map[string]int{"too-long": 1, "depth": 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.seed == "" {
				c.seed = "http://a.test/"
			}
			_, sum, _ := c.w.crawl(t, weft.Options{Seeds: []string{c.seed}, Depth: -1})
			for reason, n := range c.want {
				if got := sum.NotFollowed[reason]; got < n*99/100 || got > n*101/100 {
					t.Errorf("%s: %d, expected about %d: %v", reason, got, n, sum.NotFollowed)
				}
			}
		})
	}
}

// maxLinkText is the limit for the text of all links of a page and its own URL with each, in bytes.
const maxLinkText = 32 << 20

// mostLinkText is the limit for the text of all links of a page of n bytes.
func mostLinkText(n int) int { return 256<<10 + 16*n }

// shortNet is a network without free file descriptors until a given time, for all addresses or one.
// It counts connection attempts.
type shortNet struct {
	*aiotest.Net
	until time.Duration
	only  string
	tried map[string]int
}

func (n shortNet) Connect(task *aio.Task, to net.Addr) (aio.Conn, error) {
	n.tried[to.String()]++
	if task.Loop().Now().Sub(aiotest.Epoch) < n.until && (n.only == "" || n.only == to.String()) {
		return nil, syscall.EMFILE
	}
	return n.Net.Connect(task, to)
}

// TestShortage checks that URLs wait up to a minute while this machine lacks a resource, which does
// not count as a try. After that the shortage is their error, and the crawl ends.
func TestShortage(t *testing.T) {
	for _, c := range []struct {
		name     string
		until    time.Duration
		noRobots bool
		kind     string
		tries    int
		most     time.Duration
	}{
		{"passes", 20 * time.Second, true, "connect", 1, 25 * time.Second},
		{"passes, with robots.txt", 20 * time.Second, false, "connect", 0, 25 * time.Second},
		{"lasts", time.Hour, true, "resource", 1, 65 * time.Second},
		{"lasts, with robots.txt", time.Hour, false, "resource", 0, 65 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := shortNet{aiotest.NewNet(aiotest.NetOptions{}), c.until, "", make(map[string]int)}
			n.Host("a.test", "10.0.0.1") // where nothing listens
			loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: n})
			job := filepath.Join(t.TempDir(), "job")
			crawl, err := weft.New(weft.Options{Seeds: []string{"http://a.test/"}, Job: job, NoRobots: c.noRobots, Retries: -1})
			if err != nil {
				t.Fatal(err)
			}
			var sum weft.Summary
			err = loop.Run(context.Background(), func(task *aio.Task) (err error) {
				sum, err = crawl.RunOn(task)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			r := records(t, job)["http://a.test/"]
			if r.ErrorKind != c.kind || r.Tries != c.tries || !sum.Finished || sum.Elapsed > c.most {
				t.Errorf("after %v: record %+v", sum.Elapsed, r)
			}
			if attempts := n.tried["10.0.0.1:80"]; attempts > 65 {
				t.Errorf("%d connection attempts, expected at most 65", attempts)
			}
		})
	}
}

// TestShortageOfOne: a URL that time and again finds no descriptor waits for as long as others find
// one, which is longer than a shortage that holds for all.
func TestShortageOfOne(t *testing.T) {
	n := shortNet{aiotest.NewNet(aiotest.NetOptions{}), 150 * time.Second, "10.0.0.1:80", make(map[string]int)}
	n.Host("a.test", "10.0.0.1") // where nothing listens
	seeds := []string{"http://a.test/"}
	for i := range 100 {
		host := fmt.Sprintf("b%02d.test", i)
		n.Host(host, fmt.Sprintf("10.0.1.%d", i))
		seeds = append(seeds, "http://"+host+"/")
	}
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: n})
	kinds := make(map[string]string)
	crawl, err := weft.New(weft.Options{
		Seeds: seeds, NoRobots: true, Retries: -1, RateLimit: 0.5,
		Hooks: weft.Hooks{OnRecord: func(r *weft.Record) { kinds[r.URL] = r.ErrorKind }},
	})
	if err != nil {
		t.Fatal(err)
	}
	var sum weft.Summary
	err = loop.Run(context.Background(), func(task *aio.Task) (err error) {
		sum, err = crawl.RunOn(task)
		return err
	})
	if err != nil || !sum.Finished || kinds["http://a.test/"] != "connect" {
		t.Errorf("%v after %v: %d tries, %q", err, sum.Elapsed, n.tried["10.0.0.1:80"], kinds["http://a.test/"])
	}
}
