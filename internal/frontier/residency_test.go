package frontier_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// idleCrawl is a frontier with a journal that commits at once.
type idleCrawl struct {
	*frontier.Frontier
	t     *testing.T
	l     *journal
	asked []string // names that were looked up
}

func newIdleCrawl(t *testing.T, cfg frontier.Config) *idleCrawl {
	l := newJournal(t)
	c := &idleCrawl{frontier.New(cfg), t, l, nil}
	c.SetJournal(l)
	return c
}

// save commits everything recorded.
func (c *idleCrawl) save() {
	c.NoteOrigins()
	c.l.commit()
	c.Saved()
}

// add adds links.
func (c *idleCrawl) add(urls ...string) {
	c.t.Helper()
	var all []frontier.URL
	for _, short := range urls {
		link := u(c.t, short)
		link.From = "http://from.example/"
		all = append(all, link)
	}
	r, ok := c.Prepare(locations(all), noURLs)
	if len(r.Fingerprints) > 0 {
		c.t.Fatalf("%d URLs are looked up, expected none without SeenBytes", len(r.Fingerprints))
	}
	if c.asked = r.Names; ok {
		c.Provide(at(0), c.l.lookup(r))
	}
	for _, link := range all {
		c.Add(link)
	}
}

// leave evicts every host that can be.
func (c *idleCrawl) leave() { c.add() }

// fetch leases and answers everything that is due.
func (c *idleCrawl) fetch(now time.Duration, rules robots.Rules, a frontier.Result) (leased []string) {
	for _, lease := range c.Lease(at(now), 100) {
		leased = append(leased, short(lease))
		switch {
		case lease.Robots:
			c.Robots().Set(at(now), lease, rules, frontier.Result{})
		case a.Failure != "":
			lease.Past = append(lease.Past, frontier.Try{At: at(now), Kind: a.Failure})
			c.Done(at(now), lease, a)
		default:
			lease.Past = append(lease.Past, frontier.Try{At: at(now), Status: 200})
			c.Done(at(now), lease, a)
		}
	}
	return leased
}

// TestHostsComeBackAsTheyWere checks that what a crawl knows of a host survives its eviction.
func TestHostsComeBackAsTheyWere(t *testing.T) {
	rules := robots.Parse([]byte("User-agent: *\nDisallow: /secret\nCrawl-delay: 3\n")).Agent("weft")
	for _, c := range []struct {
		name   string
		cfg    frontier.Config
		answer frontier.Result
	}{
		{"quick", frontier.Config{Robots: true}, frontier.Result{Took: 40 * time.Millisecond}},
		{"overloaded", frontier.Config{Robots: true}, frontier.Result{Took: time.Second, Overload: true}},
		{"failing", frontier.Config{}, frontier.Result{Failure: "timeout", Reason: "no answer"}},
		{"unbounded", frontier.Config{}, frontier.Result{Took: time.Millisecond, Addr: netip.MustParseAddr("127.0.0.9")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.cfg.HostBytes, c.cfg.LimitPerHost = 1, 3
			crawl := newIdleCrawl(t, c.cfg)
			crawl.add("a/1", "a/2")
			now := time.Duration(0)
			for ; crawl.View().Stats().Done < 2; now += 10 * time.Second {
				crawl.fetch(now, rules, c.answer)
			}
			now += time.Hour // no delay is running
			crawl.Lease(at(now), 1)
			was, _ := crawl.View().Origin(at(now), "http://a.example")
			crawl.leave()
			if crawl.View().Evicted() != 0 {
				t.Fatal("a host has left that the journal does not know")
			}
			crawl.NoteOrigins()
			crawl.leave()
			if crawl.View().Evicted() != 0 {
				t.Fatal("a host has left that was recorded, and not committed")
			}
			crawl.save()
			crawl.leave()
			if _, known := crawl.View().Origin(at(now), "http://a.example"); known || crawl.View().Evicted() != 1 || crawl.View().Stats().Origins != 1 {
				t.Fatalf("known: %t, %d have left, %d hosts", known, crawl.View().Evicted(), crawl.View().Stats().Origins)
			}
			crawl.add("a/1")
			if len(crawl.asked) != 0 || crawl.View().Evicted() != 1 {
				t.Errorf("%q are looked up for a URL that was seen", crawl.asked)
			}
			crawl.add("a/3", "a/4", "a/secret", "b/1")
			// The table of evicted names is full, and may take a new name for one of them: about
			// once in 300 times. A name that was evicted is never missed.
			if asked := slices.Sorted(slices.Values(crawl.asked)); !slices.Equal(asked, []string{"a.example"}) && !slices.Equal(asked, []string{"a.example", "b.example"}) {
				t.Errorf("%q are looked up, expected the one that has left", crawl.asked)
			}
			is, known := crawl.View().Origin(at(now), "http://a.example")
			is.Pending = was.Pending
			if !known || is != was {
				t.Errorf("the host came back as\n%+v, was\n%+v", is, was)
			}
			for ; crawl.View().Stats().Pending > 0; now += 10 * time.Second {
				for _, leased := range crawl.fetch(now, rules, c.answer) {
					if leased == "a/robots.txt" || leased == "a/secret" {
						t.Errorf("%s is leased, and its robots.txt is known", leased)
					}
				}
				crawl.Refused()
			}
			if s := crawl.View().Stats(); s.OverLimit == 0 || s.Origins != 2 {
				t.Errorf("%+v, expected URLs over the limit of the host, which had two before it left", s)
			}
		})
	}
}

