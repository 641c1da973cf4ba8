package weft_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
)

// siblings is a page on each of n hosts.
func siblings(n int, host string) (w web, seeds []string) {
	w = web{}
	for i := range n {
		u := fmt.Sprintf("http://"+host+"/", i)
		w[u] = "a page"
		seeds = append(seeds, u)
	}
	return w, seeds
}

// oneAddress is a network in which all hosts of a web are on one address.
func oneAddress(seeds []string) *aiotest.Net {
	netw := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: time.Millisecond})
	for _, u := range seeds {
		netw.Host(strings.Trim(strings.TrimPrefix(u, "http://"), "/"), "10.0.0.1")
	}
	return netw
}

// TestGroupsShareAPace: hosts of one registrable domain, or on one address, are asked as if they
// were one; judged by what the server saw.
func TestGroupsShareAPace(t *testing.T) {
	for _, c := range []struct {
		name string
		host string
		one  bool // address
		o    weft.Options
		most int
		gap  time.Duration
	}{
		{"hosts that share nothing", "h%d.test", false, weft.Options{}, 20, 0},
		{"a domain, which answers as fast as ever", "h%d.site.test", false, weft.Options{}, 8, 0},
		{"an address, which does", "h%d.test", true, weft.Options{}, 8, 0},
		{"per domain", "h%d.site.test", false, weft.Options{PerDomain: 1}, 1, 0},
		{"per address", "h%d.test", true, weft.Options{PerAddress: 1}, 1, 0},
		{"delay of a domain", "h%d.site.test", false, weft.Options{DomainDelay: 2 * time.Second}, 1, 2 * time.Second},
		{"delay of an address", "h%d.test", true, weft.Options{AddressDelay: 2 * time.Second}, 1, 2 * time.Second},
		{"delay, which holds for both", "h%d.test", true, weft.Options{Delay: time.Second}, 1, time.Second},
		{"delay of a host alone", "h%d.site.test", true, weft.Options{Delay: time.Second, DomainDelay: -1, AddressDelay: -1, PerDomain: 20, PerAddress: 20}, 20, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, seeds := siblings(20, c.host)
			c.o.Seeds, c.o.NoRobots = seeds, true
			var sum weft.Summary
			var seen visits
			if c.one {
				_, sum, seen = w.crawlOver(t, oneAddress(seeds), c.o)
			} else {
				_, sum, seen = w.crawl(t, c.o)
			}
			if sum.Recorded() != 20 || seen.most() > c.most || c.most > 1 && seen.most() < c.most/2 {
				t.Errorf("%d done, %d at once, expected about %d", sum.Recorded(), seen.most(), c.most)
			}
			if gap := seen.gap(); c.gap > 0 && gap < c.gap {
				t.Errorf("%v between two requests, expected %v", gap, c.gap)
			}
		})
	}
}

// wheel is a network whose name service gives the addresses of a name in another order each time.
type wheel struct {
	*aiotest.Net
	rand *rand.Rand
	lone bool // only the first of them
}

func (w *wheel) Lookup(t *aio.Task, host string) ([]net.IP, error) {
	ips, err := w.Net.Lookup(t, host)
	if err != nil {
		return nil, err
	}
	n := w.rand.IntN(len(ips))
	if w.lone {
		return ips[n : n+1], nil
	}
	return slices.Concat(ips[n:], ips[:n]), nil
}

// TestAddressOfLease: of the addresses of a host a request goes to the one whose turn it was,
// whichever the name service gives first by then.
func TestAddressOfLease(t *testing.T) {
	w, seeds := siblings(20, "h%d.test")
	netw := newWheel(false)
	for i := range seeds {
		netw.Host(fmt.Sprintf("h%d.test", i), "10.0.0.1", "10.0.0.2", "10.0.0.3")
	}
	got, _, _ := w.crawlOver(t, netw, weft.Options{Seeds: seeds, NoRobots: true, AddressDelay: time.Hour}) // longer than a name is remembered
	if n := expectGaps(t, got, time.Hour); n != 3 {
		t.Errorf("%d addresses were asked, expected 3", n)
	}
}

// TestAddressesThatRotate: a name that is at another address at each look-up is asked where it was
// found, at the turn of that address.
func TestAddressesThatRotate(t *testing.T) {
	const hosts, pages = 8, 3
	w, seeds := siblings(hosts, "h%d.test")
	for i := range hosts {
		for n := range pages {
			u := fmt.Sprintf("http://h%d.test/%d", i, n)
			w[u], seeds = "a page", append(seeds, u)
		}
	}
	netw := newWheel(true)
	for i := range hosts {
		netw.Host(fmt.Sprintf("h%d.test", i), "10.0.0.1", "10.0.0.2", "10.0.0.3")
	}
	o := weft.Options{Seeds: seeds, NoRobots: true, AddressDelay: 10 * time.Minute} // longer than a name is remembered
	got, _, _ := w.crawlOver(t, netw, o)
	expectGaps(t, got, o.AddressDelay)
	at := make(map[string]string)
	for _, r := range got {
		host := strings.Split(r.URL, "/")[2]
		if was := at[host]; r.Status != 200 || was != "" && was != r.IP {
			t.Errorf("%s: %s at %s, and others of its host at %s", r.URL, r.Error, r.IP, was)
		}
		at[host] = r.IP
	}
	if len(got) != hosts*(pages+1) {
		t.Errorf("%d records", len(got))
	}
}

