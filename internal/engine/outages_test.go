package engine_test

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/long"
)

// weather is a network that breaks down for some time: fails says with which error an address is
// out of reach at a time since the start. The error 0 stands for none, ETIMEDOUT for silence, and
// EINPROGRESS for a server that accepts connections and does not respond.
type weather struct {
	aio.Network
	fails func(at time.Duration, to netip.Addr) syscall.Errno
}

func (w *weather) Connect(t *aio.Task, to net.Addr) (aio.Conn, error) {
	tcp, ok := to.(*net.TCPAddr)
	if !ok {
		return w.Network.Connect(t, to)
	}
	addr := tcp.AddrPort().Addr().Unmap()
	switch errno := w.now(t, addr); errno {
	case 0, syscall.EINPROGRESS:
	case syscall.ETIMEDOUT:
		if err := t.Sleep(2 * time.Minute); err != nil {
			return nil, err
		}
		return nil, os.NewSyscallError("connect", errno)
	default:
		return nil, os.NewSyscallError("connect", errno)
	}
	c, err := w.Network.Connect(t, to)
	if err != nil {
		return nil, err
	}
	return &exposed{c, w, addr}, nil
}

func (w *weather) Lookup(t *aio.Task, host string) ([]net.IP, error) {
	if errno := w.now(t, netip.Addr{}); errno != 0 {
		return nil, &net.DNSError{Err: errno.Error(), Name: host, Server: "192.0.2.53", IsTemporary: true}
	}
	return w.Network.Lookup(t, host)
}

func (w *weather) now(t *aio.Task, to netip.Addr) syscall.Errno {
	return w.fails(t.Loop().Now().Sub(aiotest.Epoch), to)
}

// exposed is a connection that an outage breaks.
type exposed struct {
	aio.Conn
	weather *weather
	to      netip.Addr
}

func (c *exposed) Write(t *aio.Task, b []byte) (int, error) {
	switch c.weather.now(t, c.to) {
	case 0:
	case syscall.EINPROGRESS:
		return len(b), nil
	default:
		return 0, os.NewSyscallError("write", syscall.ECONNRESET)
	}
	return c.Conn.Write(t, b)
}

// under crawls w over a network whose hosts are at 93.184.0.1 and so on, in the order of names,
// under a weather.
func under(t *testing.T, w crawltest.Web, fails func(time.Duration, netip.Addr) syscall.Errno, names []string, o weft.Options) (map[string]weft.Record, weft.Summary, crawltest.Requests) {
	t.Helper()
	netw := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: time.Millisecond})
	for i, name := range names {
		netw.Host(name, address(i).String())
	}
	return w.CrawlOver(t, &weather{netw, fails}, o)
}

// address is that of host number i: a public one.
func address(i int) netip.Addr {
	return netip.AddrFrom4([4]byte{93, 184, byte((i + 1) / 256), byte((i + 1) % 256)})
}

// TestShortOutage: a host that is down for a while loses no URL, however it is down.
func TestShortOutage(t *testing.T) {
	t.Parallel()
	const pages = 1000
	for name, errno := range map[string]syscall.Errno{"refused": syscall.ECONNREFUSED, "silent": syscall.ETIMEDOUT, "no route to it": syscall.EHOSTUNREACH} {
		t.Run(name, func(t *testing.T) {
			w := flat(pages)
			w["http://b.test/"] = "another site"
			down := func(at time.Duration, to netip.Addr) syscall.Errno {
				if to == address(0) && at > 2*time.Second && at < 47*time.Second {
					return errno
				}
				return 0
			}
			_, sum, _ := under(t, w, down, []string{"a.test", "b.test"}, weft.Options{Seeds: []string{"http://a.test/", "http://b.test/"}})
			if sum.Pages != pages+2 || len(sum.Errors) > 0 || !sum.Finished {
				t.Errorf("%d pages, errors %v", sum.Pages, sum.Errors)
			}
			if sum.Elapsed > 4*time.Minute {
				t.Errorf("it took %v, after an outage of 45s", sum.Elapsed)
			}
		})
	}
}

