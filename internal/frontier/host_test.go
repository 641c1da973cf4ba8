package frontier_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

func parsed(t *testing.T, url string) frontier.URL {
	t.Helper()
	u, err := weburl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return frontier.URL{URL: u}
}

// TestSchemesShareAPace checks that the origins of a host, on http, https and several ports, are
// one machine to be polite to: delay, hold, concurrency and the limit of URLs count for all
// together.
func TestSchemesShareAPace(t *testing.T) {
	urls := []string{"http://a.example/1", "https://a.example/2", "http://a.example:8080/3", "http://a.example/4"}
	begin := func(cfg frontier.Config) *frontier.Frontier {
		f := frontier.New(cfg)
		for _, url := range urls {
			f.Add(parsed(t, url))
		}
		return f
	}

	f := begin(frontier.Config{Delay: time.Second})
	for i := range urls {
		now := at(time.Duration(i) * 1100 * time.Millisecond) // each answer takes 100 ms
		leases := f.Lease(now, 9)
		if len(leases) != 1 {
			t.Fatalf("delay: %d leases at once", len(leases))
		}
		if more := f.Lease(now.Add(50*time.Millisecond), 9); len(more) != 0 {
			t.Errorf("delay: %s is leased besides %s", more[0].URL, leases[0].URL)
		}
		f.Done(now.Add(100*time.Millisecond), leases[0], frontier.Result{})
		if i < len(urls)-1 {
			expectNext(t, f, time.Duration(i+1)*1100*time.Millisecond)
		}
	}

	f = begin(frontier.Config{PerHost: 2})
	if n := len(f.Lease(at(0), 9)); n != 2 {
		t.Errorf("per host: %d leases at once, want 2", n)
	}

	f = begin(frontier.Config{})
	leases := f.Lease(at(0), 9)
	if len(leases) != 2 {
		t.Errorf("by default %d leases at once, want 2", len(leases))
	}
	f.Done(at(0), leases[0], frontier.Result{Overload: true, RetryAfter: time.Minute})
	f.Done(at(0), leases[1], frontier.Result{})
	if more := f.Lease(at(59*time.Second), 9); len(more) != 0 {
		t.Errorf("hold: %s is asked", more[0].URL)
	}

	f = begin(frontier.Config{LimitPerHost: 2})
	n := 0
	for !f.View().Over() {
		for _, u := range f.Lease(at(0), 1) {
			f.Done(at(0), u, frontier.Result{})
			n++
		}
	}
	if s := f.View().Stats(); n != 2 || s.OverLimit != 2 {
		t.Errorf("limit per host: %d were fetched and %d are over the limit, want 2 and 2", n, s.OverLimit)
	}
}

// TestManyPorts checks that origins on all ports of a host take turns, and that a Crawl-delay of
// one of them holds for all: one machine asks for it.
func TestManyPorts(t *testing.T) {
	const ports = 20_000
	f := frontier.New(frontier.Config{Robots: true, PerHost: 1})
	for i := range ports {
		f.Add(parsed(t, fmt.Sprintf("http://a.example:%d/1", 1000+i)))
		f.Add(parsed(t, fmt.Sprintf("http://a.example:%d/2", 1000+i)))
	}
	now, last := at(0), 0
	for i := range 3 * ports {
		leases := f.Lease(now, 9)
		if len(leases) != 1 || leases[0].Robots != (i < ports) {
			t.Fatalf("lease %d: %v", i, leases)
		}
		u := leases[0]
		switch port := int(u.URL.EffectivePort()); {
		case i%ports > 0 && port != last+1:
			t.Fatalf("lease %d: port %d after %d", i, port, last)
		default:
			last = port
		}
		if u.Robots {
			f.Robots().Set(now, u, robots.Rules{}, frontier.Result{})
		} else {
			f.Done(now, u, frontier.Result{})
		}
	}
	if !f.View().Over() {
		t.Errorf("%+v", f.View().Stats())
	}

	f = frontier.New(frontier.Config{Robots: true})
	f.Add(parsed(t, "http://a.example/1"))
	f.Add(parsed(t, "http://a.example:8080/1"))
	for _, u := range f.Lease(at(0), 2) {
		rules := ""
		if u.URL.EffectivePort() == 8080 {
			rules = "Crawl-delay: 5"
		}
		f.Robots().Set(at(0), u, rulesOf(rules), frontier.Result{})
	}
	expectNext(t, f, 5*time.Second)
	f.Done(at(5*time.Second), f.Lease(at(5*time.Second), 9)[0], frontier.Result{})
	expectNext(t, f, 10*time.Second)
}

// TestRestartKeepsGroups checks that after a restart the delays of a domain and of an address
// count from then.
func TestRestartKeepsGroups(t *testing.T) {
	r := frontier.Restore(frontier.Config{Resolve: true, DomainDelay: 3 * time.Second, AddressDelay: 2 * time.Second})
	f := r.Frontier()
	r.Origin(at(0), frontier.OriginState{Name: "http://a.site.test", Most: 2}, robots.Rules{})
	r.AskedUntil(at(0))
	for _, url := range []string{"http://b.site.test/", "http://b.other.test/", "http://10.0.0.1/"} {
		f.Add(parsed(t, url))
	}
	asked := make(map[string]time.Duration)
	for now := time.Duration(0); !f.View().Over(); now += 100 * time.Millisecond {
		for _, u := range f.Lease(at(now), 9) {
			if u.Resolve {
				f.Addresses().Resolved(at(now), u, netip.MustParseAddr("10.0.0.1"))
				continue
			}
			asked[u.URL.Hostname()] = now
			f.Done(at(now), u, frontier.Result{})
		}
	}
	var times []time.Duration
	for _, at := range asked {
		times = append(times, at)
	}
	slices.Sort(times)
	if len(times) != 3 || times[0] < 2*time.Second || times[1] < times[0]+2*time.Second || times[2] < times[1]+2*time.Second || asked["b.site.test"] < 3*time.Second {
		t.Errorf("asked at %v", asked)
	}
}
