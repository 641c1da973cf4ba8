package webtest_test

import (
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/webtest"
)

// allPolicy is the policy of a crawler that follows everything.
var allPolicy = webtest.Policy{Scope: webtest.Anywhere, Elements: allElements, MaxRedirects: 10, Retries: 2, Robots: true, Agent: webtest.Agent}

// TestReferee: requests that come too early are violations, by host, domain and address, and no
// others.
func TestReferee(t *testing.T) {
	// Hosts 0 to 3 are one domain, and 4 to 7; about half of them have one address.
	web, err := webtest.New(webtest.Config{Seed: 1, Hosts: 8, Clean: true, CrawlDelay: 3 * time.Second, Rates: webtest.Rates{Siblings: 1, Hosted: 0.5, Delayed: 0.3}})
	if err != nil {
		t.Fatal(err)
	}
	at := func(a, b int) bool { x, _ := web.Addr(a); y, _ := web.Addr(b); return x == y }
	pair := func(want func(a, b int) bool) (int, int) {
		for a := range web.Hosts() {
			for b := range a {
				if web.CrawlDelay(a)+web.CrawlDelay(b) == 0 && want(a, b) {
					return a, b
				}
			}
		}
		t.Fatal("no such hosts")
		return 0, 0
	}
	strangers, strangers2 := pair(func(a, b int) bool { return a/4 != b/4 && !at(a, b) })
	siblings, siblings2 := pair(func(a, b int) bool { return a/4 == b/4 && !at(a, b) })
	neighbours, neighbours2 := pair(func(a, b int) bool { return a/4 != b/4 && at(a, b) })
	delayed := slices.IndexFunc([]int{0, 1, 2, 3, 4, 5, 6, 7}, func(i int) bool { return web.CrawlDelay(i) > 0 })
	type ask struct {
		host         int
		from, to     float64 // seconds
		hold         float64
		gone         bool
		again, moved bool
	}
	for _, tt := range []struct {
		name string
		asks []ask
		want []string // units, with the gap
	}{
		{"a second apart", []ask{{host: 0, from: 0, to: 1}, {host: 0, from: 2, to: 3}}, nil},
		{"half a second apart", []ask{{host: 0, from: 0, to: 1}, {host: 0, from: 1.5, to: 2}}, []string{"host 500ms", "domain 500ms", "address 500ms"}},
		{"strangers", []ask{{host: strangers, from: 0, to: 1}, {host: strangers2, from: 0.5, to: 1}}, nil},
		{"of one domain", []ask{{host: siblings, from: 0, to: 1}, {host: siblings2, from: 1.25, to: 2}}, []string{"domain 250ms"}},
		{"of one address, at once", []ask{{host: neighbours, from: 0, to: 1}, {host: neighbours2, from: 0.5, to: 2}}, []string{"address 0s"}},
		{"Crawl-delay", []ask{{host: delayed, from: 0, to: 1}, {host: delayed, from: 3, to: 4}}, []string{"host 2s"}},
		{"Retry-After", []ask{{host: 0, from: 0, to: 1, hold: 2}, {host: 0, from: 2.5, to: 3}}, []string{"host 1.5s"}},
		{"Retry-After obeyed", []ask{{host: 0, from: 0, to: 1, hold: 2}, {host: 0, from: 3, to: 4}, {host: 0, from: 5, to: 6}}, nil},
		{"given up, the server learns late", []ask{{host: 0, from: 0, to: 1, gone: true}, {host: 0, from: 1.95, to: 3}}, nil},
		{"given up", []ask{{host: 0, from: 0, to: 1, gone: true}, {host: 0, from: 1.5, to: 3}}, []string{"host 500ms", "domain 500ms", "address 500ms"}},
		{"repeated after a kept connection ended", []ask{{host: 0, from: 0, to: 1}, {host: 0, from: 1, to: 2, again: true}}, nil},
		{"a robots.txt that has moved, before its Crawl-delay is known", []ask{{host: delayed, from: 0, to: 1}, {host: delayed, from: 2, to: 3, moved: true}}, nil},
		{"a robots.txt that has moved, at once", []ask{{host: 0, from: 0, to: 1}, {host: 0, from: 1, to: 2, moved: true}}, []string{"host 0s", "domain 0s", "address 0s"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			moment := func(s float64) time.Time { return time.Unix(1000, 0).Add(time.Duration(s * float64(time.Second))) }
			r := webtest.NewReferee(web, webtest.Rule{Delay: time.Second, Lag: 100 * time.Millisecond})
			end := func(time.Time, time.Duration, bool) {}
			var last ask
			for _, a := range tt.asks {
				if a.from >= last.to {
					end(moment(last.to), time.Duration(last.hold*float64(time.Second)), last.gone)
				}
				end = r.Begin(webtest.Arrival{Host: a.host, Target: "/", At: moment(a.from), Again: a.again, Moved: a.moved})
				last = a
			}
			var got []string
			for _, v := range r.Verdict().Violations {
				got = append(got, v.Unit.String()+" "+v.Gap.String())
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%q, expected %q", got, tt.want)
			}
		})
	}
}

