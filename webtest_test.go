package weft_test

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/webtest"
)

// TestSyntheticWeb crawls a web of many hosts over real sockets, with redirect chains and loops,
// dead links, faults and robots.txt of every kind. With any number of workers the records match the
// ground truth, and the server's count of requests matches the recorded tries.
func TestSyntheticWeb(t *testing.T) {
	cfg := webtest.Config{Seed: 7, Hosts: long.Or(9, 30), Pages: long.Or(16, 20), SlowDelay: 50 * time.Millisecond, CrawlDelay: 20 * time.Millisecond}
	policy := webtest.Policy{
		Scope: webtest.Anywhere, Elements: []string{"a", "area", "frame", "iframe", "link", "meta", "header"},
		MaxRedirects: 10, Retries: 2, Robots: true, Agent: "weft",
	}
	for _, workers := range []int{1, 8, 256} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			t.Parallel()
			served := webtest.Start(t, cfg)
			job := filepath.Join(t.TempDir(), "job")
			c, err := weft.New(weft.Options{
				Seeds: []string{served.Web.Home(0)}, Job: job, Scope: weft.ScopeAny, Concurrency: workers,
				Timeout: time.Second, DNS: serverAt(served),
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := records(t, job)
			requests := served.Log.Politeness().Asked
			n := 0
			for u, fate := range served.Web.Truth(policy) {
				n++
				r, ok := got[u]
				if !ok {
					t.Errorf("%s has no record", u)
				} else if r.Status != fate.Status && !(fate.Status == 0 && r.Status == 200) || !isFate(r.ErrorKind, fate.Error) {
					t.Errorf("%s: status %d, error %q %q, expected %+v", u, r.Status, r.ErrorKind, r.Error, fate)
				}
				most := r.Tries
				if fate.Error == webtest.ErrorEarlyEnd { // a request lost with a kept connection is no try
					most *= 2
				}
				if fate.Error != webtest.ErrorDNS && (requests[u] < r.Tries || requests[u] > most) {
					t.Errorf("%s: %d requests, %d tries", u, requests[u], r.Tries)
				}
				delete(got, u)
			}
			if n < long.Or(120, 500) {
				t.Errorf("the ground truth has only %d URLs", n)
			}
			for u, r := range got {
				if r.ErrorKind != weft.KindRedirects { // beyond the limit of redirects
					t.Errorf("%s has a record, but nothing leads to it", u)
				}
			}
		})
	}
}

// crawlWeb crawls a synthetic web, from its first host to all others, over an in-memory network, on
// a virtual clock.
func crawlWeb(t *testing.T, cfg webtest.Config, o weft.Options) (*webtest.Web, map[string]weft.Record, weft.Summary) {
	t.Helper()
	return crawlWebOver(t, cfg, aiotest.NetOptions{Seed: 1, Latency: time.Millisecond}, o)
}

// crawlWebOver is crawlWeb over a given network.
func crawlWebOver(t *testing.T, cfg webtest.Config, over aiotest.NetOptions, o weft.Options) (*webtest.Web, map[string]weft.Record, weft.Summary) {
	t.Helper()
	web, err := webtest.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	netw := aiotest.NewNet(over)
	for i := range web.Hosts() {
		if addr, ok := web.Addr(i); ok {
			netw.Host(web.Name(i), addr.String())
		}
	}
	o.Seeds, o.Scope, o.Job = []string{web.Home(0)}, weft.ScopeAny, filepath.Join(t.TempDir(), "job")
	c, err := weft.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var sum weft.Summary
	err = aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: netw}).Run(t.Context(), func(task *aio.Task) error {
		ln, err := aio.Listen(task, "tcp", ":80")
		if err != nil {
			return err
		}
		return task.Group(func(g *aio.Group) error {
			g.Go("web", func(task *aio.Task) error { return webtest.NewServer(web, nil).Serve(task, ln) })
			defer ln.Close()
			sum, err = c.RunOn(task)
			return err
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return web, records(t, o.Job), sum
}

// serverAt returns the name server of a web.
func serverAt(served *webtest.Running) []netip.AddrPort {
	return []netip.AddrPort{netip.MustParseAddrPort(served.DNS.Addr())}
}

// isFate reports whether an error kind is what the ground truth expects.
func isFate(kind, fate string) bool {
	switch fate {
	case webtest.ErrorStall:
		return strings.HasSuffix(kind, "timeout")
	case webtest.ErrorRobots:
		return kind == weft.KindRobots || kind == weft.KindNoRobots
	case "":
		return kind == "" || kind == weft.KindRedirects
	}
	return kind == fate
}

// TestPolitenessSeenByServer checks each host's smallest gap and peak concurrency in the server's
// log, over real sockets.
func TestPolitenessSeenByServer(t *testing.T) {
	aiotest.CheckLeaks(t)
	served := webtest.Start(t, webtest.Config{Seed: 3, Hosts: 12, Pages: 6, Latency: 5 * time.Millisecond, Clean: true})
	for _, c := range []struct {
		name string
		o    weft.Options
		most int
		gap  time.Duration
	}{
		{"delay", weft.Options{Delay: 30 * time.Millisecond}, 1, 30 * time.Millisecond},
		{"per host", weft.Options{PerHost: 2}, 2, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := served.Log.Len()
			c.o.Seeds, c.o.Scope, c.o.DNS = []string{served.Web.Home(0)}, weft.ScopeAny, serverAt(served)
			crawler, err := weft.New(c.o)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := crawler.Run(t.Context())
			if err != nil || sum.Pages < 50 {
				t.Fatalf("summary %+v, error %v", sum, err)
			}
			requests := served.Log.Requests()[before:]
			for host, m := range webtest.Judge(func(yield func(webtest.Request) bool) {
				for _, r := range requests {
					if !yield(r) {
						return
					}
				}
			}).Hosts {
				if m.MostAtOnce > c.most || m.Requests > 1 && m.SmallGap < c.gap {
					t.Errorf("%s: %d requests at once, gap %v; expected at most %d, and at least %v", host, m.MostAtOnce, m.SmallGap, c.most, c.gap)
				}
			}
		})
	}
}

// TestNamesAreAskedOnce checks that several loops do not each ask for the addresses of every host.
func TestNamesAreAskedOnce(t *testing.T) {
	const hosts = 200
	served := webtest.Start(t, webtest.Config{Seed: 5, Hosts: hosts, Pages: 4, Latency: 5 * time.Millisecond, Clean: true})
	c, err := weft.New(weft.Options{
		Seeds: []string{served.Web.Home(0)}, Job: filepath.Join(t.TempDir(), "job"), Scope: weft.ScopeAny,
		Loops: 2, DNS: serverAt(served),
	})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	asked, queries := 0, 0
	for i := range hosts {
		n := served.DNS.Asked(i)
		asked, queries = asked+min(n, 1), queries+n
	}
	t.Logf("%d URLs of %d hosts, whose names were asked for %d times", sum.Recorded(), asked, queries)
	if asked < hosts/2 || queries > asked*3/2 {
		t.Errorf("the names of %d hosts were asked for %d times", asked, queries)
	}
}