func newWheel(lone bool) *wheel {
	return &wheel{aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: time.Millisecond}), rand.New(rand.NewPCG(1, 1)), lone}
}

// expectGaps expects so long from the end of an answer to the next request to its address. It
// returns how many addresses were asked.
func expectGaps(t *testing.T, got map[string]weft.Record, delay time.Duration) int {
	t.Helper()
	byIP := make(map[string][]weft.Record)
	for _, r := range got {
		byIP[r.IP] = append(byIP[r.IP], r)
	}
	for ip, all := range byIP {
		slices.SortFunc(all, func(a, b weft.Record) int { return a.Started.Compare(b.Started) })
		for i := range all[1:] {
			// Started is to the millisecond.
			ended := all[i].Started.Add(time.Duration(all[i].TotalMS * float64(time.Millisecond)))
			if gap := all[i+1].Started.Sub(ended); gap < delay-2*time.Millisecond {
				t.Errorf("%s was asked for %s %v after %s", ip, all[i+1].URL, gap, all[i].URL)
			}
		}
	}
	return len(byIP)
}

// TestDeadHost: a host that does not answer costs a few connections, whatever it is asked for, and
// does not hold up others.
func TestDeadHost(t *testing.T) {
	const pages = 1000
	w := web{}
	var links []string
	for i := range pages {
		links = append(links, fmt.Sprintf("http://dead.test:81/%d", i))
	}
	w["http://a.test/"], w["http://dead.test/"] = a(links...), "alive"
	got, sum, seen := w.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Scope: weft.ScopeAny, NoRobots: true})
	tried := 0
	for _, u := range links {
		r := got[u]
		tried += r.Tries
		if r.ErrorKind != "connect" || r.Tries == 0 && !strings.Contains(r.Error, "did not answer 8 times in a row") {
			t.Fatalf("record of %s: %+v", u, r)
		}
	}
	if tried > 10 || sum.Elapsed > time.Minute {
		t.Errorf("%d connections, in %v", tried, sum.Elapsed)
	}
	if len(seen) != 1 {
		t.Errorf("asked for %q", seen.urls())
	}
}

// TestHangingPages: pages that are never answered cost themselves, and not the others of their
// host, though they are the first that it links to.
func TestHangingPages(t *testing.T) {
	const hanging, others = 10, 100
	w := web{}
	var links []string
	for i := range hanging + others {
		u := fmt.Sprintf("http://a.test/%d", i)
		links, w[u] = append(links, u), "a page"
		if i < hanging {
			w[u] = "stall"
		}
	}
	w["http://a.test/"] = a(links...)
	got, sum, _ := w.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}})
	for i, u := range links {
		if r := got[u]; i < hanging && (r.ErrorKind != "timeout" || r.Tries != 3) || i >= hanging && r.Status != 200 {
			t.Errorf("record of %s: %+v", u, r)
		}
	}
	if sum.Elapsed > 30*time.Minute {
		t.Errorf("it took %v", sum.Elapsed)
	}
}

// TestStallingHosts: hosts that never answer hardly slow down the others, even if these are far more than
// requests may be under way, as one that only waits does not count.
func TestStallingHosts(t *testing.T) {
	for _, c := range []struct {
		name               string
		quick, slow, pages int
		concurrency        int
		most               float64 // times as long as without them
	}{
		{"ten, by number", 1000, 10, 50, 64, 2},
		{"a hundred", 1000, 100, 10, 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := web{}
			var seeds, links []string
			for i := range c.slow {
				for j := range c.pages {
					links = append(links, fmt.Sprintf("http://slow%d.test/%d", i, j))
				}
			}
			for i := range c.quick {
				u := fmt.Sprintf("http://q%d.test/", i)
				w[u] = "a page"
				seeds = append(seeds, u)
			}
			o := weft.Options{Seeds: seeds, NoRobots: true, Concurrency: c.concurrency, Scope: weft.ScopeAny, Timeout: 30 * time.Second, Retries: -1}
			_, _, alone := w.crawl(t, o)
			for _, u := range links {
				w[u] = "stall"
			}
			o.Seeds = append(links, seeds...)
			_, sum, beside := w.crawl(t, o)
			end := func(v visits) (n int, last time.Duration) {
				for _, x := range v {
					if strings.HasPrefix(x.url, "http://q") {
						n++
						last = max(last, x.end.Sub(v[0].at))
					}
				}
				return n, last
			}
			_, was := end(alone)
			n, is := end(beside)
			if is.Seconds() > was.Seconds()*c.most || n != c.quick {
				t.Errorf("quick hosts took %v alone and %v beside those that stall; %d were asked", was, is, n)
			}
			t.Logf("quick hosts: %v alone, %v beside; all in %v", was, is, sum.Elapsed)
		})
	}
}
