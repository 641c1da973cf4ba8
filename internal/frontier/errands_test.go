package frontier_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
)

// errand returns an errand.
func errand(t *testing.T, short string) frontier.URL {
	to := u(t, short)
	to.Errand = new(frontier.Errand)
	return to
}

// run expects an errand to be leased at a time, and ends it.
func run(t *testing.T, f *frontier.Frontier, now time.Duration, want string) {
	t.Helper()
	leases := f.Errands().Lease(at(now), 9, false)
	if shorts(leases) != want || leases[0].Errand == nil {
		t.Fatalf("%v: errands %v, expected %s", now, leases, want)
	}
	f.Errands().End(at(now), leases[0], frontier.Result{}, time.Time{})
}

// expectErrandAt expects the next errand to be due at a time.
func expectErrandAt(t *testing.T, f *frontier.Frontier, want time.Duration) {
	t.Helper()
	if next, ok := f.Errands().Next(); !ok || !next.Equal(at(want)) {
		t.Fatalf("the next errand is due at %v, %t, expected %v", next.Sub(epoch), ok, want)
	}
}

// TestErrands: what a page needs is requested under robots.txt and the delay of its host, before
// the URLs of that, and the crawl is not over before the page is done.
func TestErrands(t *testing.T) {
	f := with(t, frontier.Config{Robots: true, Delay: time.Second}, "a/1 a/2")
	f.Robots().Set(at(0), asks(t, f, 0, "a", "a/robots.txt"), rulesOf("Disallow: /api/secret"), frontier.Result{})
	page := expectLease(t, f, time.Second, 9, "a/1")[0]
	for _, path := range []string{"a/app.js", "a/api/secret", "cdn/style.css"} {
		f.Errands().Add(at(time.Second), errand(t, path))
	}
	leases := f.Errands().Lease(at(time.Second), 9, false)
	if len(leases) != 1 || !leases[0].Robots || short(leases[0]) != "cdn/robots.txt" {
		t.Fatalf("leased %v: expected the robots.txt of cdn, as a has one lease at once", leases)
	}
	f.Robots().Set(at(time.Second), leases[0], rulesOf(""), frontier.Result{})
	f.Errands().Responded(at(time.Second), page, frontier.Result{})
	if info, _ := f.View().Origin(at(time.Second), "http://a.example"); info.Pending != 2 {
		t.Errorf("%d URLs pending of a as the disk has it, expected the page and another", info.Pending)
	}
	expectErrandAt(t, f, 2*time.Second)
	leases = f.Errands().Lease(at(2*time.Second), 9, false)
	if shorts(leases) != "a/app.js cdn/style.css" {
		t.Fatalf("errands %v", leases)
	}
	if info, _ := f.View().Origin(at(2*time.Second), "http://a.example"); info.Pending != 2 || f.View().Stats().Leased != 3 {
		t.Errorf("%d URLs pending of a, %d leased, expected two pages, and a page with two errands", info.Pending, f.View().Stats().Leased)
	}
	if more := f.Lease(at(2*time.Second), 9); len(more) > 0 {
		t.Errorf("leased %v beside an errand", more)
	}
	for _, lease := range leases {
		f.Errands().End(at(2*time.Second), lease, frontier.Result{}, time.Time{})
	}
	if more := f.Errands().Lease(at(3*time.Second), 9, false); len(more) > 0 {
		t.Errorf("leased %v, which robots.txt disallows", more)
	}
	if refused := f.Errands().Refused(); len(refused) != 1 || short(refused[0].URL) != "a/api/secret" || refused[0].Kind != "robots" {
		t.Errorf("refused %v", refused)
	}
	other := expectLease(t, f, 3*time.Second, 9, "a/2")[0]
	f.Done(at(3*time.Second), other, frontier.Result{})
	if f.View().Over() || f.View().Stopped() {
		t.Error("over, and a page is being rendered")
	}
	page.Responded = true
	f.Done(at(4*time.Second), page, frontier.Result{})
	if !f.View().Over() {
		t.Errorf("not over: %+v", f.View().Stats())
	}
}

