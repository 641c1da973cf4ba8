package engine_test

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
	"github.com/weftcrawl/weft/internal/crawltest"
)

// siblings returns a web with one page on each of n hosts.
func siblings(n int, host string) (w crawltest.Web, seeds []string) {
	w = crawltest.Web{}
	for i := range n {
		u := fmt.Sprintf("http://"+host+"/", i)
		w[u] = "a page"
		seeds = append(seeds, u)
	}
	return w, seeds
}

// oneAddress returns a network in which all hosts share one address.
func oneAddress(seeds []string) *aiotest.Net {
	netw := aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: time.Millisecond})
	for _, u := range seeds {
		netw.Host(strings.Trim(strings.TrimPrefix(u, "http://"), "/"), "10.0.0.1")
	}
	return netw
}

// TestGroupsShareAPace checks, by what the server sees, that hosts of one registrable domain or on
// one address share a pace.
func TestGroupsShareAPace(t *testing.T) {
	for _, c := range []struct {
		name string
		host string
		one  bool // all hosts are on one address
		o    weft.Options
		most int
		gap  time.Duration
	}{
		{"hosts that share nothing", "h%d.test", false, weft.Options{}, 20, 0},
		{"one domain, constant response time", "h%d.site.test", false, weft.Options{}, 8, 0},
		{"one address, constant response time", "h%d.test", true, weft.Options{}, 8, 0},
		{"per domain", "h%d.site.test", false, weft.Options{Pace: weft.Pace{PerDomain: 1}}, 1, 0},
		{"per address", "h%d.test", true, weft.Options{Pace: weft.Pace{PerAddress: 1}}, 1, 0},
		{"delay of a domain", "h%d.site.test", false, weft.Options{Pace: weft.Pace{DomainDelay: 2 * time.Second}}, 1, 2 * time.Second},
		{"delay of an address", "h%d.test", true, weft.Options{Pace: weft.Pace{AddressDelay: 2 * time.Second}}, 1, 2 * time.Second},
		{"delay, which applies to the address", "h%d.test", true, weft.Options{Pace: weft.Pace{Delay: time.Second}}, 1, time.Second},
		{"delay of the host alone", "h%d.site.test", true, weft.Options{Pace: weft.Pace{Delay: time.Second, DomainDelay: -1, AddressDelay: -1, PerDomain: 20, PerAddress: 20}}, 20, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, seeds := siblings(20, c.host)
			c.o.Seeds, c.o.Reach.NoRobots = seeds, true
			var sum weft.Summary
			var seen crawltest.Requests
			if c.one {
				_, sum, seen = w.CrawlOver(t, oneAddress(seeds), c.o)
			} else {
				_, sum, seen = w.Crawl(t, c.o)
			}
			if sum.Recorded() != 20 || seen.Most() > c.most || c.most > 1 && seen.Most() < c.most/2 {
				t.Errorf("%d URLs done, %d requests at once, expected about %d", sum.Recorded(), seen.Most(), c.most)
			}
			if gap := seen.Gap(); c.gap > 0 && gap < c.gap {
				t.Errorf("%v between two requests, expected at least %v", gap, c.gap)
			}
		})
	}
}

// rotatingNet is a network whose name service rotates the addresses of a name at each lookup.
type rotatingNet struct {
	*aiotest.Net
	rand   *rand.Rand
	single bool // answer with one address only
}

func (w *rotatingNet) Lookup(t *aio.Task, host string) ([]net.IP, error) {
	ips, err := w.Net.Lookup(t, host)
	if err != nil {
		return nil, err
	}
	n := w.rand.IntN(len(ips))
	if w.single {
		return ips[n : n+1], nil
	}
	return slices.Concat(ips[n:], ips[:n]), nil
}

// TestAddressOfLease checks that a request goes to the address that its lease was granted for, even
// if the name service has since rotated the addresses.
func TestAddressOfLease(t *testing.T) {
	w, seeds := siblings(20, "h%d.test")
	netw := newRotatingNet(false)
	for i := range seeds {
		netw.Host(fmt.Sprintf("h%d.test", i), "10.0.0.1", "10.0.0.2", "10.0.0.3")
	}
	// Longer than a lookup is cached.
	got, _, _ := w.CrawlOver(t, netw, weft.Options{Seeds: seeds, Reach: weft.Reach{NoRobots: true}, Pace: weft.Pace{AddressDelay: time.Hour}})
	if n := expectGaps(t, got, time.Hour); n != 3 {
		t.Errorf("requests went to %d addresses, expected 3", n)
	}
}

// TestAddressesThatRotate checks that a host whose address differs at each lookup keeps the address
// that it was first found at, and that address's pace.
func TestAddressesThatRotate(t *testing.T) {
	const hosts, pages = 8, 3
	w, seeds := siblings(hosts, "h%d.test")
	for i := range hosts {
		for n := range pages {
			u := fmt.Sprintf("http://h%d.test/%d", i, n)
			w[u], seeds = "a page", append(seeds, u)
		}
	}
	netw := newRotatingNet(true)
	for i := range hosts {
		netw.Host(fmt.Sprintf("h%d.test", i), "10.0.0.1", "10.0.0.2", "10.0.0.3")
	}
	// Longer than a lookup is cached.
	o := weft.Options{Seeds: seeds, Reach: weft.Reach{NoRobots: true}, Pace: weft.Pace{AddressDelay: 10 * time.Minute}}
	got, _, _ := w.CrawlOver(t, netw, o)
	expectGaps(t, got, o.Pace.AddressDelay)
	at := make(map[string]string)
	for _, r := range got {
		host := strings.Split(r.URL, "/")[2]
		if was := at[host]; r.Status != 200 || was != "" && was != r.IP {
			t.Errorf("%s: error %q, address %s, but other pages of its host came from %s", r.URL, r.Error, r.IP, was)
		}
		at[host] = r.IP
	}
	if len(got) != hosts*(pages+1) {
		t.Errorf("%d records, expected %d", len(got), hosts*(pages+1))
	}
}