// TestHangingServer: a server that accepts requests and responds to none of them for an hour costs
// none of its URLs, even if nobody cares about its robots.txt.
func TestHangingServer(t *testing.T) {
	t.Parallel()
	const pages = 1000
	for name, noRobots := range map[string]bool{"robots": false, "no robots": true} {
		t.Run(name, func(t *testing.T) {
			w := flat(pages)
			w["http://a.test/robots.txt"] = "User-agent: *\nDisallow: /"
			if !noRobots {
				delete(w, "http://a.test/robots.txt")
			}
			w["http://b.test/"] = "another site"
			hangs := func(at time.Duration, to netip.Addr) syscall.Errno {
				if to == address(0) && at > 2*time.Second && at < time.Hour {
					return syscall.EINPROGRESS
				}
				return 0
			}
			o := weft.Options{Seeds: []string{"http://a.test/", "http://b.test/"}, Reach: weft.Reach{NoRobots: noRobots}}
			_, sum, seen := under(t, w, hangs, []string{"a.test", "b.test"}, o)
			if sum.Pages != pages+2 || len(sum.Errors) > 0 || !sum.Finished || sum.Elapsed > 70*time.Minute {
				t.Errorf("%d pages in %v, errors %v", sum.Pages, sum.Elapsed, sum.Errors)
			}
			for i, u := range seen.URLs() {
				if noRobots && strings.HasSuffix(u, "/robots.txt") && seen[i].At.Sub(aiotest.Epoch) < time.Hour {
					t.Errorf("request %d was for %s, though the server responded", i, u)
				}
			}
		})
	}
}

// TestNetworkComesLate: a crawl that starts before the network of its machine does waits for it.
func TestNetworkComesLate(t *testing.T) {
	t.Parallel()
	const hosts = 300
	w := crawltest.Web{}
	var o weft.Options
	var names []string
	for i := range hosts {
		name := fmt.Sprintf("h%03d.test", i)
		names = append(names, name)
		w["http://"+name+"/"] = "a page"
		o.Seeds = append(o.Seeds, "http://"+name+"/")
	}
	for name, errno := range map[string]syscall.Errno{"no route": syscall.ENETUNREACH, "silence": syscall.ETIMEDOUT} {
		t.Run(name, func(t *testing.T) {
			late := func(at time.Duration, to netip.Addr) syscall.Errno {
				if at < 8*time.Second {
					return errno
				}
				return 0
			}
			o := o
			o.Job = filepath.Join(t.TempDir(), "job")
			_, sum, _ := under(t, w, late, names, o)
			if sum.Pages != hosts || sum.Elapsed > 2*time.Minute {
				t.Errorf("%d pages of %d in %v, errors %v", sum.Pages, hosts, sum.Elapsed, sum.Errors)
			}
		})
	}
}

// TestNetworkGoesAway: when the machine's network fails for an hour in the middle of a crawl, no
// URL is lost, whether its host has responded before or not, and the pause says why.
func TestNetworkGoesAway(t *testing.T) {
	t.Parallel()
	const hosts, pages = 50, 20
	w := crawltest.Web{}
	var names, homes []string
	for i := range hosts {
		name := fmt.Sprintf("h%03d.test", i)
		names = append(names, name)
		homes = append(homes, "http://"+name+"/")
		var links []string
		for p := range pages {
			links = append(links, fmt.Sprintf("/%d", p))
			w[fmt.Sprintf("http://%s/%d", name, p)] = "a page"
		}
		w["http://"+name+"/"] = crawltest.Links(links...)
	}
	w["http://h000.test/"] += crawltest.Links(homes...)
	for name, errno := range map[string]syscall.Errno{"no route": syscall.ENETUNREACH, "silence": syscall.ETIMEDOUT} {
		t.Run(name, func(t *testing.T) {
			away := func(at time.Duration, to netip.Addr) syscall.Errno {
				if at > 1500*time.Millisecond && at < time.Hour {
					return errno
				}
				return 0
			}
			_, sum, _ := under(t, w, away, names, weft.Options{Seeds: homes[:1], Reach: weft.Reach{Scope: weft.ScopeAny}, Pace: weft.Pace{Delay: 100 * time.Millisecond}})
			if want := hosts * (pages + 1); sum.Pages != want || sum.Elapsed > 70*time.Minute {
				t.Errorf("%d pages of %d in %v, errors %v", sum.Pages, want, sum.Elapsed, sum.Errors)
			}
		})
	}
}