// TestErrandsBeyondLimit: a page that was leased gets what it needs, though the crawl has its last
// page, or the host.
func TestErrandsBeyondLimit(t *testing.T) {
	f := with(t, frontier.Config{Limit: 1, LimitPerHost: 1}, "a/1 a/2 b/1")
	page := expectLease(t, f, 0, 9, "a/1")[0]
	f.Errands().Responded(at(0), page, frontier.Result{})
	f.Errands().Add(at(0), errand(t, "a/app.js"))
	if f.View().Stopped() {
		t.Error("stopped, and a page is being rendered")
	}
	run(t, f, 0, "a/app.js")
	page.Responded = true
	f.Done(at(0), page, frontier.Result{})
	if !f.View().Stopped() {
		t.Errorf("not stopped: %+v", f.View().Stats())
	}
}

// TestErrandsOfTheDead: what a page wants of a host that does not respond is refused in the end,
// and what it does not want any more is not requested.
func TestErrandsOfTheDead(t *testing.T) {
	f := with(t, frontier.Config{PerHost: 1}, "a/1")
	page := expectLease(t, f, 0, 9, "a/1")[0]
	f.Errands().Responded(at(0), page, frontier.Result{})
	left := errand(t, "dead/left")
	f.Errands().Add(at(0), left)
	f.Errands().Drop(&left)
	for range 50 {
		f.Errands().Add(at(0), errand(t, "dead/1"))
	}
	asked, refused := 0, 0
	for now := at(0); ; {
		for _, lease := range f.Errands().Lease(now, 9, false) {
			if asked++; short(lease) == "dead/left" {
				t.Fatal("leased what was dropped")
			}
			f.Errands().End(now, lease, frontier.Result{Failure: "connect", Reason: "refused", Unreached: true}, time.Time{})
		}
		for _, r := range f.Errands().Refused() {
			if refused++; r.Kind != "connect" {
				t.Errorf("refused: %+v", r)
			}
		}
		next, ok := f.Errands().Next()
		if !ok {
			break
		}
		now = next
	}
	if asked < 3 || asked > 20 || asked+refused != 50 {
		t.Errorf("%d requests to a dead host, %d refused", asked, refused)
	}
	page.Responded = true
	f.Retry(at(time.Hour), page, frontier.Result{}, at(time.Hour))
	expectLease(t, f, time.Hour, 9, "a/1")
}

// TestRenderedOnce: a page that was rendered, and is requested again, is as any other: it may not
// be rendered then.
func TestRenderedOnce(t *testing.T) {
	for name, again := range map[string]func(*frontier.Frontier, frontier.URL){
		"postponed": func(f *frontier.Frontier, page frontier.URL) {
			f.Postpone(at(0), page, frontier.Result{}, at(time.Second))
		},
		"retried": func(f *frontier.Frontier, page frontier.URL) {
			f.Retry(at(0), page, frontier.Result{}, at(time.Second))
		},
	} {
		f := with(t, frontier.Config{}, "a/1 a/2")
		page := expectLease(t, f, 0, 1, "a/1")[0]
		f.Errands().Responded(at(0), page, frontier.Result{})
		page.Responded = true
		again(f, page)
		page = expectLease(t, f, time.Second, 1, "a/1")[0]
		f.Done(at(time.Second), page, frontier.Result{})
		f.Done(at(time.Second), expectLease(t, f, time.Second, 9, "a/2")[0], frontier.Result{})
		if !f.View().Over() {
			t.Errorf("%s: not over: %+v", name, f.View().Stats())
		}
	}
}

// TestErrandsHoldLevels: with a depth, pages wait for those that lead to them to be rendered.
func TestErrandsHoldLevels(t *testing.T) {
	f := with(t, frontier.Config{Levels: true}, "a/1")
	page := expectLease(t, f, 0, 9, "a/1")[0]
	f.Errands().Responded(at(0), page, frontier.Result{})
	deep := u(t, "a/2")
	deep.Depth, deep.From = 1, page.URL.String()
	f.Add(deep)
	if leases := f.Lease(at(time.Hour), 9); len(leases) > 0 {
		t.Errorf("leased %v", leases)
	}
	page.Responded = true
	f.Done(at(time.Hour), page, frontier.Result{})
	expectLease(t, f, 2*time.Hour, 9, "a/2")
}