// TestHostsStayWhileTheyWait checks that no host is evicted before its delay is over: another of
// its domain would be requested too soon.
func TestHostsStayWhileTheyWait(t *testing.T) {
	crawl := newIdleCrawl(t, frontier.Config{HostBytes: 1, DomainDelay: time.Minute})
	crawl.add("a/1")
	crawl.fetch(0, robots.Rules{}, frontier.Result{})
	crawl.save()
	for _, c := range []struct {
		now  time.Duration
		left int
	}{{59 * time.Second, 0}, {time.Minute, 1}} {
		crawl.Lease(at(c.now), 1)
		crawl.leave()
		if crawl.View().Evicted() != c.left {
			t.Errorf("%d have left after %v, expected %d", crawl.View().Evicted(), c.now, c.left)
		}
	}
}

// TestHeldHostsLeave checks that an idle host is evicted during its back-off, which continues when
// it comes back. A host with a URL stays, and so does a dead one, unless hosts are crowded.
func TestHeldHostsLeave(t *testing.T) {
	for _, c := range []struct {
		name    string
		answer  frontier.Result
		times   int
		pending bool
		crowded bool
		left    int
	}{
		{"overloaded", frontier.Result{Overload: true, RetryAfter: time.Hour}, 1, false, false, 1},
		{"overloaded, with a URL", frontier.Result{Overload: true, RetryAfter: time.Hour}, 1, true, false, 0},
		{"the same, crowded", frontier.Result{Overload: true, RetryAfter: time.Hour}, 1, true, true, 1},
		{"dead", frontier.Result{Failure: "connect", Reason: "refused"}, 8, false, false, 0},
		{"dead, crowded", frontier.Result{Failure: "connect", Reason: "refused"}, 8, false, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			crawl := newIdleCrawl(t, frontier.Config{HostBytes: 1})
			if c.crowded {
				frontier.Crowd(crawl.Frontier)
			}
			now := time.Duration(0)
			for n := range c.times {
				crawl.add(fmt.Sprintf("a/%d", n))
				crawl.fetch(now, robots.Rules{}, c.answer)
				now += time.Minute
			}
			if c.pending {
				crawl.add("a/pending")
			}
			crawl.save()
			was, _ := crawl.View().Origin(at(now), "http://a.example")
			crawl.leave()
			if crawl.View().Evicted() != c.left {
				t.Fatalf("%d have left, expected %d", crawl.View().Evicted(), c.left)
			}
			crawl.add("a/new")
			is, _ := crawl.View().Origin(at(now), "http://a.example")
			held := is.BackOffEnd
			if is.Trouble.Until.After(held) {
				held = is.Trouble.Until
			}
			if was.Pending, is.Pending = 0, 0; is != was || !held.After(at(now)) {
				t.Errorf("the host came back as\n%+v, was\n%+v", is, was)
			}
			end := is.BackOffEnd
			if is.Trouble.GivenUp { // and the new URL is refused
				end = at(now)
			}
			if next, ok := crawl.Next(); c.left > 0 && (!ok || !next.Equal(end)) {
				t.Errorf("Next() = %v, %t, expected %v", next, ok, end)
			}
		})
	}
}