// TestRefereeGivenUp: a response that the crawler gave up may seem to end after its next request,
// as its patience started before the server knew. Then the gap after that counts from the next
// response.
func TestRefereeGivenUp(t *testing.T) {
	web, err := webtest.New(webtest.Config{Clean: true})
	if err != nil {
		t.Fatal(err)
	}
	ms := func(n int64) time.Time { return time.UnixMilli(1_000_000 + n) }
	for _, tt := range []struct {
		name string
		next int64 // of the next request, after 9,020
		gaps []time.Duration
	}{
		{"a delay later", 9_120, nil},
		{"too early", 9_070, []time.Duration{50 * time.Millisecond}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := webtest.NewReferee(web, webtest.Rule{Delay: 100 * time.Millisecond, Lag: time.Second})
			r.Begin(webtest.Arrival{At: ms(0)})(ms(9_050), 0, true)
			r.Begin(webtest.Arrival{At: ms(9_000)})(ms(9_020), 0, false)
			r.Begin(webtest.Arrival{At: ms(tt.next)})(ms(tt.next+10), 0, false)
			v := r.Verdict()
			var gaps []time.Duration
			for _, v := range v.Violations {
				if v.Unit == webtest.Host {
					gaps = append(gaps, v.Gap)
				}
			}
			if !slices.Equal(gaps, tt.gaps) {
				t.Errorf("too early by host: %v, expected %v", v.Violations, tt.gaps)
			}
			if host := v.Units[webtest.Host]; host.SmallGap != time.Duration(tt.next-9_020)*time.Millisecond || host.Busy != 9_030*time.Millisecond {
				t.Errorf("%+v", host)
			}
		})
	}
}