// TestStalledBodies: pages that begin to come and stop half-way are no outage of one's own network,
// however many hosts have them.
func TestStalledBodies(t *testing.T) {
	t.Parallel()
	const hosts = 8
	for name, timeout := range map[string]time.Duration{"short timeout": 3 * time.Second, "default timeout": 0} {
		t.Run(name, func(t *testing.T) {
			w := crawltest.Web{}
			o := weft.Options{Pace: weft.Pace{Delay: time.Millisecond}, HTTP: weft.HTTP{Timeout: timeout}}
			for i := range hosts {
				home := fmt.Sprintf("http://h%d.test/", i)
				w[home] = crawltest.Links("/hang", "/b")
				w[home+"hang"], w[home+"b"] = "half", crawltest.Links("/hang", "/b")
				o.Seeds = append(o.Seeds, home)
			}
			_, sum, seen := w.Crawl(t, o)
			tries := 0
			for _, u := range seen.URLs() {
				if strings.HasSuffix(u, "/hang") {
					tries++
				}
			}
			most := 3*cmp.Or(timeout, 30*time.Second) + 10*time.Second
			if sum.Pages != 3*hosts || len(sum.Errors) != 1 || tries != 3*hosts || sum.Elapsed > most {
				t.Errorf("%d pages in %v, expected %d within %v; %d tries at %d that stop, expected 3 each", sum.Pages, sum.Elapsed, 3*hosts, most, tries, hosts)
			}
		})
	}
}

// TestHangingHostsBesideASlowOne: hosts that responded once and then hang, all together, are no
// outage of one's own network while another responds whenever it is asked, however seldom that is.
// It does not wait for them.
func TestHangingHostsBesideASlowOne(t *testing.T) {
	t.Parallel()
	const hosts, pages, delay = 40, 20, 7 * time.Second
	for name, timeout := range map[string]time.Duration{"short timeout": 3 * time.Second, "default timeout": 0} {
		t.Run(name, func(t *testing.T) {
			w := crawltest.Web{"http://good.test/robots.txt": "User-agent: *\nCrawl-delay: 7"}
			var links []string
			for i := range hosts {
				host := fmt.Sprintf("http://h%02d.test", i)
				w[host+"/robots.txt"] = "User-agent: *\nAllow: /"
				for page := range 10 {
					w[fmt.Sprintf("%s/%d", host, page)] = "stall"
					links = append(links, fmt.Sprintf("%s/%d", host, page))
				}
			}
			w["http://good.test/"] = crawltest.Links(append(links, "/1")...)
			for i := 1; i <= pages; i++ {
				w[fmt.Sprintf("http://good.test/%d", i)] = crawltest.Links(fmt.Sprintf("/%d", i+1))
			}
			_, _, seen := w.Crawl(t, weft.Options{
				Seeds: []string{"http://good.test/"}, Reach: weft.Reach{Scope: weft.ScopeAny}, HTTP: weft.HTTP{Timeout: timeout}, Limits: weft.Limits{MaxTime: pages * delay},
			})
			var last time.Time
			for _, r := range seen {
				if !strings.HasPrefix(r.URL, "http://good.test/") {
					continue
				}
				if gap := r.At.Sub(last); !last.IsZero() && gap > delay+3*time.Second {
					t.Errorf("%s was requested %v after the page before, expected %v", r.URL, gap, delay)
				}
				last = r.At
			}
			if last.Sub(aiotest.Epoch) < (pages-3)*delay {
				t.Errorf("the last page was requested at %v", last.Sub(aiotest.Epoch))
			}
		})
	}
}

// TestBytesAreNoOutage: while a body still comes, be it slowly, the network is up, and hosts that
// hang are to blame for it.
func TestBytesAreNoOutage(t *testing.T) {
	t.Parallel()
	const hosts = 8
	w := crawltest.Web{"http://slow.test/": "drip"}
	o := weft.Options{Seeds: []string{"http://slow.test/"}, HTTP: weft.HTTP{FirstByteTimeout: 10 * time.Second, Timeout: 2 * time.Minute}}
	for i := range hosts {
		home := fmt.Sprintf("http://h%d.test/", i)
		w[home], w[home+"hang"] = crawltest.Links("/hang"), "stall"
		o.Seeds = append(o.Seeds, home)
	}
	_, sum, seen := w.Crawl(t, o)
	tries := 0
	for _, u := range seen.URLs() {
		if strings.HasSuffix(u, "/hang") {
			tries++
		}
	}
	if sum.Pages != hosts+1 || tries != 3*hosts {
		t.Errorf("%d pages, expected %d; %d tries at %d pages that hang, expected 3 each", sum.Pages, hosts+1, tries, hosts)
	}
}

