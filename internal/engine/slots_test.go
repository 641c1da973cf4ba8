package engine

import (
	"fmt"
	"testing"
	"time"

	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/record"
)

// TestSlots: a lease counts until it ends, or for waitsFrom, and only once.
func TestSlots(t *testing.T) {
	s := slots{most: 2}
	began := time.Unix(1000, 0)
	at := func(d time.Duration) time.Time { return began.Add(d) }
	u := &frontier.URL{URL: url(t, "http://a.test/")}
	left := func(d time.Duration, want int) {
		t.Helper()
		if n := s.left(at(d)); n != want {
			t.Errorf("after %v there are %d left, expected %d", d, n, want)
		}
	}
	left(0, 2)
	slow, quick := s.take(began, u, true), s.take(at(10*time.Millisecond), u, true)
	left(20*time.Millisecond, 0)
	s.end(quick)
	left(waitsFrom-1, 1)
	if next, ok := s.next(); !ok || next != at(waitsFrom) {
		t.Errorf("the next counts no more at %v, %v", next, ok)
	}
	left(waitsFrom, 2)
	if s.errands.all != 1 || s.errands.busy != 0 {
		t.Errorf("%+v, and one errand is in flight that does not count", s.errands)
	}
	s.end(slow)
	left(waitsFrom, 2)
	if _, ok := s.next(); ok || s.oldest != nil || s.newest != nil || s.errands.all != 0 {
		t.Error("something is in flight, and all has ended")
	}
}

// TestLongest: what has been in flight for longest is listed, the oldest first.
func TestLongest(t *testing.T) {
	s := slots{most: 10}
	began := time.Unix(1000, 0)
	var all []*slot
	for i := range mostLong + 3 {
		u := &frontier.URL{URL: url(t, fmt.Sprintf("http://%d.test/", i)), Tries: i, Resolve: i == 2}
		all = append(all, s.take(began.Add(time.Duration(i)*time.Second), u, false))
	}
	s.end(all[1])
	got := fmt.Sprint(s.longest(began.Add(longFrom + 3*time.Second)))
	want := fmt.Sprint([]record.InFlight{
		{URL: "http://0.test/", For: 8 * time.Second, Try: 1},
		{URL: "the address of 2.test", For: 6 * time.Second, Try: 3},
		{URL: "http://3.test/", For: 5 * time.Second, Try: 4},
	})
	if got != want {
		t.Errorf("%s\nexpected\n%s", got, want)
	}
	if got := s.longest(began.Add(longFrom - 1)); got != nil {
		t.Errorf("%v before %v", got, longFrom)
	}
}

// TestRate: the rate is that of the last seconds, or of the time since the first count.
func TestRate(t *testing.T) {
	var r rate
	began := time.Unix(1000, 0)
	at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
	is := func(seconds, urls, bytes float64) {
		t.Helper()
		if u, b := r.perSecond(at(seconds)); u != urls || b != bytes {
			t.Errorf("after %v s there are %v URLs and %v bytes a second, expected %v and %v", seconds, u, b, urls, bytes)
		}
	}
	is(0, 0, 0)
	r.count(at(0), 1, 100)
	is(0.5, 1, 100) // a second at least
	r.count(at(1), 1, 300)
	is(2, 1, 200)
	for s := 2.0; s < 20; s++ {
		r.count(at(s), 1, 10)
		r.count(at(s), 1, 10)
	}
	is(20, 2, 20)
	is(20+rateOver, 0, 0)
}

// TestEndBy: the limit that is reached first ends a crawl, and one that grows.
func TestEndBy(t *testing.T) {
	e := Estimate{Growing: true}
	for _, c := range []struct {
		limit string
		left  time.Duration
		bound string
	}{
		{"limit", time.Hour, "limit"}, {"max-time", 2 * time.Hour, "limit"}, {"max-time", time.Minute, "max-time"},
	} {
		if endBy(&e, c.limit, c.left); e.Bound != c.bound || e.Growing {
			t.Errorf("with %s in %v the bound is %q, expected %q", c.limit, c.left, e.Bound, c.bound)
		}
	}
	if e.Left != time.Minute {
		t.Errorf("%v left", e.Left)
	}
}