// TestServerRefereeGivenUp: the referee learns when a crawler gives up before its patience ends, as
// one that is short of memory does.
func TestServerRefereeGivenUp(t *testing.T) {
	for _, target := range []string{"/stalled/0", "/stalled/1", "/hostile/0"} {
		t.Run(target, func(t *testing.T) {
			r, err := webtest.Run(webtest.Config{Clean: true}, webtest.Addresses{Rule: &webtest.Rule{Delay: time.Second, Patience: time.Hour, Lag: time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			c, err := net.Dial("tcp", r.Addr.String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, r.Web.Authority(0)); err != nil {
				t.Fatal(err)
			}
			for r.Referee.Requests() == 0 {
				runtime.Gosched()
			}
			c.Close()
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			next := time.Now().Add(time.Second)
			r.Referee.Begin(webtest.Arrival{Target: "/", At: next})(next, 0, false)
			v := r.Referee.Verdict()
			if host := v.Units[webtest.Host]; len(v.Violations) > 0 || host.Requests != 2 {
				t.Errorf("%+v", v)
			}
		})
	}
}

// TestServerRefereeDate: a Retry-After with a date is over at that date, however long the response
// took to come.
func TestServerRefereeDate(t *testing.T) {
	cfg := webtest.Config{Pages: 8, Clean: true, Latency: 20 * time.Millisecond, Rates: webtest.Rates{Flaky: 1}}
	for early, want := range map[time.Duration]int{0: 0, time.Microsecond: 1} {
		r, err := webtest.Run(cfg, webtest.Addresses{Rule: &webtest.Rule{}})
		if err != nil {
			t.Fatal(err)
		}
		for u := range r.Web.Truth(webtest.Policy{Retries: 9}) {
			_, target := split(u)
			if !r.Web.Response(r.Web.Name(0), target, 0).RetryDate {
				continue
			}
			res, err := http.Get(u)
			if err != nil {
				t.Fatal(err)
			}
			res.Body.Close()
			date, err := http.ParseTime(res.Header.Get("Retry-After"))
			if err != nil {
				t.Fatal(err)
			}
			r.Referee.Begin(webtest.Arrival{Target: target, At: date.Add(-early)})
			break
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		if v := r.Referee.Verdict(); v.Units[webtest.Host].Violations != want || v.Requests != 2 {
			t.Errorf("%v before the date: %+v", early, v)
		}
	}
}

// TestRefereeKilled: requests in flight at a kill end there, whatever the server reports later; and
// the next run's delays count from then.
func TestRefereeKilled(t *testing.T) {
	web, err := webtest.New(webtest.Config{Clean: true})
	if err != nil {
		t.Fatal(err)
	}
	second := func(s int64) time.Time { return time.Unix(s, 0) }
	r := webtest.NewReferee(web, webtest.Rule{Delay: time.Second})
	end := r.Begin(webtest.Arrival{At: second(1)})
	r.Killed(second(2))
	r.Begin(webtest.Arrival{At: second(2)})(second(8), 0, false) // read late
	r.Restarted()
	end2 := r.Begin(webtest.Arrival{At: second(3)})
	end(second(4), 0, true)
	end2(second(5), 0, false)
	r.Begin(webtest.Arrival{At: second(6)})
	if v := r.Verdict(); len(v.Violations) > 0 || v.Requests != 4 || v.Units[webtest.Host].MostAtOnce != 1 {
		t.Errorf("%+v", v)
	}
}

// TestServerReferee: a server's referee judges a crawler that does not wait at all.
func TestServerReferee(t *testing.T) {
	cfg := webtest.Config{Seed: 3, Hosts: 12, Pages: 4, SlowDelay: time.Millisecond, Rates: webtest.Rates{Stalled: -1, Broken: -1, Flaky: -1}}
	r, err := webtest.Run(cfg, webtest.Addresses{Rule: &webtest.Rule{Delay: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	found := newNaive(r, allPolicy, func(string) bool { return true }).crawl(r.Web.Home(0))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	v := r.Referee.Verdict()
	hosts := v.Units[webtest.Host]
	if v.Requests < len(found)/2 || v.Astray > 0 || hosts.Asked < 6 || v.Units[webtest.Address].Shared == 0 {
		t.Errorf("%d URLs found; %+v", len(found), v)
	}
	// All but the first of each host, and repeats after a kept connection ended, came too early.
	if want := v.Requests - hosts.Asked - v.Again; hosts.Violations != want || hosts.SmallGap < 0 || hosts.SmallGap > time.Second {
		t.Errorf("%d violations, expected %d; smallest gap %v", hosts.Violations, want, hosts.SmallGap)
	}
}

// TestAway: refusing and mute hosts behave as configured, and the truth knows the fate of their
// URLs.
func TestAway(t *testing.T) {
	r := webtest.Start(t, webtest.Config{Seed: 5, Hosts: 40, Pages: 2, Clean: true, Rates: webtest.Rates{Refusing: 0.1, Mute: 0.1}})
	fates := make(map[string]int)
	for url, fate := range r.Web.Truth(allPolicy) {
		if fate.Status == 200 {
			continue
		}
		fates[fate.Error]++
		authority, _ := split(url)
		name, port, _ := strings.Cut(authority, ":")
		addr, ok := r.Web.Resolve(name)
		if !ok {
			t.Errorf("%s has no address", name)
		}
		c, err := net.DialTimeout("tcp4", addr.String()+":"+port, 200*time.Millisecond)
		if err == nil {
			c.Close()
		}
		switch {
		case fate.Error == webtest.ErrorConnect && errors.Is(err, syscall.ECONNREFUSED):
		case fate.Error == webtest.ErrorDial && timedOut(err):
		default:
			t.Errorf("%s: %v, expected %v", url, err, fate)
		}
	}
	if fates[webtest.ErrorConnect] == 0 || fates[webtest.ErrorDial] == 0 || len(fates) != 2 {
		t.Errorf("%v", fates)
	}
}

func timedOut(err error) bool {
	var e net.Error
	return errors.As(err, &e) && e.Timeout()
}

// TestExchange: a simulation finds the truth.
func TestExchange(t *testing.T) {
	cfg := webtest.Config{Seed: 3, Hosts: 60, Pages: 6, Rates: webtest.Rates{DeadHost: 0.05, Refusing: 0.05, Mute: 0.05, Hostile: 0.1, Hosted: 0.1, Blogs: 0.1, SlowHost: 0.1, ClosedRobots: -1, ShyRobots: -1, NamedRobots: -1, MovedRobots: -1}}
	web, err := webtest.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	policy := allPolicy
	policy.Robots = false
	policy.MaxRedirects = 1000
	truth := maps.Collect(web.Truth(policy))
	found := make(map[string]webtest.Fate)
	queue := []string{web.Home(0)}
	for len(queue) > 0 {
		url := queue[0]
		queue = queue[1:]
		if _, known := found[url]; known {
			continue
		}
		authority, target := split(url)
		for n := 0; ; n++ {
			v := web.Exchange(authority, target, n, policy)
			found[url] = v.Fate
			if v.Fate.Status != 429 && v.Fate.Status != 503 || n == policy.Retries {
				queue = append(queue, v.Links...)
				break
			}
		}
	}
	if !maps.Equal(found, truth) {
		t.Errorf("%d URLs found, %d in truth", len(found), len(truth))
	}
	if v := web.Exchange(web.Authority(0), "/robots.txt", 0, policy); v.Fate.Status != 200 || !strings.Contains(string(v.Robots), "Disallow: /private/") {
		t.Errorf("robots.txt: %+v", v)
	}
}

// TestBound checks the bound of three hosts against one computed by hand.
func TestBound(t *testing.T) {
	web, err := webtest.New(webtest.Config{Seed: 1, Hosts: 4, Pages: 3, Links: -1, Clean: true, Latency: 0, CrawlDelay: 5 * time.Second, Rates: webtest.Rates{Siblings: 1, Hosted: 1, Delayed: -1}})
	if err != nil {
		t.Fatal(err)
	}
	b := web.Bound(allPolicy, webtest.Costs{Delay: time.Second, RobotsTries: 3})
	pages := 0
	for i := range web.Hosts() {
		pages += web.Pages(i)
	}
	requests := pages + web.Hosts() // and each robots.txt
	if b.URLs != pages || b.Requests != requests {
		t.Errorf("%d URLs, %d requests, expected %d and %d", b.URLs, b.Requests, pages, requests)
	}
	for u, want := range map[webtest.Unit]int{webtest.Host: 3, webtest.Site: requests - 1, webtest.Address: requests - 1} {
		if got := b.Chains[u]; got.Time < time.Duration(want)*time.Second || u != webtest.Host && got.Time != time.Duration(want)*time.Second {
			t.Errorf("%v: %+v, expected %d s", u, got, want)
		}
	}
}
