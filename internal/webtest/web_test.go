package webtest_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/golden"
	"github.com/weftcrawl/weft/internal/webtest"
)

func newWeb(tb testing.TB, cfg webtest.Config) *webtest.Web {
	tb.Helper()
	w, err := webtest.New(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return w
}

var everywhere = webtest.Policy{MaxRedirects: 10, Retries: 2, Scope: webtest.Anywhere, Elements: allElements}

// split returns the host and target of a URL.
func split(url string) (host, target string) {
	rest := strings.TrimPrefix(url, "http://")
	i := strings.IndexByte(rest, '/')
	return rest[:i], rest[i:]
}

// TestSameSeed: the same configuration gives the same web, byte by byte, and another seed another
// one.
func TestSameSeed(t *testing.T) {
	cfg := webtest.Config{Seed: 7, Hosts: 20, Pages: 10, Traps: true, Latency: time.Second}
	a, b := newWeb(t, cfg), newWeb(t, cfg)
	cfg.Seed = 8
	other := newWeb(t, cfg)
	truth := maps.Collect(a.Truth(everywhere))
	if !maps.Equal(truth, maps.Collect(b.Truth(everywhere))) {
		t.Error("two truths")
	}
	differ := 0
	for url := range truth {
		host, target := split(url)
		if x, y := a.Response(host, target, 0), b.Response(host, target, 0); !reflect.DeepEqual(x, y) {
			t.Errorf("%s: two responses: %+v, %+v", url, x, y)
		} else if !reflect.DeepEqual(x, other.Response(host, target, 0)) {
			differ++
		}
	}
	if differ < len(truth)/2 {
		t.Errorf("%d of %d URLs are different with another seed", differ, len(truth))
	}
}

// TestGolden pins a web of three hosts: the fate of each URL, a page and a robots.txt. A change to
// it changes all recorded figures.
func TestGolden(t *testing.T) {
	w := newWeb(t, webtest.Config{Seed: 1, Hosts: 3, Pages: 3, Links: 2, PageBytes: 1, Traps: true})
	p := everywhere
	p.Robots, p.Agent = true, "weft"
	var b bytes.Buffer
	truth := maps.Collect(w.Truth(p))
	for _, url := range slices.Sorted(maps.Keys(truth)) {
		fmt.Fprintln(&b, url, truth[url].Status, truth[url].Error)
	}
	for _, target := range []string{"/", "/robots.txt"} {
		a := w.Response(w.Name(0), target, 0)
		fmt.Fprintf(&b, "\n%s\n----\n%d\n%s\n\n%s", target, a.Status, strings.Join(a.Header, "\n"), a.Body)
	}
	golden.Equal(t, "testdata/web.golden", b.String())
}

// TestMillionHosts: a web costs nothing until it is used.
func TestMillionHosts(t *testing.T) {
	w := newWeb(t, webtest.Config{Seed: 1, Hosts: 1_000_000, Pages: 10})
	if n := testing.AllocsPerRun(1, func() { newWeb(t, w.Config()) }); n > 100 {
		t.Errorf("%v allocations to make it", n)
	}
	at, sites := make(map[netip.Addr]int), make(map[string]int)
	dead, pages := 0, 0
	const every = 10
	for i := 0; i < w.Hosts(); i += every {
		if got, ok := w.Index(strings.ToUpper(w.Name(i))); !ok || got != i {
			t.Fatalf("host %d is named %s, which is host %d, %v", i, w.Name(i), got, ok)
		}
		addr, ok := w.Addr(i)
		if ok == w.Dead(i) || ok && (addr.As4()[0] != 127 || addr.As4()[1] == 0) {
			t.Fatalf("host %d: address %v, %v, dead %v", i, addr, ok, w.Dead(i))
		}
		if !ok {
			dead++
		}
		at[addr]++
		sites[w.Site(i)]++
		pages += w.Pages(i)
	}
	n := w.Hosts() / every
	if dead < n/100 || dead > n/25 {
		t.Errorf("%d of %d hosts are dead, expected 2 %%", dead, n)
	}
	if pages < 8*n || pages > 12*n {
		t.Errorf("%d pages on %d hosts, expected 10 on each", pages, n)
	}
	delete(at, netip.Addr{})
	shared, most := 0, 0
	for _, hosts := range at {
		if most = max(most, hosts); hosts > 1 {
			shared += hosts
		}
	}
	if shared < n/5 || shared > n*2/5 || most < 10 || most > 60 {
		t.Errorf("%d of every tenth of %d hosts share an address, %d at most; expected 30 %% and about 20", shared, n, most)
	}
}

// TestSites: some hosts share their registrable domain.
func TestSites(t *testing.T) {
	w := newWeb(t, webtest.Config{Hosts: 4000})
	hosts := make(map[string]int)
	for i := range w.Hosts() {
		if w.Name(i) != w.Name(i)[:8]+w.Site(i) {
			t.Fatalf("host %d is %s, in %s", i, w.Name(i), w.Site(i))
		}
		hosts[w.Site(i)]++
	}
	sizes := make(map[int]int)
	for _, n := range hosts {
		sizes[n]++
	}
	if len(sizes) != 2 || sizes[4] < 150 || sizes[4] > 250 {
		t.Errorf("domains by number of hosts: %v, expected about 200 with 4", sizes)
	}
}

func TestConfig(t *testing.T) {
	for _, tt := range []struct {
		cfg  webtest.Config
		want string
	}{
		{webtest.Config{Hosts: -1}, "webtest: -1 hosts, expected 1 to 10000000"},
		{webtest.Config{Hosts: 20_000_000}, "webtest: 20000000 hosts, expected 1 to 10000000"},
		{webtest.Config{Port: 70_000}, "webtest: 70000 port, expected 1 to 65535"},
		{webtest.Config{Links: 10_001}, "webtest: 10001 links of a page, expected at most 10,000"},
		{webtest.Config{Latency: -1}, "webtest: latency of -1ns, expected a positive time"},
		{webtest.Config{Hosts: 2, Host: "x"}, `webtest: the name "x" for 2 hosts, expected one host`},
		{webtest.Config{Rates: webtest.Rates{Slow: 1.5}}, "webtest: a rate of 1.5, expected at most 1"},
	} {
		if _, err := webtest.New(tt.cfg); err == nil || err.Error() != tt.want {
			t.Errorf("%+v: %v, expected %s", tt.cfg, err, tt.want)
		}
	}
	if r := newWeb(t, webtest.Config{Rates: webtest.Rates{Slow: -1, Loop: 0.5}}).Config().Rates; r.Slow != 0 || r.Loop != 0.5 || r.Copy != 0.05 {
		t.Errorf("rates: %+v", r)
	}
	if r := newWeb(t, webtest.Config{Clean: true, Rates: webtest.Rates{Loop: 0.5}}).Config().Rates; r != (webtest.Rates{Loop: 0.5}) {
		t.Errorf("clean rates: %+v", r)
	}
}

// TestEverything: the home page of the first host leads to one of each kind.
func TestEverything(t *testing.T) {
	w := newWeb(t, webtest.Config{Seed: 3, Pages: 400})
	p := everywhere
	p.Robots, p.Agent = true, "weft"
	fates := make(map[string]int)
	for _, f := range w.Truth(p) {
		fates[fmt.Sprint(f.Status, f.Error)]++
	}
	for _, want := range []string{"200", "301", "302", "303", "307", "308", "404", "410", "500", "501", "502", "504",
		"0robots", "0stall", "0early-end", "0protocol", "0encoding"} {
		if fates[want] == 0 {
			t.Errorf("no %s in %v", want, fates)
		}
	}
}

// TestReach: without drawn links, every living host and every page is reachable, around the hosts
// that cannot be crawled.
func TestReach(t *testing.T) {
	w := newWeb(t, webtest.Config{Hosts: 500, Pages: 5, Links: -1, Clean: true, Rates: webtest.Rates{DeadHost: 0.2, ClosedRobots: 0.2}})
	p := webtest.Policy{Scope: webtest.Anywhere, Robots: true}
	living := make(map[string]int)
	closed := 0
	for url, fate := range w.Truth(p) {
		host, _ := split(url)
		if fate.Status == 200 {
			living[host]++
		} else if fate.Error == webtest.ErrorRobots {
			closed++
		}
	}
	for i := range w.Hosts() {
		if pages := living[w.Name(i)]; pages != 0 && pages != w.Pages(i) {
			t.Errorf("host %d: %d of %d pages", i, pages, w.Pages(i))
		}
		if !w.Dead(i) && living[w.Name(i)] == 0 {
			closed--
		}
	}
	if closed != 0 || len(living) < 250 || len(living) > 350 {
		t.Errorf("%d hosts are reached, about 320 expected; %d closed ones more than there are", len(living), closed)
	}
}

// TestCopies: a copy has the bytes of its page.
func TestCopies(t *testing.T) {
	w := newWeb(t, webtest.Config{Pages: 30, Rates: webtest.Rates{Copy: 0.5, Flaky: -1}})
	n := 0
	for url, fate := range w.Truth(everywhere) {
		host, target := split(url)
		if i := strings.Index(target, "copy="); i >= 0 && fate.Status == 200 {
			n++
			if !bytes.Equal(w.Response(host, target, 0).Body, w.Response(host, target[:i-1], 0).Body) {
				t.Errorf("%s is no copy", url)
			}
		}
	}
	if n < 10 {
		t.Errorf("%d copies", n)
	}
}

// TestTrap: the calendar is endless, and the truth leaves it out.
func TestTrap(t *testing.T) {
	w := newWeb(t, webtest.Config{Pages: 3, Traps: true})
	host := w.Name(0)
	if body := w.Response(host, "/", 0).Body; !bytes.Contains(body, []byte("calendar")) {
		t.Errorf("no way into the trap: %s", body)
	}
	for url := range w.Truth(everywhere) {
		if strings.Contains(url, "calendar") {
			t.Errorf("%s in truth", url)
		}
	}
	for _, day := range []int{1, 1000, 2_000_000_000} {
		target := fmt.Sprintf("/calendar?day=%d", day)
		a := w.Response(host, target, 0)
		if next := fmt.Sprintf("day=%d", day+1); !w.Trap(host, target) || a.Status != 200 || !bytes.Contains(a.Body, []byte(next)) && !bytes.Contains(a.Body, []byte(strings.Replace(next, "=", "&#61;", 1))) {
			t.Errorf("%s: %v, trap %v, no %s in %s", target, a.Status, w.Trap(host, target), next, a.Body)
		}
	}
	if w.Trap(host, "/") {
		t.Error("the home page is a trap")
	}
	if a := newWeb(t, webtest.Config{}).Response(host, "/calendar?day=1", 0); a.Status != 404 {
		t.Errorf("a calendar without Traps: %d", a.Status)
	}
}

// TestUnknown: other targets are 404, unknown hosts 421.
func TestUnknown(t *testing.T) {
	w := newWeb(t, webtest.Config{Pages: 3})
	for _, tt := range []struct {
		host, target string
		want         int
	}{
		{w.Name(0), "/", 200},
		{w.Name(0), "/d1/p1.html", 200},
		{w.Name(0), "/d2/p1.html", 404}, // another folder
		{w.Name(0), "/d3/p3.html", 404}, // beyond the last
		{w.Name(0), "/d1/p01.html", 404},
		{w.Name(0), "/go/7/12", 404}, // beyond the end of the chain
		{w.Name(0), "", 404},
		{w.Name(0), "*", 404},
		{"x.test", "/", 421},
		{"", "/", 421},
	} {
		if got := w.Response(tt.host, tt.target, 0).Status; got != tt.want {
			t.Errorf("%s %s: %d, expected %d", tt.host, tt.target, got, tt.want)
		}
	}
}

func BenchmarkAnswer(b *testing.B) {
	w := newWeb(b, webtest.Config{Hosts: 1_000_000, Pages: 10})
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		w.Response(w.Name(i%w.Hosts()), "/", 0)
	}
}

func BenchmarkTruth(b *testing.B) {
	w := newWeb(b, webtest.Config{Hosts: 10_000, Pages: 5})
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n = 0
		for range w.Truth(everywhere) {
			n++
		}
	}
	b.ReportMetric(float64(n), "URLs/op")
}

// FuzzResponse: every target has a response, and always the same.
func FuzzResponse(f *testing.F) {
	w := newWeb(f, webtest.Config{Hosts: 10, Pages: 20, PageBytes: 100, Traps: true})
	for url := range w.Truth(everywhere) {
		_, target := split(url)
		f.Add(w.Name(0), target, 0)
	}
	f.Add("h999999999999.s0.test", "/d99999999999999999999/p9.html?copy=-1", -1)
	f.Fuzz(func(t *testing.T, host, target string, before int) {
		a := w.Response(host, target, before)
		if a.Status < 200 || a.Status > 599 || !reflect.DeepEqual(a, w.Response(host, target, before)) {
			t.Errorf("%q %q: %+v", host, target, a)
		}
	})
}