// TestErrandsOfAnAddress: an errand waits for the address of its host, and then until that address
// and its domain may be asked, whatever other host was asked there.
func TestErrandsOfAnAddress(t *testing.T) {
	f := with(t, frontier.Config{Resolve: true, Delay: time.Second, DomainDelay: -1, AddressDelay: 3 * time.Second}, "a/1")
	resolve := func(leases []frontier.URL) {
		t.Helper()
		if len(leases) != 1 || !leases[0].Resolve {
			t.Fatalf("leased %v, expected the address of a host", leases)
		}
		f.Addresses().Resolved(at(0), leases[0], netip.MustParseAddr("10.0.0.1"))
	}
	resolve(f.Lease(at(0), 9))
	page := expectLease(t, f, 0, 9, "a/1")[0]
	f.Errands().Responded(at(0), page, frontier.Result{})
	f.Errands().Add(at(0), errand(t, "cdn/app.js"))
	resolve(f.Errands().Lease(at(0), 9, false))
	expectErrandAt(t, f, 3*time.Second)
	if early := f.Errands().Lease(at(2*time.Second), 9, false); len(early) > 0 {
		t.Errorf("leased %v: its address was asked 2 s before", early)
	}
	run(t, f, 3*time.Second, "cdn/app.js")
}

// TestMostRendered: while as many pages are being rendered as may be, nothing more is leased of
// their hosts, and of others whatever there is.
func TestMostRendered(t *testing.T) {
	f := with(t, frontier.Config{PerHost: 9}, "a/1 a/2 a/3 a/4 b/1 b/2 b/3 c/1 c/2")
	f.Errands().Bound(3)
	pages := make(map[string]frontier.URL)
	for _, page := range expectLease(t, f, 0, 4, "a/1 b/1 c/1 a/2") {
		pages[short(page)] = page
	}
	responded := func(page string) {
		f.Errands().Responded(at(0), pages[page], frontier.Result{})
	}
	done := func(page string) {
		u := pages[page]
		u.Responded = true
		f.Done(at(0), u, frontier.Result{})
	}
	responded("a/1")
	responded("b/1")
	f.Done(at(0), pages["c/1"], frontier.Result{})
	responded("a/2")
	pages["c/2"] = expectLease(t, f, 0, 9, "c/2")[0]
	if at, ok := f.Next(); ok {
		t.Errorf("the next lease is due at %v, and each host has its fill", at)
	}
	responded("c/2")
	f.Errands().Add(at(0), errand(t, "a/app.js"))
	run(t, f, 0, "a/app.js")
	done("b/1")
	for _, page := range expectLease(t, f, 0, 1, "b/2") { // nothing of it is rendered any more
		pages[short(page)] = page
	}
	done("a/1")
	if leases := shorts(f.Lease(at(0), 9)); leases != "a/3 b/3 a/4" && leases != "b/3 a/3 a/4" {
		t.Errorf("leased %q with room for one more page", leases)
	}
}

// TestErrandsAgain: an errand that has failed waits, and holds up no other one of its host; what is
// not needed any more does not.
func TestErrandsAgain(t *testing.T) {
	f := with(t, frontier.Config{}, "a/1")
	page := expectLease(t, f, 0, 9, "a/1")[0]
	f.Errands().Responded(at(0), page, frontier.Result{})
	dropped := errand(t, "a/dropped")
	f.Errands().Add(at(0), errand(t, "a/app.js"))
	f.Errands().Add(at(0), dropped)
	for _, u := range f.Errands().Lease(at(0), 9, false) {
		if u.Errand == dropped.Errand {
			f.Errands().Drop(&u)
		}
		u.Tries++
		f.Errands().End(at(0), u, frontier.Result{}, at(5*time.Second))
	}
	expectErrandAt(t, f, 5*time.Second)
	f.Errands().Add(at(time.Second), errand(t, "a/other.js"))
	run(t, f, time.Second, "a/other.js")
	if early := f.Errands().Lease(at(4*time.Second), 9, false); len(early) > 0 {
		t.Errorf("leased %v early", early)
	}
	if leases := f.Errands().Lease(at(5*time.Second), 9, false); shorts(leases) != "a/app.js" || leases[0].Tries != 1 {
		t.Errorf("leased %v, expected a/app.js again", leases)
	}
}
