package engine

import (
	"fmt"
	"net/http"
	"net/http/cookiejar"
	neturl "net/url"
	"testing"

	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/record"
)

// withCookie returns how URLs are asked again by a crawl that has a cookie of a.test.
func withCookie(t *testing.T) *again {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	jar.SetCookies(&neturl.URL{Scheme: "http", Host: "a.test"}, []*http.Cookie{{Name: "in", Value: "1"}})
	cfg := new(Config)
	cfg.Fetch.HTTP.Cookies, cfg.Frontier.MaxRedirects = jar, 10
	a := newAgain(cfg)
	return &a
}

// TestStale: a URL is asked again if its response was a redirect, or a login has come since, and
// its cookies are others now; after a POST whatever they are, but at most twice.
func TestStale(t *testing.T) {
	a := withCookie(t)
	page := url(t, "http://a.test/page")
	same := a.fetch.CookiesFor(page)
	for _, c := range []struct {
		name      string
		path      string // of the URL; empty: page
		cookies   uint64
		redirects bool
		with      why
		responses int
		want      bool
	}{
		{name: "a page with other cookies", responses: 1},
		{name: "a redirect with other cookies", redirects: true, responses: 1, want: true},
		{name: "a redirect with the same", cookies: same, redirects: true, responses: 1},
		{name: "a page after a login", with: newCookie, responses: 1, want: true},
		{name: "a page after a login that has set nothing", cookies: same, with: newCookie, responses: 1},
		{name: "a page after a POST", cookies: same, with: posted, responses: 1, want: true},
		{name: "after a second POST", cookies: same, with: posted, responses: maxPosted, want: true},
		{name: "after a third", cookies: same, with: posted, responses: maxPosted + 1},
		{name: "as often as redirects are followed", redirects: true, responses: 10, want: true},
		{name: "once too often", redirects: true, responses: 11},
	} {
		u := frontier.URL{URL: page}
		for range c.responses {
			u.Past = append(u.Past, frontier.Try{Status: 200})
		}
		if got := a.isStale(&u, c.cookies, c.redirects, c.with); got != c.want {
			t.Errorf("%s is stale: %v, expected %v", c.name, got, c.want)
		}
	}
	post := frontier.URL{URL: page.WithPost("0123456789abcdef")}
	if a.isStale(&post, 0, true, posted) {
		t.Error("a POST would be sent twice")
	}
}

// TestOn: URLs are asked again for cookies only where cookies can change.
func TestOn(t *testing.T) {
	cfg := new(Config)
	if newAgain(cfg).on {
		t.Error("on without a jar")
	}
	if !withCookie(t).on {
		t.Error("off with a jar")
	}
	cfg.Fetch.HTTP.Cookies = new(cookiejar.Jar)
	cfg.Fetch.HTTP.Header.Set("Cookie", "own=1")
	if newAgain(cfg).on {
		t.Error("on with a cookie of the user's own")
	}
}

// TestIntent: an intent begins with a new cookie or a POST, and goes on to where redirects lead.
func TestIntent(t *testing.T) {
	a := withCookie(t)
	gate := frontier.URL{URL: url(t, "http://a.test/gate?back=/"), From: "http://a.test/", Hops: 1}
	if with := a.intentOf(&fetch.Outcome{URL: gate}); with.why != 0 || len(with.past) != 0 {
		t.Errorf("a plain redirect has the intent %+v", with)
	}
	with := a.intentOf(&fetch.Outcome{URL: gate, Cookies: fetch.Cookies{New: true}})
	if with.why != newCookie || fmt.Sprint(with.past) != fmt.Sprint([]uint64{placeOf("http://a.test/gate")}) {
		t.Errorf("a gate has the intent %+v", with)
	}
	next := frontier.URL{URL: url(t, "http://a.test/welcome"), Hops: 2}
	a.expect(next.Fingerprint(), intent{why: posted})
	a.expect(next.Fingerprint(), intent{why: newCookie}) // says less
	if with := a.intentOf(&fetch.Outcome{URL: next, Cookies: fetch.Cookies{New: true}}); with.why != posted {
		t.Errorf("what follows from a POST has the intent %+v", with)
	}
	form := frontier.URL{URL: url(t, "http://a.test/login"), From: "http://a.test/form#top"}
	if with := a.intentOf(&fetch.Outcome{URL: form, Cookies: fetch.Cookies{New: true}}); len(with.past) != 2 || with.past[1] != placeOf("http://a.test/form") {
		t.Errorf("the page that links to a login is not where it begins: %+v", with)
	}
}

// TestEndedURLs: the oldest ended URLs make room, unless the store lacks them.
func TestEndedURLs(t *testing.T) {
	add := func(s *endedURLs, i, saved int) bool {
		u := frontier.URL{URL: url(t, fmt.Sprintf("http://a.test/%d", i))}
		return s.add(u.Fingerprint(), &ended{url: u, record: record.Record{URL: u.URL.String()}, batch: i}, saved)
	}
	cost := costOfEnded + 2*len("http://a.test/0")
	s := newEndedURLs(2 * cost)
	if !add(&s, 0, 0) || !add(&s, 1, 0) || !add(&s, 1, 0) || s.bytes != 2*cost {
		t.Errorf("%d bytes of %d", s.bytes, s.most)
	}
	if !add(&s, 2, 0) || s.order.Len() != 3 {
		t.Errorf("%d URLs, expected 3: none is saved", s.order.Len())
	}
	if add(&s, 3, 2) || s.order.Len() != 2 || s.bytes != 2*cost { // batches 0 and 1 are
		t.Errorf("%d URLs of %d bytes, expected the last 2", s.order.Len(), s.bytes)
	}
	first, last := frontier.URL{URL: url(t, "http://a.test/0")}, frontier.URL{URL: url(t, "http://a.test/3")}
	if s.find(first.Fingerprint()) != nil || s.find(last.Fingerprint()) == nil {
		t.Error("the newest makes room for the oldest")
	}
}