// TestNoSuchProxy: a crawl whose proxy has no address ends at once, says so, and keeps its URLs for
// the next run. That is an error of whoever has typed the name.
func TestNoSuchProxy(t *testing.T) {
	proxy, err := httpclient.ParseProxy("http://porxy.test:3128")
	if err != nil {
		t.Fatal(err)
	}
	w := crawltest.Web{"http://a.test/": "a page"}
	loop := aio.NewLoop(aio.Options{Clock: aiotest.NewClock(), Network: w.Network(t)})
	c, err := weft.New(weft.Options{Seeds: []string{"http://a.test/"}, HTTP: weft.HTTP{Proxy: func(string, string) *httpclient.Proxy { return proxy }}, Job: filepath.Join(t.TempDir(), "job")})
	if err != nil {
		t.Fatal(err)
	}
	var sum weft.Summary
	err = loop.Run(t.Context(), func(task *aio.Task) (err error) {
		sum, err = c.RunOn(task)
		return err
	})
	if text := "the proxy http://porxy.test:3128"; err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, expected an error of %s", err, text)
	}
	if sum.Elapsed > 5*time.Second || sum.Finished {
		t.Errorf("the crawl took %v, and is finished: %t", sum.Elapsed, sum.Finished)
	}
}

// TestNoInternet: a crawl of a site on a private network ends soon, though the Internet that its
// pages link to cannot be reached.
func TestNoInternet(t *testing.T) {
	const links = 20
	w, names := crawltest.Web{}, []string{"a.test"}
	var hrefs []string
	for i := range links {
		names = append(names, fmt.Sprintf("h%02d.test", i))
		hrefs = append(hrefs, fmt.Sprintf("http://h%02d.test/", i))
	}
	w["http://10.1.2.3/"] = crawltest.Links(hrefs...)
	offline := func(_ time.Duration, to netip.Addr) syscall.Errno {
		if to.IsPrivate() {
			return 0
		}
		return syscall.ENETUNREACH
	}
	_, sum, _ := under(t, w, offline, names, weft.Options{Seeds: []string{"http://10.1.2.3/"}, Reach: weft.Reach{Scope: weft.ScopeAny}})
	if sum.Pages != 1 || sum.Errors["dns"].URLs != links || sum.Elapsed > 2*time.Minute {
		t.Errorf("%d pages, errors %v, in %v", sum.Pages, sum.Errors, sum.Elapsed)
	}
}

