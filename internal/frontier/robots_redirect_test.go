package frontier_test

import (
	"fmt"
	"maps"
	"net/netip"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
)

// asks expects one lease: of the robots.txt of a host, at a URL.
func asks(t *testing.T, f *frontier.Frontier, now time.Duration, host, where string) frontier.URL {
	t.Helper()
	leases := f.Lease(at(now), 9)
	if len(leases) != 1 || !leases[0].Robots || short(leases[0]) != host+"/robots.txt" || short(frontier.URL{URL: leases[0].Where()}) != where {
		t.Fatalf("%v: leased %v, expected the robots.txt of %s at %s", now, leases, host, where)
	}
	return leases[0]
}

// TestRedirectsTakeTheirTurn checks that robots.txt files that are all at one host are leased
// there one by one, under its delay, in turn with its own URLs, and that each response counts for
// its host.
func TestRedirectsTakeTheirTurn(t *testing.T) {
	f := with(t, frontier.Config{Robots: true, Delay: time.Second}, "a/1 b/1 c/1")
	for _, lease := range f.Lease(at(0), 9) {
		f.Robots().Redirected(at(0), lease, frontier.Result{}, u(t, "hoster/rules").URL)
	}
	if f.View().Over() {
		t.Fatal("the crawl is over, and three hosts wait for their robots.txt")
	}
	f.Robots().Set(at(0), asks(t, f, 0, "a", "hoster/rules"), rulesOf("Disallow: /"), frontier.Result{})
	add(t, f, "hoster/1")
	expectNext(t, f, time.Second)
	f.Robots().Set(at(time.Second), asks(t, f, time.Second, "b", "hoster/rules"), rulesOf(""), frontier.Result{})
	if refused := f.Refused().URLs; len(refused) != 1 || short(refused[0].URL) != "a/1" {
		t.Errorf("refused %v", refused)
	}
	f.Done(at(time.Second), expectLease(t, f, time.Second, 9, "b/1")[0], frontier.Result{})
	f.Robots().Set(at(2*time.Second), asks(t, f, 2*time.Second, "hoster", "hoster/robots.txt"), rulesOf(""), frontier.Result{})
	f.Robots().Set(at(3*time.Second), asks(t, f, 3*time.Second, "c", "hoster/rules"), rulesOf(""), frontier.Result{})
	f.Done(at(3*time.Second), expectLease(t, f, 3*time.Second, 9, "c/1")[0], frontier.Result{})
	f.Done(at(4*time.Second), expectLease(t, f, 4*time.Second, 9, "hoster/1")[0], frontier.Result{})
	if !f.View().Over() {
		t.Errorf("%+v", f.View().Stats())
	}
}

// TestRedirectToTheDead checks that robots.txt redirects to a host that does not respond fail,
// without a request once it is dead, and that their hosts have no obtainable robots.txt.
func TestRedirectToTheDead(t *testing.T) {
	f := with(t, frontier.Config{Robots: true, RobotsTries: 1, PerHost: 1}, "a/1 b/1 c/1 d/1 e/1 f/1 g/1 h/1 i/1 j/1")
	for _, lease := range f.Lease(at(0), 99) {
		f.Robots().Redirected(at(0), lease, frontier.Result{}, u(t, "dead/robots.txt").URL)
	}
	asked := 0
	reasons := make(map[string]int)
	for now := at(0); !f.View().Over(); {
		leases := f.Lease(now, 99)
		for _, lease := range leases {
			if asked++; asked == 1 {
				// This is no failure: robots.txt is requested there again.
				f.Postpone(now, lease, frontier.Result{}, now)
				continue
			}
			f.Robots().Failed(now, lease, frontier.Result{Failure: "connect", Reason: "refused"}, "connect", "refused", false)
		}
		for _, r := range f.Refused().URLs {
			reasons[r.Kind+": "+r.Reason]++
		}
		next, ok := f.Next()
		if !ok && !f.View().Over() {
			t.Fatalf("nothing will ever happen: %+v", f.View().Stats())
		}
		if next.After(now) {
			now = next
		}
	}
	want := map[string]int{
		"connect: refused": 8,
		"connect: robots.txt at http://dead.example/robots.txt: no response 8 times in a row: refused": 2,
	}
	if asked != 9 || !maps.Equal(reasons, want) {
		t.Errorf("asked %d times; refused %v", asked, reasons)
	}
}

