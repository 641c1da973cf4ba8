package engine

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// url parses a URL in canonical form.
func url(t *testing.T, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u.Canonical()
}

// TestRetryWait: the wait doubles with each try up to about a minute. A server may ask for more, up
// to an hour, and for no less.
func TestRetryWait(t *testing.T) {
	for _, c := range []struct {
		name   string
		tries  int
		asks   time.Duration
		atOnce bool
		want   time.Duration
	}{
		{name: "the first try", want: time.Second},
		{name: "some tries", tries: 5, want: 32 * time.Second},
		{name: "the longest wait", tries: 6, want: 64 * time.Second},
		{name: "no longer", tries: 7, want: 64 * time.Second},
		{name: "any number", tries: 100, want: 64 * time.Second},
		{name: "the server asks for less", tries: 3, asks: time.Second, want: 8 * time.Second},
		{name: "for more", tries: 3, asks: time.Minute, want: time.Minute},
		{name: "for a year", asks: 365 * 24 * time.Hour, want: time.Hour},
		{name: "at once", tries: 3, asks: time.Minute, atOnce: true},
	} {
		out := &fetch.Outcome{URL: frontier.URL{Tries: c.tries}, Result: frontier.Result{RetryAfter: c.asks}, AtOnce: c.atOnce}
		if got := retryWait(out); got != c.want {
			t.Errorf("%s: %v, expected %v", c.name, got, c.want)
		}
	}
}

// TestLeads: a URL that an outcome may add is looked up before, wherever the outcome has it.
func TestLeads(t *testing.T) {
	at := func(path string) frontier.URL { return frontier.URL{URL: url(t, "http://a.test/"+path)} }
	target, instead := at("target"), at("instead")
	out := &fetch.Outcome{
		Links: []frontier.URL{at("link"), at("other")}, Target: &target, Instead: &instead,
		Robots: &fetch.Robots{Sitemaps: []frontier.URL{at("sitemap")}},
	}
	var paths []string
	leads(out, func(u weburl.URL) bool {
		paths = append(paths, u.Path())
		return true
	})
	if want := []string{"/link", "/other", "/sitemap", "/target", "/instead"}; !slices.Equal(paths, want) {
		t.Errorf("%v, expected %v", paths, want)
	}
}

// TestTry: a try says how it ended, and why links of its page are not followed that would be
// elsewhere.
func TestTry(t *testing.T) {
	dropped := func(reasons ...string) (all []fetch.Dropped) {
		for _, r := range reasons {
			all = append(all, fetch.Dropped{Reason: r, N: 1})
		}
		return all
	}
	for _, c := range []struct {
		out  fetch.Outcome
		want string
	}{
		{fetch.Outcome{Try: frontier.Try{Status: 503}}, "503  "},
		{fetch.Outcome{Record: &record.Record{Status: 404}}, "404  "},
		{fetch.Outcome{Record: &record.Record{ErrorKind: "dns", Error: "no such host"}}, "0 dns no such host"},
		{fetch.Outcome{Record: &record.Record{Status: 301, Redirect: "http://b.test/"}}, "301  http://b.test/"},
		{fetch.Outcome{Record: &record.Record{Status: 200}, Dropped: dropped(scope.ReasonScope)}, "200  "},
		{
			fetch.Outcome{Record: &record.Record{Status: 200}, Dropped: dropped(scope.ReasonNoFollow, scope.ReasonTooMany)},
			"200  its links are not followed, as it says nofollow; its last links are not followed, as they are too many",
		},
	} {
		now := time.Unix(1000, 0)
		got := try(&c.out, now)
		if s := fmt.Sprint(got.Status, " ", got.Kind, " ", got.Reason); s != c.want || got.At != now {
			t.Errorf("%q at %v, expected %q", s, got.At, c.want)
		}
	}
}

// TestShortageAlone: a URL whose try lacks something is postponed for a minute, and another minute
// after any URL last lacked nothing.
func TestShortageAlone(t *testing.T) {
	var s shortage
	began := time.Unix(1000, 0)
	at := func(d time.Duration) time.Time { return began.Add(d) }
	a, b := url(t, "http://a.test/"), url(t, "http://b.test/")
	for _, c := range []struct {
		after time.Duration
		of    weburl.URL
		short bool
		want  bool
	}{
		{0, a, true, true},
		{maxPostponed - 1, a, true, true},
		{maxPostponed - 1, b, false, false},
		{maxPostponed, a, true, true}, // b got through meanwhile
		{2*maxPostponed - 1, a, true, false},
		{2 * maxPostponed, a, true, true}, // a new try
	} {
		if got := s.postpones(at(c.after), c.of, c.short); got != c.want {
			t.Errorf("after %v %v is postponed: %v, expected %v", c.after, c.of, got, c.want)
		}
	}
}

// TestNested: a host's indexes may name so many sitemaps, and no more. Those of other hosts, and
// those that are known, do not count.
func TestNested(t *testing.T) {
	f := frontier.New(frontier.Config{})
	a := linkAdder{frontier: f}
	sitemap := func(host string, i int) frontier.URL {
		return frontier.URL{URL: url(t, fmt.Sprintf("http://%s.test/%d.xml", host, i)), From: "http://a.test/", Rank: 127}
	}
	if !fetch.IsSitemap(sitemap("a", 0)) {
		t.Fatal("no sitemap")
	}
	f.Add(sitemap("a", 0))
	var all []frontier.URL
	for i := range fetch.MaxNested + 3 {
		all = append(all, sitemap("a", i))
	}
	all = append(all, sitemap("b", 0), frontier.URL{URL: url(t, "http://a.test/page"), From: "http://a.test/"})
	if added, tooMany := a.add(all, false); added != fetch.MaxNested+2 || tooMany != 2 {
		t.Errorf("%d added and %d too many, expected %d and 2", added, tooMany, fetch.MaxNested+2)
	}
}

// TestErrandOutage: while the network is down, an errand that fails waits, and its page hears
// nothing of it.
func TestErrandOutage(t *testing.T) {
	now := time.Unix(1e9, 0)
	f := frontier.New(frontier.Config{})
	o := &outcomes{frontier: f, outage: &outage{down: true}, progress: &progress{clock: &clock{loop: aio.NewLoop(aio.Options{})}, summary: record.NewSummary()}}
	f.Errands().Add(now, frontier.URL{URL: url(t, "http://a.test/app.js"), Errand: &frontier.Errand{For: new(fetch.Errand)}})
	u := f.Errands().Lease(now, 1, false)[0]
	o.endErrand(now, &fetch.Outcome{URL: u, Network: fetch.NetworkLost, Failed: fmt.Errorf("no route"), Result: frontier.Result{Failure: "connect", Unreached: true}})
	if leases := f.Errands().Lease(now.Add(time.Second), 1, false); len(leases) != 1 || leases[0].Tries != 0 {
		t.Errorf("leased %v a second later, expected the errand again, without a try", leases)
	}
}
