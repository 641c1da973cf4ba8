package frontier_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

func rulesOf(lines string) robots.Rules {
	return robots.Parse([]byte("User-agent: *\n" + lines)).Agent("weft")
}

func TestLoopbackByName(t *testing.T) {
	for url, loopback := range map[string]bool{
		"http://localhost:8080/":        true,
		"http://app.localhost/":         true,
		"http://127.0.0.1/":             true,
		"http://127.9.9.9/":             true,
		"http://[::1]:81/":              true,
		"http://[::ffff:127.0.0.1]/":    true,
		"http://10.0.0.1/":              false,
		"http://localhost.example/":     false,
		"http://notlocalhost/":          false,
		"http://127.0.0.1.example.org/": false,
	} {
		parsed, err := weburl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		f := frontier.New(frontier.Config{})
		f.Add(frontier.URL{URL: parsed})
		if pace := f.View().Slowest(1)[0].Pace; (pace == 0) != loopback {
			t.Errorf("%s has pace %d, want any number (0): %v", url, pace, loopback)
		}
	}
}

// A host with many disallowed URLs holds nobody up: they are refused in portions, and Next reports
// more.
func TestManyRefusals(t *testing.T) {
	const n = 2500
	f := frontier.New(frontier.Config{Robots: true})
	for i := range n {
		f.Add(u(t, fmt.Sprintf("a/%d", i)))
	}
	f.Robots().Set(at(0), f.Lease(at(0), 1)[0], rulesOf("Disallow: /"), frontier.Result{})
	total := 0
	for _, want := range []int{1024, 1024, 452} {
		expectNext(t, f, 0)
		expectLease(t, f, 0, 9, "")
		if f.View().Over() {
			t.Error("over, and refusals are not collected")
		}
		got := len(f.Refused().URLs)
		if total += got; got != want {
			t.Errorf("%d refused at once, want %d", got, want)
		}
	}
	if s := f.View().Stats(); !f.View().Over() || s.Refused != n || total != n {
		t.Errorf("not over: %+v", s)
	}
}

// A host with long URLs and rules to compare them with holds nobody up, either: what one Lease
// compares is bounded, and other hosts have their turns in between.
func TestMuchToCompare(t *testing.T) {
	const n, most = 200, 70_000
	f := with(t, frontier.Config{Robots: true}, "a/1")
	f.Robots().Set(at(0), f.Lease(at(0), 1)[0], rulesOf("Disallow: /*a"), frontier.Result{})
	f.Done(at(0), f.Lease(at(0), 1)[0], frontier.Result{})
	for i := range n {
		f.Add(u(t, fmt.Sprintf("a/%d%s", i, strings.Repeat("a", 1950))))
	}
	f.Add(u(t, "b/1"))
	total := 0
	for calls := 1; f.View().Stats().Pending > 1; calls++ {
		expectNext(t, f, 0)
		for _, u := range f.Lease(at(0), 9) {
			if u.URL.Host() != "b.example" || !u.Robots || calls > 2 {
				t.Errorf("%s is leased in call %d, expected only the robots.txt of b, soon", u.URL, calls)
			}
		}
		bytes := 0
		for _, r := range f.Refused().URLs {
			bytes += len(r.URL.URL.RequestTarget())
			total++
		}
		if bytes > most {
			t.Fatalf("%d bytes of targets are compared in a Lease, expected at most %d", bytes, most)
		}
	}
	if total != n {
		t.Errorf("%d are refused, expected %d", total, n)
	}
}

func TestRefusalQuotesLittleOfALongRule(t *testing.T) {
	f := with(t, frontier.Config{Robots: true}, "a/1")
	f.Robots().Set(at(0), f.Lease(at(0), 1)[0], rulesOf("Disallow: /"+strings.Repeat("*", 10_000)), frontier.Result{})
	f.Lease(at(0), 1)
	if r := f.Refused().URLs; len(r) != 1 || len(r[0].Reason) > 250 || !strings.HasPrefix(r[0].Reason, "line 2: Disallow: /*") {
		t.Errorf("refused %.300s", fmt.Sprint(r))
	}
}