// TestRedirectIsReported checks where a waiting robots.txt redirect leads, and what holds the
// host there up.
func TestRedirectIsReported(t *testing.T) {
	f := with(t, frontier.Config{Robots: true, RobotsTries: 1, PerHost: 1}, "a/1 b/1 c/1 d/1")
	const name = "http://d.example"
	if _, _, ok := f.View().RobotsRedirect(at(0), name); ok {
		t.Error("reported before there is one")
	}
	for _, lease := range f.Lease(at(0), 9) {
		f.Robots().Redirected(at(0), lease, frontier.Result{}, u(t, "dead/rules").URL)
	}
	for range 3 {
		f.Robots().Failed(at(0), f.Lease(at(0), 9)[0], frontier.Result{Failure: "connect", Reason: "refused"}, "connect", "refused", true)
	}
	to, info, ok := f.View().RobotsRedirect(at(0), name)
	if !ok || to.String() != "http://dead.example/rules" || info.Name != "http://dead.example" || info.Trouble.Failures != 3 || !info.Trouble.Until.Equal(at(time.Second)) || !info.Next.Equal(at(time.Second)) {
		t.Errorf("%t, at %s, %+v, expected that it waits a second, for a host that is parked", ok, to, info)
	}
	asks(t, f, time.Second, "d", "dead/rules")
	if _, _, ok := f.View().RobotsRedirect(at(time.Second), name); ok {
		t.Error("reported as waiting while it is leased")
	}
}

// TestRedirectByAddress checks that the address of the host that a robots.txt redirect leads to
// is looked up first, and that the turn is that address's, too.
func TestRedirectByAddress(t *testing.T) {
	f := with(t, frontier.Config{Robots: true, Resolve: true, Delay: time.Second, AddressDelay: 3 * time.Second}, "a/1")
	f.Addresses().Resolved(at(0), f.Lease(at(0), 9)[0], netip.MustParseAddr("10.0.0.1"))
	lease := asks(t, f, 0, "a", "a/robots.txt")
	f.Robots().Redirected(at(0), lease, frontier.Result{}, u(t, "b/robots.txt").URL)
	leases := f.Lease(at(0), 9)
	if len(leases) != 1 || !leases[0].Resolve || leases[0].URL.Hostname() != "b.example" {
		t.Fatalf("leased %v, expected the address of b", leases)
	}
	f.Addresses().Resolved(at(0), leases[0], netip.MustParseAddr("10.0.0.1"))
	expectNext(t, f, 3*time.Second)
	if lease := asks(t, f, 3*time.Second, "a", "b/robots.txt"); lease.Addr != netip.MustParseAddr("10.0.0.1") {
		t.Errorf("leased for %v", lease.Addr)
	}
}

// TestRedirectIsForgotten checks that a crawl that restarts requests the robots.txt from its host
// anew, and has everything that was pending.
func TestRedirectIsForgotten(t *testing.T) {
	for _, leased := range []bool{false, true} {
		t.Run(fmt.Sprintf("leased %v", leased), func(t *testing.T) {
			cfg := frontier.Config{Robots: true, Delay: time.Second, Heads: 10}
			l := newJournal(t)
			f := frontier.New(cfg)
			f.SetJournal(l)
			add(t, f, "a/1 a/2")
			f.Robots().Redirected(at(0), asks(t, f, 0, "a", "a/robots.txt"), frontier.Result{}, u(t, "b/robots.txt").URL)
			if leased {
				asks(t, f, 0, "a", "b/robots.txt")
			}
			f.NoteOrigins()
			l.commit()
			f = l.restore(cfg, at(0))
			if s := f.View().Stats(); s.Pending != 2 || s.Leased != 0 {
				t.Errorf("%+v", s)
			}
			f.Lease(at(time.Second), 9)
			for _, r := range f.Reads() {
				f.Provide(at(time.Second), l.read(r))
			}
			f.Robots().Set(at(time.Second), asks(t, f, time.Second, "a", "a/robots.txt"), robots.Rules{}, frontier.Result{})
			expectLease(t, f, 2*time.Second, 9, "a/1")
		})
	}
}