// TestTroubleLeaves checks that the trouble of a host leaves memory with it, that of the robots.txt
// redirects to it included.
func TestTroubleLeaves(t *testing.T) {
	crawl := newIdleCrawl(t, frontier.Config{HostBytes: 1, Robots: true, RobotsTries: 1})
	frontier.Crowd(crawl.Frontier)
	crawl.add("a/1")
	lease, to := asks(t, crawl.Frontier, 0, "a", "a/robots.txt"), u(t, "dead/robots.txt")
	if r, ok := crawl.Prepare(noURLs, locations([]frontier.URL{to})); ok {
		crawl.Provide(at(0), crawl.l.lookup(r))
	}
	crawl.Robots().Redirected(at(0), lease, frontier.Result{}, to.URL)
	lease = asks(t, crawl.Frontier, 0, "a", "dead/robots.txt")
	crawl.Robots().Failed(at(0), lease, frontier.Result{Failure: "connect", Reason: "refused"}, "connect", "refused", true)
	crawl.Lease(at(0), 9)
	if refused := crawl.Refused().URLs; len(refused) != 1 || crawl.Troubles() == 0 {
		t.Fatalf("refused %v; the trouble takes %d bytes", refused, crawl.Troubles())
	}
	crawl.save()
	crawl.leave()
	if crawl.View().Evicted() != 2 || crawl.Troubles() != 0 {
		t.Errorf("%d hosts have left, expected 2, and the troubles of those that stay take %d bytes", crawl.View().Evicted(), crawl.Troubles())
	}
}

// TestFailuresOfAnotherScheme checks that the failures of an origin stay its own, when another of
// its host responds.
func TestFailuresOfAnotherScheme(t *testing.T) {
	crawl := newIdleCrawl(t, frontier.Config{HostBytes: 1})
	crawl.add("a/1")
	crawl.fetch(0, robots.Rules{}, frontier.Result{Failure: "connect", Reason: "refused"})
	crawl.save()
	crawl.Add(parsed(t, "https://a.example/1"))
	for _, lease := range crawl.Lease(at(time.Hour), 1) {
		lease.Past = append(lease.Past, frontier.Try{At: at(time.Hour), Status: 200})
		crawl.Done(at(time.Hour), lease, frontier.Result{Took: time.Second})
	}
	crawl.save()
	for _, order := range [][]string{{"http://a.example", "https://a.example"}, {"https://a.example", "http://a.example"}} {
		r := frontier.Restore(frontier.Config{})
		for _, name := range order {
			r.Origin(at(2*time.Hour), crawl.l.origins[name], robots.Rules{})
		}
		if info, known := r.Frontier().View().Origin(at(2*time.Hour), "http://a.example"); !known || info.Trouble.Failures != 1 {
			t.Errorf("%v: known %t, %d failures, expected its own", order, known, info.Trouble.Failures)
		}
		if info, known := r.Frontier().View().Origin(at(2*time.Hour), "https://a.example"); !known || info.Trouble.Failures != 0 {
			t.Errorf("%v: known %t, %d failures, expected none since its response", order, known, info.Trouble.Failures)
		}
	}
}