func newRotatingNet(single bool) *rotatingNet {
	return &rotatingNet{aiotest.NewNet(aiotest.NetOptions{Seed: 1, Latency: time.Millisecond}), rand.New(rand.NewPCG(1, 1)), single}
}

// expectGaps expects at least delay between the end of a response and the next request to the same
// address. It returns the number of addresses.
func expectGaps(t *testing.T, got map[string]weft.Record, delay time.Duration) int {
	t.Helper()
	byIP := make(map[string][]weft.Record)
	for _, r := range got {
		byIP[r.IP] = append(byIP[r.IP], r)
	}
	for ip, all := range byIP {
		slices.SortFunc(all, func(a, b weft.Record) int { return a.Started.Compare(b.Started) })
		for i := range all[1:] {
			// Started has a resolution of one millisecond.
			ended := all[i].Started.Add(time.Duration(all[i].TotalMS * float64(time.Millisecond)))
			if gap := all[i+1].Started.Sub(ended); gap < delay-2*time.Millisecond {
				t.Errorf("address %s: request for %s %v after %s", ip, all[i+1].URL, gap, all[i].URL)
			}
		}
	}
	return len(byIP)
}

// TestDeadHost checks that a host that does not respond costs only a few connections, however many
// URLs it has, and does not delay other hosts.
func TestDeadHost(t *testing.T) {
	const pages = 1000
	w := crawltest.Web{}
	var links []string
	for i := range pages {
		links = append(links, fmt.Sprintf("http://dead.test:81/%d", i))
	}
	w["http://a.test/"], w["http://dead.test/"] = crawltest.Links(links...), "alive"
	got, sum, seen := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Scope: weft.ScopeAny, NoRobots: true}})
	tried := 0
	for _, u := range links {
		r := got[u]
		tried += r.Tries
		if r.ErrorKind != "connect" || r.Tries == 0 && !strings.Contains(r.Error, "no response 8 times in a row") {
			t.Fatalf("record of %s: %+v", u, r)
		}
	}
	if tried > 10 || sum.Elapsed > time.Minute {
		t.Errorf("%d connections in %v", tried, sum.Elapsed)
	}
	if len(seen) != 1 {
		t.Errorf("requested %q, expected one URL", seen.URLs())
	}
}

// TestHangingPages checks that pages whose requests get no response fail alone: the other pages of
// their host are fetched, though they are linked later.
func TestHangingPages(t *testing.T) {
	const hanging, others = 10, 100
	w := crawltest.Web{}
	var links []string
	for i := range hanging + others {
		u := fmt.Sprintf("http://a.test/%d", i)
		links, w[u] = append(links, u), "a page"
		if i < hanging {
			w[u] = "stall"
		}
	}
	w["http://a.test/"] = crawltest.Links(links...)
	got, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}})
	for i, u := range links {
		if r := got[u]; i < hanging && (r.ErrorKind != "timeout" || r.Tries != 3) || i >= hanging && r.Status != 200 {
			t.Errorf("record of %s: %+v", u, r)
		}
	}
	if sum.Elapsed > 30*time.Minute {
		t.Errorf("the crawl took %v", sum.Elapsed)
	}
}

// TestStallingHosts checks that hosts that never respond hardly slow down the others, even with far
// more hosts than requests may be in flight, because a request that only waits does not count.
func TestStallingHosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name               string
		quick, slow, pages int
		concurrency        int
		most               float64 // permitted slowdown, as a factor
	}{
		{"ten, limited concurrency", 400, 10, 50, 64, 2},
		{"a hundred, default concurrency", 1000, 100, 10, 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := crawltest.Web{}
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
			o := weft.Options{Seeds: seeds, Reach: weft.Reach{NoRobots: true, Scope: weft.ScopeAny}, Pace: weft.Pace{Concurrency: c.concurrency, Retries: -1}, HTTP: weft.HTTP{Timeout: 30 * time.Second}}
			_, _, alone := w.Crawl(t, o)
			for _, u := range links {
				w[u] = "stall"
			}
			o.Seeds = append(links, seeds...)
			_, sum, together := w.Crawl(t, o)
			end := func(v crawltest.Requests) (n int, last time.Duration) {
				for _, x := range v {
					if strings.HasPrefix(x.URL, "http://q") {
						n++
						last = max(last, x.End.Sub(v[0].At))
					}
				}
				return n, last
			}
			_, was := end(alone)
			n, is := end(together)
			if is.Seconds() > was.Seconds()*c.most || n != c.quick {
				t.Errorf("quick hosts took %v alone and %v with stalling hosts; %d of them were fetched", was, is, n)
			}
			t.Logf("quick hosts: %v alone, %v with stalling hosts; all hosts in %v", was, is, sum.Elapsed)
		})
	}
}