// TestGivenUp: a host that stops responding, that is overloaded for good, or that asks for an hour
// between requests is given up after GiveUp, at once if it asks for more than that, and the summary
// lists it. Another is not affected.
func TestGivenUp(t *testing.T) {
	t.Parallel()
	const pages = 1000
	const half = 30 * time.Minute
	for _, c := range []struct {
		name, robots, page string
		down               syscall.Errno
		noRobots           bool
		patience           time.Duration
		reason             string
		from, to           time.Duration // of the crawl
	}{
		{name: "down", down: syscall.ECONNREFUSED, page: "a page", patience: half, reason: "no response for 30m0s", from: half, to: 2 * half},
		{name: "hangs", down: syscall.EINPROGRESS, page: "a page", patience: half, reason: "no response for 3", from: half, to: 2 * half},
		{name: "hangs, no robots", down: syscall.EINPROGRESS, noRobots: true, page: "a page", patience: half, reason: "no response for 3", from: half, to: 2 * half},
		{name: "503", page: "503 60", patience: half, reason: "every response for 3", from: half, to: 2 * half},
		{name: "429", page: "429", patience: half, reason: "every response for 3", from: half, to: 2 * half},
		{name: "503 for an hour", page: "503 3600", patience: half, reason: "it asks to be left alone for 1h0m0s", to: half},
		{name: "503 for two hours", page: "503 3600", patience: 3 * half, reason: "every response for 2h", from: 4 * half, to: 5 * half},
		{name: "Crawl-delay", robots: "User-agent: *\nCrawl-delay: 1200", page: "a page", patience: half, reason: "it asks for a Crawl-delay of 20m0s", from: half, to: 2 * half},
		{name: "long Crawl-delay", robots: "User-agent: *\nCrawl-delay: 3600", patience: half, reason: "it asks for a Crawl-delay of 1h0m0s", to: half},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := crawltest.Web{"http://a.test/": "a page"}
			if c.page != "" {
				w = flat(pages)
			}
			for i := range len(w) - 1 {
				w[fmt.Sprintf("http://a.test/%d", i)] = c.page
			}
			w["http://a.test/robots.txt"] = c.robots
			w["http://b.test/"] = crawltest.Links("/1", "/2", "/3")
			w["http://b.test/1"], w["http://b.test/2"], w["http://b.test/3"] = "a page", "a page", "a page"
			urls := len(w) - 1
			down := func(at time.Duration, to netip.Addr) syscall.Errno {
				if to == address(0) && at > 2*time.Second {
					return c.down
				}
				return 0
			}
			o := weft.Options{Seeds: []string{"http://a.test/", "http://b.test/"}, Pace: weft.Pace{GiveUp: c.patience}, Reach: weft.Reach{NoRobots: c.noRobots}}
			got, sum, _ := under(t, w, down, []string{"a.test", "b.test"}, o)
			if len(sum.GivenUp) != 1 || sum.GivenUp[0].Origin != "http://a.test" || !strings.HasPrefix(sum.GivenUp[0].Reason, c.reason) {
				t.Errorf("given up: %+v, expected http://a.test, %s", sum.GivenUp, c.reason)
			}
			if len(got) != urls || sum.Elapsed < c.from || sum.Elapsed > c.to {
				t.Errorf("%d records of %d, after %v", len(got), urls, sum.Elapsed)
			}
			if got["http://b.test/3"].Status != 200 {
				t.Errorf("the other site: %+v", got["http://b.test/3"])
			}
			for _, b := range sum.Broken {
				if b.ErrorKind == weft.KindOverloaded {
					t.Errorf("a URL of an overloaded host is listed as broken: %+v", b)
				}
			}
		})
	}
}

// TestClosedPorts: pages that link to many ports of a host where nothing responds cost that host
// none of its pages, and little time.
func TestClosedPorts(t *testing.T) {
	t.Parallel()
	pages, ports := long.Or(200, 400), long.Or(150, 300)
	healthy := crawltest.Web{}
	var links []string
	for i := range pages {
		links = append(links, fmt.Sprintf("/%d", i))
		healthy[fmt.Sprintf("http://healthy.test/%d", i)] = "a page"
	}
	healthy["http://healthy.test/"] = crawltest.Links(links...)
	const seed = "http://healthy.test/"
	last := func(seen crawltest.Requests) (at time.Duration) {
		for _, r := range seen {
			if strings.HasPrefix(r.URL, seed) {
				at = max(at, r.End.Sub(aiotest.Epoch))
			}
		}
		return at
	}
	for _, silent := range []bool{false, true} {
		for _, perHost := range []int{0, 1} {
			t.Run(fmt.Sprintf("silent %t, per host %d", silent, perHost), func(t *testing.T) {
				o := weft.Options{Seeds: []string{"http://other.test/", seed}, Reach: weft.Reach{Scope: weft.ScopeAny}, Pace: weft.Pace{PerHost: perHost}}
				w := crawltest.Web{"http://other.test/": "nothing"}
				for u, page := range healthy {
					w[u] = page
				}
				_, _, seen := crawlPorts(t, w, false, o)
				alone := last(seen)
				var closed []string
				for i := range ports {
					closed = append(closed, fmt.Sprintf("http://healthy.test:%d/", 8100+i))
				}
				w["http://other.test/"] = crawltest.Links(closed...)
				o.Seeds = o.Seeds[:1]
				w["http://other.test/"] += crawltest.Links(seed)
				got, sum, seen := crawlPorts(t, w, silent, o)
				if n := len(crawltest.Fetched(got)); n != pages+2 {
					t.Errorf("%d of %d pages, errors %v", n, pages+2, sum.Errors)
				}
				if took := last(seen); took > 3*alone {
					t.Errorf("the site took %v, alone %v", took, alone)
				}
				t.Logf("alone %v, beside %v, all %v", alone, last(seen), sum.Elapsed)
			})
		}
	}
}