// TestIdleHostsTakeNoMemory checks that memory is bounded however many hosts come and go, and that
// those requested last stay.
func TestIdleHostsTakeNoMemory(t *testing.T) {
	const room = 64 << 10
	crawl := newIdleCrawl(t, frontier.Config{HostBytes: room, Resolve: true, AddressDelay: time.Second})
	now := time.Duration(0)
	for n := range 400 {
		crawl.add(fmt.Sprintf("h%d/", n), fmt.Sprintf("www.h%d/", n), fmt.Sprintf("h%d.many/", n))
		for crawl.View().Stats().Pending+crawl.View().Stats().Leased > 0 {
			now += time.Second
			for _, lease := range crawl.Lease(at(now), 100) {
				addr := netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)})
				if lease.Resolve {
					crawl.Addresses().Resolved(at(now), lease, addr)
					continue
				}
				lease.Past = append(lease.Past, frontier.Try{At: at(now), Status: 200})
				crawl.Done(at(now), lease, frontier.Result{Addr: addr})
			}
		}
		crawl.save()
		if got := crawl.View().Bytes().Hosts; got > room+10_000 {
			t.Fatalf("%d bytes of hosts after %d, expected about %d", got, 3*n, room)
		}
		if _, known := crawl.View().Origin(at(now), fmt.Sprintf("http://h%d.example", n)); !known {
			t.Fatalf("the host that was asked last has left")
		}
	}
	if s := crawl.View().Stats(); s.Origins != 1200 || crawl.View().Evicted() < 900 || crawl.View().Bytes().Hosts < room/2 {
		t.Errorf("%d hosts, %d have left, %d bytes", s.Origins, crawl.View().Evicted(), crawl.View().Bytes().Hosts)
	}
}

// TestRestoredHostsStayInTheStore checks that after a restart hosts without room are read when
// they are needed or at their turn, unless they share a name with a resident one.
func TestRestoredHostsStayInTheStore(t *testing.T) {
	r := frontier.Restore(frontier.Config{HostBytes: 1, LimitPerHost: 5, Delay: time.Second})
	f := r.Frontier()
	origins := []frontier.OriginState{
		{Name: "http://a.example", Answered: 2, Pending: 2, Tried: 1},
		{Name: "http://b.example", Answered: 3},
		{Name: "http://c.example", Answered: 2, Pending: 3, Tried: 2},
		{Name: "https://a.example", Answered: 2, Pending: 1},
	}
	whole := true
	for _, o := range origins {
		whole = r.Origin(at(0), o, robots.Rules{}) && whole
	}
	for _, o := range origins {
		r.Beside(o, robots.Rules{})
	}
	if s := f.View().Stats(); whole || f.View().Evicted() != 2 || f.View().Dormant() != 1 || s.Origins != 4 || s.Pending != 6 {
		t.Fatalf("whole: %t, %d not in memory, %d dormant, %+v; expected b and c, as there was room for the first", whole, f.View().Evicted(), f.View().Dormant(), s)
	}
	for name, want := range map[string]bool{"http://a.example": true, "https://a.example": true, "http://b.example": false, "http://c.example": false} {
		if _, known := f.View().Origin(at(0), name); known != want {
			t.Errorf("%s is known: %t, want %t", name, known, want)
		}
	}
	lookup, _ := f.Prepare(locations([]frontier.URL{u(t, "b/9")}), noURLs)
	if !slices.Equal(lookup.Names, []string{"b.example"}) {
		t.Fatalf("%q are looked up", lookup.Names)
	}
	f.Provide(at(0), frontier.Page{Request: lookup, Origins: []frontier.StoredOrigin{{OriginState: origins[1]}}})
	f.Add(u(t, "b/9"))
	if leases := f.Lease(at(0), 9); len(leases) > 0 {
		t.Errorf("%s is leased at once, and may have been asked before the restart", shorts(leases))
	}
	reads := f.Reads()
	if len(reads) != 1 || reads[0].Kind != frontier.Revive || reads[0].Cursor != "" || reads[0].Tried {
		t.Fatalf("Reads: %+v, expected a request for the first dormant hosts", reads)
	}
	f.Provide(at(0), frontier.Page{Request: reads[0], Origins: []frontier.StoredOrigin{{OriginState: origins[2]}}})
	if c, known := f.View().Origin(at(0), "http://c.example"); !known || c.OriginState != origins[2] || f.View().Dormant() != 0 {
		t.Errorf("c is known: %t, %+v, and %d are dormant", known, c, f.View().Dormant())
	}
	if leases := f.Lease(at(0), 9); len(leases) > 0 {
		t.Errorf("%s is leased at once, and may have been asked before the restart", shorts(leases))
	}
}

