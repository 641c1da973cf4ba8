package frontier_test

import (
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
)

// TestSetDelay checks that a new delay counts from the end of the last response, as the old one
// did, unless robots.txt asks for more; a host that was never requested waits for neither.
func TestSetDelay(t *testing.T) {
	f := with(t, frontier.Config{Delay: 10 * time.Second}, "a/1 a/2 a/3 a/4")
	done := func(now time.Duration, want string) {
		t.Helper()
		f.Done(at(now), expectLease(t, f, now, 9, want)[0], frontier.Result{})
	}
	done(0, "a/1")
	expectNext(t, f, 10*time.Second)
	setDelay(f, at(time.Second), 4*time.Second)
	expectNext(t, f, 4*time.Second)
	done(4*time.Second, "a/2")
	setDelay(f, at(5*time.Second), time.Minute)
	expectNext(t, f, 64*time.Second)
	add(t, f, "b/1")
	setDelay(f, at(5*time.Second), 2*time.Minute)
	expectLease(t, f, 5*time.Second, 9, "b/1")
	setDelay(f, at(6*time.Second), 0)
	expectLease(t, f, 6*time.Second, 9, "a/3 a/4")

	f = with(t, frontier.Config{Robots: true}, "a/1 a/2")
	f.Robots().Set(at(0), expectLease(t, f, 0, 9, "a/robots.txt")[0], rulesOf("Crawl-delay: 5"), frontier.Result{})
	setDelay(f, at(0), time.Second)
	expectNext(t, f, 5*time.Second)
	setDelay(f, at(0), 7*time.Second)
	expectNext(t, f, 7*time.Second)
}

// TestSetPerHost checks that a larger PerHost applies at once, a smaller one when enough leases
// have ended, and that 0 restores the pace of the host.
func TestSetPerHost(t *testing.T) {
	f := with(t, frontier.Config{}, "a/1 a/2 a/3 a/4 a/5 a/6 a/7 a/8 a/9")
	leases := expectLease(t, f, 0, 9, "a/1 a/2")
	setPerHost(f, at(0), 5)
	leases = append(leases, expectLease(t, f, 0, 9, "a/3 a/4 a/5")...)
	setPerHost(f, at(0), 1)
	for _, u := range leases[:4] {
		f.Done(at(0), u, frontier.Result{})
		expectLease(t, f, 0, 9, "")
	}
	f.Done(at(0), leases[4], frontier.Result{})
	leases = expectLease(t, f, 0, 9, "a/6")
	setPerHost(f, at(0), 0)
	expectLease(t, f, 0, 9, "a/7")

	f.Done(at(0), leases[0], frontier.Result{Overload: true, RetryAfter: time.Second})
	setPerHost(f, at(0), 4)
	expectLease(t, f, time.Second, 9, "") // one at a time after the overload
}

func TestSetRateLimit(t *testing.T) {
	f := with(t, frontier.Config{RateLimit: 0.1, PerHost: 9}, "a/1 a/2 a/3 a/4")
	expectLease(t, f, 0, 9, "a/1")
	expectNext(t, f, 10*time.Second)
	setRateLimit(f, at(time.Second), 1)
	expectNext(t, f, 2*time.Second)
	expectLease(t, f, 2*time.Second, 9, "a/2")
	setRateLimit(f, at(2*time.Second), 0)
	expectLease(t, f, 2*time.Second, 9, "a/3 a/4")
}

// TestOriginInfo follows an origin through its life.
func TestOriginInfo(t *testing.T) {
	const name = "http://a.example"
	f := with(t, frontier.Config{Robots: true}, "a/1 a/2")
	info := func(now time.Duration) frontier.OriginInfo {
		t.Helper()
		i, known := f.View().Origin(at(now), name)
		if !known {
			t.Fatal("unknown")
		}
		return i
	}
	robots := expectLease(t, f, 0, 9, "a/robots.txt")[0]
	if i := info(0); !i.Asking || i.Leased != 0 || i.Pending != 2 || i.Pace != 2 {
		t.Errorf("while robots.txt is requested: %+v", i)
	}
	f.Robots().Set(at(time.Second), robots, rulesOf("Crawl-delay: 3"), frontier.Result{})
	if i := info(time.Second); i.Asking || i.Delay != 3*time.Second || i.Pace != 1 || !i.Next.Equal(at(4*time.Second)) {
		t.Errorf("with a Crawl-delay: %+v", i)
	}
	lease := expectLease(t, f, 4*time.Second, 9, "a/1")[0]
	if i := info(4 * time.Second); i.Leased != 1 || i.Pending != 2 || !f.View().IsLeased(lease.URL) || f.View().IsLeased(u(t, "a/2").URL) {
		t.Errorf("with a lease: %+v", i)
	}
	f.Done(at(5*time.Second), lease, frontier.Result{Overload: true, RetryAfter: time.Minute})
	if i := info(5 * time.Second); i.Leased != 0 || i.Pending != 1 || i.Answered != 1 || !i.Next.Equal(at(65*time.Second)) || !i.BackOffEnd.Equal(i.Next) {
		t.Errorf("overloaded: %+v", i)
	}
	for range f.View().Leased() {
		t.Error("something is leased")
	}
	if _, known := f.View().Origin(at(5*time.Second), "http://b.example"); known {
		t.Error("a host that nothing led to is known")
	}
}

func setDelay(f *frontier.Frontier, now time.Time, delay time.Duration) {
	s := f.View().Settings()
	s.Delay = delay
	f.Steer(now, s)
}

func setPerHost(f *frontier.Frontier, now time.Time, n int) {
	s := f.View().Settings()
	s.PerHost = n
	f.Steer(now, s)
}

func setRateLimit(f *frontier.Frontier, now time.Time, rate float64) {
	s := f.View().Settings()
	s.RateLimit = rate
	f.Steer(now, s)
}