// crawlPorts crawls where ports above 8000 are closed, or silent.
func crawlPorts(t *testing.T, w crawltest.Web, silent bool, o weft.Options) (map[string]weft.Record, weft.Summary, crawltest.Requests) {
	t.Helper()
	netw := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: time.Millisecond})
	netw.Host("healthy.test", "10.0.0.1")
	netw.Host("other.test", "10.0.0.2")
	return w.CrawlOver(t, &ported{netw, silent}, o)
}

// ported is a network where ports above 8000 are closed, or silent.
type ported struct {
	aio.Network
	silent bool
}

func (p *ported) Connect(t *aio.Task, to net.Addr) (aio.Conn, error) {
	if tcp, ok := to.(*net.TCPAddr); ok && tcp.Port > 8000 && p.silent {
		if err := t.Sleep(2 * time.Minute); err != nil {
			return nil, err
		}
		return nil, os.NewSyscallError("connect", syscall.ETIMEDOUT)
	}
	return p.Network.Connect(t, to)
}

// TestOverloadOfANeighbor: names that point at the address of a site, and answer 503 there, hold up
// themselves only, for whatever time they ask.
func TestOverloadOfANeighbor(t *testing.T) {
	t.Parallel()
	const pages, neighbors = 400, 50
	for _, c := range []struct{ name, page string }{{"%d.evil.test", "503 3600"}, {"n.evil%d.test", "503 3600"}, {"%d.evil.test", "503"}} {
		t.Run(c.name+" "+c.page, func(t *testing.T) {
			took := func(neighbors int) (at time.Duration) {
				w := flat(pages)
				netw := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: time.Millisecond})
				netw.Host("a.test", "10.0.0.1")
				o := weft.Options{Seeds: []string{"http://a.test/"}, Limits: weft.Limits{MaxTime: time.Minute}}
				for i := range neighbors {
					name := fmt.Sprintf(c.name, i)
					netw.Host(name, "10.0.0.1")
					for page := range 20 {
						url := fmt.Sprintf("http://%s/%d", name, page)
						w[url] = c.page
						o.Seeds = append(o.Seeds, url)
					}
				}
				_, _, seen := w.CrawlOver(t, netw, o)
				n := 0
				for _, r := range seen {
					if strings.HasPrefix(r.URL, "http://a.test/") {
						n++
						at = max(at, r.End.Sub(aiotest.Epoch))
					}
				}
				if n != pages+2 {
					t.Errorf("%d of %d requests to the site", n, pages+2)
				}
				return at
			}
			alone, beside := took(0), took(neighbors)
			if beside > 3*alone {
				t.Errorf("the site took %v, alone %v", beside, alone)
			}
			t.Logf("alone %v, beside %v", alone, beside)
		})
	}
}

// TestFruitlessJobTriesAgain: a job that has fetched no seed is not finished. The same command
// tries again, and reports nothing of the run before.
func TestFruitlessJobTriesAgain(t *testing.T) {
	job := filepath.Join(t.TempDir(), "job")
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + ln.Addr().String() + "/"
	ln.Close()
	o := weft.Options{Seeds: []string{url}, Job: job, Pace: weft.Pace{Retries: -1}}
	run := func() weft.Summary {
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		sum, err := c.Run(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return sum
	}
	if sum := run(); sum.SeedsFetched != 0 || sum.FirstError == "" {
		t.Fatalf("nobody listens: %+v", sum)
	}
	serveAt(t, strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"))
	if sum := run(); sum.Pages != 1 || sum.FirstError != "" || len(sum.Errors) > 0 || sum.Runs != 1 {
		t.Errorf("the server has started: %+v", sum)
	}
	if got := crawltest.Records(t, job); len(got) != 1 || got[url].Status != 200 {
		t.Errorf("records %+v", got)
	}
	o.Seeds = nil
	if sum := run(); sum.Pages != 1 || sum.Runs != 2 {
		t.Errorf("a finished job: %+v", sum)
	}
}

// serveAt serves a page at an address until the test ends.
func serveAt(t *testing.T, addr string) {
	t.Helper()
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "a page")
	})}
	go s.Serve(ln)
	t.Cleanup(func() { s.Close() })
}