// TestDormantHostsThatAreLost checks that a crawl ends if a damaged store has fewer dormant hosts
// than it recorded.
func TestDormantHostsThatAreLost(t *testing.T) {
	for _, limit := range []int{0, 1} {
		r := frontier.Restore(frontier.Config{HostBytes: 1, Limit: limit})
		r.Origin(at(0), frontier.OriginState{Name: "http://a.example", Answered: 1}, robots.Rules{})
		r.Origin(at(0), frontier.OriginState{Name: "http://b.example", Pending: 7, Tried: 2}, robots.Rules{})
		f := r.Frontier()
		for n := 0; !f.View().Stopped(); n++ {
			f.Lease(at(0), 9)
			reads := f.Reads()
			if len(reads) != 1 || n > 3 {
				t.Fatalf("limit %d: %+v, and nothing is read", limit, f.View().Stats())
			}
			f.Provide(at(0), frontier.Page{Request: reads[0], Last: []string{"http://a.example", ""}[n%2]})
		}
		if got, want := f.View().Stats().Pending, 5*limit; got != want {
			t.Errorf("limit %d: %d are pending, expected %d", limit, got, want)
		}
	}
}

// TestHeldHostsKeepWithinMemory checks that hosts without end, each of which asks for an hour and
// has a long URL to try again, take no more memory than they may.
func TestHeldHostsKeepWithinMemory(t *testing.T) {
	const most, batch = 100_000, 20
	f := frontier.New(frontier.Config{HostBytes: most, Heads: 4, InMemory: most, SeenBytes: 1 << 20})
	frontier.Crowd(f)
	f.SetJournal(silent{})
	long := strings.Repeat("x", 1900)
	for i := range 2000 {
		now := at(time.Duration(i) * 10 * time.Millisecond)
		link := u(t, fmt.Sprintf("h%d.d%d/%s", i, i, long))
		link.From = "http://from.example/" + long
		if r, ok := f.Prepare(locations([]frontier.URL{link}), noURLs); ok {
			f.Provide(now, frontier.Page{Request: r, Seen: make([]bool, len(r.Fingerprints))})
		}
		f.Add(link)
		for _, lease := range f.Lease(now, 10) {
			a := frontier.Result{Overload: true, Status: 503, RetryAfter: time.Hour}
			f.Retry(now, lease, a, now.Add(time.Hour))
		}
		if i%batch == 0 {
			f.NoteOrigins()
			f.Saved()
		}
		if held := f.View().Bytes().Hosts; held > 2*most+2*batch*6000 {
			t.Fatalf("%d hosts take %d bytes, expected about %d", i, held, 2*most)
		}
	}
	if held := f.View().Bytes().Hosts; held < most {
		t.Errorf("hosts take %d bytes: the retries do not count", held)
	}
}

// TestManyPortsCostLittle checks that a host with thousands of ports, which may not leave, does not
// make each batch of links slow once hosts exceed their memory.
func TestManyPortsCostLittle(t *testing.T) {
	const ports = 10_000
	f := frontier.New(frontier.Config{HostBytes: 1 << 20, Heads: 4, InMemory: 1 << 20})
	f.SetJournal(silent{})
	var links []frontier.URL
	for i := range ports {
		link := frontier.URL{From: "http://from.example/"}
		link.URL, _ = weburl.Parse(fmt.Sprintf("http://h.example:%d/", 1000+i))
		links = append(links, link)
	}
	f.Prepare(locations(links), noURLs)
	for _, link := range links {
		f.Add(link)
	}
	f.NoteOrigins()
	f.Saved()
	began := time.Now()
	for i := range 300 {
		now := at(time.Duration(i) * time.Millisecond)
		for _, lease := range f.Lease(now, 1) {
			f.Done(now, lease, frontier.Result{Failure: "connect", Reason: "refused", Unreached: true})
		}
		f.Prepare(noURLs, noURLs)
	}
	if took := time.Since(began); took > time.Second { // 10 ms; once it was 5 s
		t.Errorf("300 batches took %v", took)
	}
}
