package fetch

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/robots"
)

// robotsOutcome returns what comes of a lease of robots.txt.
func robotsOutcome(t *testing.T, u frontier.URL, res *httpclient.Response, err error) (out *Outcome) {
	t.Helper()
	aiotest.Run(t, func(task *aio.Task) error {
		cfg := &Config{Sitemaps: true, HTTP: httpclient.Options{UserAgent: "weft"}}
		links := newOutlinks(t, cfg)
		f := &robotsFetcher{bounds: links.bounds, fetcher: &fetcher{
			cfg: cfg, clock: &clock{task.Loop(), task.Loop().Now()}, reach: links.reach, archiver: new(archiver),
		}}
		x := &fetching{lease: Lease{URL: u}}
		if f.ask(x); x.req.MaxBody != maxRobots || !x.req.Cut {
			t.Errorf("a robots.txt is asked for by %+v", x.req)
		}
		var failed error
		out, failed = f.fetched(task, x, res, err)
		return failed
	})
	return out
}

// TestRobotsLease: a lease of robots.txt ends with rules, with the place where they are, or with
// why the host has none to go by.
func TestRobotsLease(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /no\n"
	at := frontier.URL{URL: url(t, "http://a.test/robots.txt"), Robots: true}
	last := at
	last.Hops = robots.MaxRedirects
	to := func(status int, location string) *httpclient.Response {
		return &httpclient.Response{Status: status, Header: httpclient.Header{{Name: "Location", Value: location}}}
	}
	file := func(text string, cut bool) *httpclient.Response {
		return &httpclient.Response{Status: 200, Body: []byte(text), Truncated: cut}
	}
	broken := &httpclient.Error{Kind: httpclient.KindEarlyEnd, Err: errors.New("it ended")}
	for _, c := range []struct {
		name string
		u    frontier.URL
		res  *httpclient.Response
		err  error
		want string
	}{
		{"rules", at, file(rules, false), nil, "no: false, sitemap.xml"},
		{"its sitemaps", at, file("Sitemap: /s.xml\nSitemap: mailto:a@a.test", false), nil, "no: true, s.xml, 1 dropped"},
		{"cut rules", at, file("User-agent: *\nDisallow: /no", true), nil, "no: true, sitemap.xml"},
		{"none", at, &httpclient.Response{Status: 404}, nil, "no: true, sitemap.xml"},
		{"an error of the server", at, &httpclient.Response{Status: 500}, nil, "robots-unreachable robots.txt: status 500"},
		{"elsewhere", at, to(301, "https://b.test/r"), nil, "at https://b.test/r"},
		{"after the last redirect", last, to(301, "/r"), nil, "no: true, sitemap.xml"},
		{"nowhere", at, to(302, ""), nil, "no: true, sitemap.xml"},
		{"too far", at, to(302, "/"+strings.Repeat("a", scope.DefaultURLLength)), nil, "no: true, sitemap.xml"},
		{"another scheme", at, to(302, "mailto:a@a.test"), nil, "no: true, sitemap.xml"},
		{"a blocked port", at, to(302, "http://b.test:25/"), nil, "robots-unreachable robots.txt: redirects to b.test:25, a blocked port"},
		{"half of it", at, &httpclient.Response{Status: 200}, broken, "early-end robots.txt: it ended"},
		{"half of a page of 404", at, &httpclient.Response{Status: 404}, broken, "no: true, sitemap.xml"},
		{"no host", at, nil, &httpclient.Error{Kind: httpclient.KindConnect, Err: errors.New("refused")}, "connect refused"},
	} {
		out := robotsOutcome(t, c.u, c.res, c.err)
		r := out.Robots
		got := fmt.Sprint(r.Kind, " ", r.Reason)
		switch {
		case r.At != nil:
			got = "at " + r.At.String()
		case r.Kind == "":
			got = fmt.Sprintf("no: %v", r.Rules.Test("/no").Allowed)
			for _, s := range r.Sitemaps {
				got += ", " + strings.TrimPrefix(s.URL.Path(), "/")
			}
			if len(out.Dropped) > 0 {
				got += fmt.Sprintf(", %d dropped", out.Dropped[0].N)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, expected %s", c.name, got, c.want)
		}
	}
}

// TestRobotsBlame: a host that does not answer for its robots.txt is to blame, this machine is not.
func TestRobotsBlame(t *testing.T) {
	at := frontier.URL{URL: url(t, "http://a.test/robots.txt"), Robots: true}
	for _, c := range []struct {
		kind                              httpclient.Kind
		silent, unreached, postpone, last bool
	}{
		{kind: httpclient.KindFirstByteTimeout, silent: true},
		{kind: httpclient.KindDialTimeout, unreached: true},
		{kind: httpclient.KindResource, postpone: true, last: true},
		{kind: httpclient.KindProtocol, last: true},
	} {
		out := robotsOutcome(t, at, nil, &httpclient.Error{Kind: c.kind, Err: errors.New("why")})
		if a := out.Result; a.Silent != c.silent || a.Unreached != c.unreached || out.Postpone != c.postpone || out.Robots.Final != c.last {
			t.Errorf("%s: %+v, postponed %v, final %v", c.kind, a, out.Postpone, out.Robots.Final)
		}
	}
}

// TestCompare: the record of a later visit says how a page has changed; a response that says
// nothing of the page leaves what is known of it.
func TestCompare(t *testing.T) {
	first := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	now := first.AddDate(0, 1, 0)
	known := frontier.Snapshot{Number: 1, Status: 200, Content: [32]byte{1}, ETag: "1", First: first, Changed: first, At: first}
	gone := frontier.Snapshot{Number: 1, Status: 404, First: first, Changed: first, At: first}
	for _, c := range []struct {
		name    string
		known   *frontier.Snapshot
		status  int
		content byte
		kind    string
		change  record.Change
		by      record.Sameness
		number  int // of the visit that the next one compares with
	}{
		{name: "new", status: 200, content: 1, change: record.ChangeNew, number: 2},
		{name: "the same", known: &known, status: 200, content: 1, change: record.ChangeUnchanged, by: record.SameBody, number: 2},
		{name: "changed", known: &known, status: 200, content: 2, change: record.ChangeChanged, number: 2},
		{name: "not modified", known: &known, status: 304, change: record.ChangeUnchanged, by: record.SameNotModified, number: 2},
		{name: "gone", known: &known, status: 404, change: record.ChangeGone, number: 2},
		{name: "still gone", known: &gone, status: 404, change: record.ChangeUnchanged, by: record.SameBody, number: 2},
		{name: "there at last", known: &gone, status: 200, content: 1, change: record.ChangeNew, number: 2},
		{name: "never there", status: 404, number: 2},
		{name: "unavailable", known: &known, status: 503, number: 1},
		{name: "broken off", known: &known, status: 200, content: 2, kind: "early-end", number: 1},
	} {
		cfg := &Config{Job: true, Visit: 2}
		out := &Outcome{
			URL:     frontier.URL{Known: c.known},
			Record:  &record.Record{Status: c.status, ErrorKind: c.kind, Started: now},
			content: [32]byte{c.content},
		}
		cfg.compare(out, &httpclient.Response{Status: c.status})
		r := out.Record
		if r.Change != c.change || r.UnchangedBy != c.by || out.URL.Known.Number != c.number {
			t.Errorf("%s: %q, unchanged by %q, compared with visit %d", c.name, r.Change, r.UnchangedBy, out.URL.Known.Number)
		}
		if changed := out.URL.Known.Changed; c.change == record.ChangeUnchanged && changed != first || c.change == record.ChangeChanged && changed != now {
			t.Errorf("%s: the last change was at %v", c.name, changed)
		}
	}
}

// TestConditions: a request says which response the crawl has, and a response what the next one is
// to say.
func TestConditions(t *testing.T) {
	if h := conditions(nil); h != nil {
		t.Errorf("%v at a first visit", h)
	}
	v := frontier.Snapshot{ETag: `"old"`, Modified: "old"}
	res := &httpclient.Response{Status: 500, Header: httpclient.Header{{Name: "ETag", Value: `"new"`}}}
	if validate(&v, res); v.ETag != `"old"` {
		t.Errorf("an error has the validator %s", v.ETag)
	}
	res.Status = 304
	validate(&v, res)
	if got := fmt.Sprint(conditions(&v)); got != fmt.Sprint(httpclient.Header{{Name: "If-None-Match", Value: `"new"`}, {Name: "If-Modified-Since", Value: "old"}}) {
		t.Errorf("the next request has %s", got)
	}
}
