package frontier_test

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
)

// ask makes errands wait, separated by spaces, of pages of another site or not.
func ask(t *testing.T, f *frontier.Frontier, now time.Duration, foreign bool, urls string) {
	t.Helper()
	for _, short := range strings.Fields(urls) {
		u := errand(t, short)
		u.Errand.Foreign = foreign
		f.Errands().Add(at(now), u)
	}
}

// turn leases errands, then so many URLs at most, and ends all at once. It returns what took a
// request, with the robots.txt files.
func turn(f *frontier.Frontier, now time.Duration, most int) string {
	var got []frontier.URL
	for _, u := range append(f.Errands().Lease(at(now), 9, most == 0), f.Lease(at(now), most)...) {
		switch {
		case u.Resolve:
			f.Addresses().Resolved(at(now), u, netip.MustParseAddr("10.0.0.1"))
			continue
		case u.Robots:
			f.Robots().Set(at(now), u, rulesOf(""), frontier.Result{})
		case u.Errand != nil:
			f.Errands().End(at(now), u, frontier.Result{}, time.Time{})
		default:
			f.Done(at(now), u, frontier.Result{})
		}
		got = append(got, u)
	}
	return shorts(got)
}

// expectTurns expects what is leased second by second, as turn returns it.
func expectTurns(t *testing.T, f *frontier.Frontier, from time.Duration, want ...string) {
	t.Helper()
	for i, want := range want {
		if got := turn(f, from+time.Duration(i)*time.Second, 9); got != want {
			t.Errorf("turn %d: %q, expected %q", i, got, want)
		}
	}
}

// TestErrandsOfOtherSites: what pages of other sites ask of a host alternates with what its own
// pages ask for and then its URLs, without a pause. While no URL may be leased, nothing waits.
func TestErrandsOfOtherSites(t *testing.T) {
	f := with(t, frontier.Config{Delay: time.Second}, "a/1 a/2 a/3")
	ask(t, f, 0, true, "a/s1 a/s2 a/s3 a/s4 a/s5")
	expectTurns(t, f, 0, "a/s1", "a/1", "a/s2")
	ask(t, f, 3*time.Second, false, "a/own")
	expectTurns(t, f, 3*time.Second, "a/own")
	for i, want := range []string{"a/s3", "a/s4"} {
		if got := turn(f, time.Duration(4+i)*time.Second, 0); got != want {
			t.Errorf("alone: %q, expected %s", got, want)
		}
	}
	expectTurns(t, f, 6*time.Second, "a/2", "a/s5", "a/3")
}

// TestErrandsOfOtherSitesQueued: a URL of a host that pages of other sites ask for much has its
// turn even if the host is far behind in the line of its domain.
func TestErrandsOfOtherSitesQueued(t *testing.T) {
	f := with(t, frontier.Config{Delay: time.Second}, "")
	for i := range 20 {
		add(t, f, fmt.Sprintf("h%d.site/1", i))
	}
	add(t, f, "cdn.site/1 cdn.site/2")
	ask(t, f, 0, true, "cdn.site/s1 cdn.site/s2 cdn.site/s3")
	expectTurns(t, f, 0, "cdn.site/s1", "cdn.site/1", "cdn.site/s2", "cdn.site/2", "cdn.site/s3", "h0.site/1", "h1.site/1")
}

// TestErrandsOfADomain: pages of another site that ask for names of a domain without end leave
// every other turn of that to its hosts: to what their pages ask for, then to their URLs.
func TestErrandsOfADomain(t *testing.T) {
	f := with(t, frontier.Config{Robots: true, Delay: time.Second}, "www.site/1 www.site/2 www.site/3")
	expectTurns(t, f, 0, "www.site/robots.txt")
	ask(t, f, 0, true, "r1.site/1 r2.site/1 r3.site/1")
	expectTurns(t, f, time.Second, "r1.site/robots.txt", "www.site/1", "r1.site/1", "www.site/2", "r2.site/robots.txt")
	ask(t, f, 5*time.Second, false, "www.site/own")
	expectTurns(t, f, 6*time.Second, "www.site/own", "r2.site/1", "www.site/3", "r3.site/robots.txt", "r3.site/1")
}

// TestErrandsAtAnAddress: pages of a site leave every other turn of its address to the URLs of
// others there, which may be of anybody.
func TestErrandsAtAnAddress(t *testing.T) {
	f := with(t, frontier.Config{Resolve: true, Delay: time.Second}, "a/1 b/1 b/2 c/1")
	expectTurns(t, f, 0, "")
	expectTurns(t, f, 0, "a/1")
	ask(t, f, 0, false, "a/s1 a/s2 a/s3 a/s4 a/s5")
	expectTurns(t, f, time.Second, "a/s1", "b/1", "a/s2", "c/1", "a/s3", "b/2", "a/s4", "a/s5")
}

// TestErrandsInTurn: a page that asks for much of one host does not keep others at its address from
// being rendered.
func TestErrandsInTurn(t *testing.T) {
	f := frontier.New(frontier.Config{Resolve: true, Delay: time.Second})
	ask(t, f, 0, false, "a/s1 a/s2 a/s3 b/s1 b/s2")
	expectTurns(t, f, 0, "", "a/s1", "b/s1", "a/s2", "b/s2", "a/s3")
}

// TestErrandsRateLimit: where a crawl has so many requests a second, errands leave every other one
// to URLs.
func TestErrandsRateLimit(t *testing.T) {
	f := with(t, frontier.Config{RateLimit: 1}, "a/1 b/1 b/2")
	ask(t, f, 0, false, "x/1 x/2 y/1 y/2 z/1")
	expectTurns(t, f, 0, "x/1", "a/1", "y/1", "b/1", "z/1", "b/2", "x/2", "y/2")
}