// The obstacle was the crawler's own, and counts as no failure of the host.
func TestRobotsPostponed(t *testing.T) {
	f := with(t, frontier.Config{Robots: true, RobotsTries: 1}, "a/1")
	f.Postpone(at(0), f.Lease(at(0), 9)[0], frontier.Result{}, at(time.Minute))
	expectNext(t, f, time.Minute)
	expectLease(t, f, time.Second, 9, "")
	leases := expectLease(t, f, time.Minute, 9, "a/robots.txt")
	if !leases[0].Robots || leases[0].Tries != 0 {
		t.Errorf("leased %+v, want robots.txt, never tried", leases[0])
	}
	f.Robots().Set(at(time.Minute), leases[0], robots.Rules{}, frontier.Result{})
	expectLease(t, f, time.Minute, 9, "a/1")
}

// A robots.txt that can never be had is not requested again, and its URLs say why.
func TestRobotsFailedForGood(t *testing.T) {
	f := with(t, frontier.Config{Robots: true, RobotsTries: 5}, "a/1")
	f.Robots().Failed(at(0), f.Lease(at(0), 9)[0], frontier.Result{}, "dns", "no such host", true)
	expectLease(t, f, 0, 9, "")
	if r := f.Refused().URLs; len(r) != 1 || r[0].Kind != "dns" || r[0].Reason != "no such host" {
		t.Errorf("refused %+v", r)
	}
	if !f.View().Over() {
		t.Errorf("not over: %+v", f.View().Stats())
	}
}

// A host that got slower for good does not stay at pace 1, and a fast one gets 16 leases at once
// and no more.
func TestPaceRecovers(t *testing.T) {
	f := frontier.New(frontier.Config{})
	n := 0
	answer := func(took time.Duration, times int) int {
		for range times {
			f.Add(u(t, fmt.Sprintf("a/%d", n)))
			n++
			f.Done(at(0), f.Lease(at(0), 1)[0], frontier.Result{Took: took})
		}
		f.Add(u(t, fmt.Sprintf("a/%d", n)))
		n++
		return f.View().Slowest(1)[0].Pace
	}
	if pace := answer(20*time.Millisecond, 300); pace != 16 {
		t.Errorf("a fast host has pace %d, want 16", pace)
	}
	if pace := answer(500*time.Millisecond, 32); pace != 1 {
		t.Errorf("after slow answers pace %d, want 1", pace)
	}
	if pace := answer(500*time.Millisecond, 300); pace < 8 {
		t.Errorf("after the same time for long pace %d, want growth", pace)
	}
}

func TestSlowest(t *testing.T) {
	f := with(t, frontier.Config{}, "a/1 a/2 b/1 b/2 c/1 d/1")
	for _, lease := range f.Lease(at(0), 4) { // one of each
		took := map[string]time.Duration{"a": 20, "b": 90, "c": 50, "d": 10}[short(lease)[:1]] * time.Millisecond
		f.Done(at(0), lease, frontier.Result{Took: took})
	}
	add(t, f, "d/2")
	var got []string
	for _, h := range f.View().Slowest(2) {
		got = append(got, h.Origin)
	}
	if want := "[http://b.example http://a.example]"; fmt.Sprint(got) != want { // c has nothing to do
		t.Errorf("slowest %v, want %s", got, want)
	}
	c := f.Lease(at(0), 1)[0] // the next in turn
	f.Done(at(0), c, frontier.Result{Overload: true, RetryAfter: time.Minute})
	add(t, f, strings.Replace(short(c), "/", "/again-", 1))
	if first := f.View().Slowest(1)[0]; !strings.Contains(first.Origin, short(c)[:1]) || first.BackOff.IsZero() {
		t.Errorf("%s was overloaded, and first comes %+v", short(c), first)
	}
	if got := f.View().Slowest(0); len(got) != 0 {
		t.Errorf("Slowest(0) = %v", got)
	}
}

// TestLongDelayIsShown: a display says that a host waits for its next turn, if that takes long.
func TestLongDelayIsShown(t *testing.T) {
	for delay, want := range map[time.Duration]string{
		time.Hour:   "until 1h0m0s: Crawl-delay of 1h0m0s",
		time.Second: "",
	} {
		f := with(t, frontier.Config{Robots: true}, "a/1")
		rules := rulesOf(fmt.Sprintf("Crawl-delay: %d", int(delay.Seconds())))
		f.Robots().Set(at(0), f.Lease(at(0), 1)[0], rules, frontier.Result{})
		got := ""
		if first := f.View().Slowest(1)[0]; !first.BackOff.IsZero() {
			got = fmt.Sprintf("until %v: %s", first.BackOff.Sub(epoch), first.Why)
		}
		if got != want {
			t.Errorf("Crawl-delay %v: %q, expected %q", delay, got, want)
		}
	}
}
