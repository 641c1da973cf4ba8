package weft_test

import (
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/webtest"
)

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
