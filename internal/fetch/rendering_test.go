package fetch

import (
	"context"
	"errors"
	"fmt"
	neturl "net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/budget"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/httpcache"
	"github.com/weftcrawl/weft/internal/login"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/record"
	"github.com/weftcrawl/weft/weburl"
)

// TestCacheKey: what a page asks for in other words than another is not shared with it.
func TestCacheKey(t *testing.T) {
	t.Parallel()
	u, err := weburl.Parse("http://a.test/api")
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for _, f := range []render.Field{{Name: "X-A", Value: "a"}, {Name: "Accept", Value: "b"}, {Name: "Accept-Language", Value: "b"}, {Name: "Origin", Value: "b"}, {Name: "accept", Value: "c"}} {
		key := cacheKey(u.String(), &render.Request{Method: "GET", Header: []render.Field{f}}, false)
		if other, known := keys[key]; known || key == "" {
			t.Errorf("%v: the key %q, as of %s", f, key, other)
		}
		keys[key] = f.Name
	}
	if a, b := cacheKey(u.String(), &render.Request{Method: "GET"}, false), cacheKey(u.String(), &render.Request{Method: "GET", Header: []render.Field{{Name: "X-A", Value: "x"}}}, false); a != b {
		t.Errorf("keys %q and %q", a, b)
	}
	for _, q := range []render.Request{{Method: "POST"}, {Method: "GET", Header: []render.Field{{Name: "Range", Value: "bytes=0-1"}}}} {
		if key := cacheKey(u.String(), &q, false); key != "" {
			t.Errorf("%+v: key %q", q, key)
		}
	}
}

// TestCachedAs: what was requested before another login is not used after it, but for what
// strangers have asked for, which is never for the site's own pages.
func TestCachedAs(t *testing.T) {
	t.Parallel()
	u, err := weburl.Parse("http://a.test/api")
	if err != nil {
		t.Fatal(err)
	}
	own, strange := cachedAs(u, false, 1), cachedAs(u, true, 1)
	if own == strange {
		t.Errorf("%q for strangers, too", own)
	}
	if again := cachedAs(u, false, 2); again == own {
		t.Errorf("%q, as before", again)
	}
	if again := cachedAs(u, true, 2); again != strange {
		t.Errorf("%q, expected %q", again, strange)
	}
}

// TestStrangersCookies: what a server says to the cookie of a stranger is for that alone, whatever
// it is; with the cookie, what is for all may be read.
func TestStrangersCookies(t *testing.T) {
	t.Parallel()
	page, err := weburl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	with := []render.Field{{Name: "Cookie", Value: "lang=xx"}}
	for _, kind := range []render.Type{render.TypeScript, "Fetch"} {
		err := aio.Run(t.Context(), func(task *aio.Task) error {
			n := 0
			give := func(u frontier.URL) {
				n++
				u.Errand.For.(*Errand).give(answer{res: httpcache.Response{Status: 200, Header: httpclient.Header{{Name: "Cache-Control", Value: "max-age=60"}}}})
			}
			s := &rendering{
				renders: &renders{cfg: &Config{Render: &Rendering{Cache: httpcache.New(1<<20, nil)}}, reports: &reports{report: Report{Errand: give}, outbox: task.Loop().Handle()}, shared: new(Shared)},
				rules:   PageRules{Page: page}, cookies: NewPageCookies(nil, page), turns: make(chan struct{}, 1),
			}
			defer s.reports.outbox.Close()
			for i, c := range []struct {
				url    string
				header []render.Field
				asked  int // by then
			}{
				{"http://b.test/", with, 1}, {"http://b.test/", nil, 2}, {"http://b.test/", with, 2},
				{"http://a.test/", with, 3}, {"http://a.test/", nil, 3},
			} {
				_, err := aio.Offload(task, func(ctx context.Context) (*render.Response, error) {
					return s.fetch(ctx, &render.Request{Method: "GET", URL: c.url, Type: kind, Header: c.header})
				})
				if err != nil || n != c.asked {
					t.Errorf("%s %d: %d requests, expected %d; %v", kind, i, n, c.asked, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
}

// TestRefusals: pages of a site share that a server has refused one of them a script; those of
// other sites ask for it.
func TestRefusals(t *testing.T) {
	t.Parallel()
	err := aio.Run(t.Context(), func(task *aio.Task) error {
		n := 0
		refuse := func(u frontier.URL) {
			n++
			u.Errand.For.(*Errand).give(answer{res: httpcache.Response{Status: 404}})
		}
		of := &renders{cfg: &Config{Render: &Rendering{Cache: httpcache.New(1<<20, nil)}}, reports: &reports{report: Report{Errand: refuse}, outbox: task.Loop().Handle()}, shared: new(Shared)}
		defer of.reports.outbox.Close()
		for i, c := range []struct {
			page  string
			asked int // by then
		}{{"http://a.test/", 1}, {"http://www.a.test/", 1}, {"http://c.test/", 2}, {"http://c.test/", 2}} {
			page := mustParse(t, c.page)
			s := &rendering{renders: of, rules: PageRules{Page: page}, cookies: NewPageCookies(nil, page), turns: make(chan struct{}, 1)}
			res, err := aio.Offload(task, func(ctx context.Context) (*render.Response, error) {
				return s.fetch(ctx, &render.Request{Method: "GET", URL: "http://b.test/app.js", Type: render.TypeScript})
			})
			if err != nil || res.Status != 404 || n != c.asked {
				t.Errorf("%d: %d requests, expected %d; %+v, %v", i, n, c.asked, res, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestClean: a page lacks by accident what has failed, but not what was left out by choice.
func TestClean(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		doc  render.Document
		want bool
	}{
		{render.Document{}, true},
		{render.Document{Cut: "time"}, false},
		{render.Document{Errors: []string{"TypeError"}}, false},
		{render.Document{Refused: []render.Refusal{{Type: render.TypeScript, Reason: "status 500"}}}, false},
		{render.Document{Refused: []render.Refusal{{Type: render.TypePing, Reason: "status 500"}}}, true},
		{render.Document{Refused: []render.Refusal{{Type: render.TypeImage, Reason: string(errNotNeeded), ByRule: true}}}, true},
		{render.Document{Refused: []render.Refusal{{Type: render.TypeScript, Reason: blockedBy + "||ads.test^", ByRule: true}}}, true},
		{render.Document{Refused: []render.Refusal{{Type: render.TypeScript, Reason: "robots-denied", ByRule: true}}}, false},
	} {
		if got := isClean(&c.doc); got != c.want {
			t.Errorf("%+v: %t", c.doc, got)
		}
	}
}

// TestKept: the crawl takes from what pages have requested the parts of pages, those of other sites
// as strangers asked for them, and no page.
func TestKept(t *testing.T) {
	t.Parallel()
	const script, other = "http://a.test/app.js", "http://b.test/logo.svg"
	f := &fetcher{
		cfg:   &Config{Render: &Rendering{Cache: httpcache.New(1<<20, nil)}},
		pages: &pageReader{renders: renders{shared: &Shared{Bodies: budget.New(1 << 20)}}},
	}
	for url, r := range map[string]struct {
		mime     string
		stranger bool
	}{script: {"text/javascript", false}, "http://a.test/page": {"text/html", false}, other: {"image/svg+xml", true}} {
		x := &Exchange{res: httpclient.Response{Status: 200, Header: httpclient.Header{{Name: "Content-Type", Value: r.mime}}}}
		f.cfg.Render.Cache.Keep(assetKey(cachedAs(mustParse(t, url), r.stranger, 0)), httpcache.Response{Status: 200, Body: []byte(url), Exchange: x}, time.Minute)
	}
	for _, c := range []struct {
		url, from string
		role      frontier.Role
		want      bool
	}{
		{script, "http://a.test/", frontier.RolePage, true},
		{"http://a.test/page", "http://a.test/", frontier.RolePage, false},
		{"http://a.test/page", "http://a.test/", frontier.RoleAsset, true},
		{other, "http://a.test/", frontier.RoleAsset, true},
		{other, "http://b.test/", frontier.RoleAsset, false},
		{"http://a.test/none.js", "http://a.test/", frontier.RoleAsset, false},
	} {
		got := f.kept(&fetching{lease: Lease{URL: frontier.URL{URL: mustParse(t, c.url), From: c.from, Role: c.role}}})
		if (got != nil) != c.want || got != nil && string(got.Body) != c.url {
			t.Errorf("%s from %s as %v: %+v", c.url, c.from, c.role, got)
		}
	}
}

func mustParse(t *testing.T, text string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestStores: a page finds stored what a session has for its site, and its frames of other sites
// find nothing.
func TestStores(t *testing.T) {
	t.Parallel()
	about := login.About{}
	for _, origin := range []string{"https://a.test", "https://www.a.test", "https://b.test"} {
		about.Stores = append(about.Stores, login.Store{Origin: origin, Items: [][2]string{{"token", "t"}}})
	}
	file, s := filepath.Join(t.TempDir(), "session"), new(login.Session)
	if err := errors.Join(login.Save(file, about, nil), s.Open(file)); err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{"https://app.a.test/": "[https://a.test https://www.a.test]", "https://b.test/": "[https://b.test]", "https://c.test/": "[]"} {
		page, err := weburl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		origins := []string{}
		for _, store := range Stores(s, page) {
			origins = append(origins, store.Origin)
		}
		if got := fmt.Sprint(origins); got != want {
			t.Errorf("%s: %s, expected %s", url, got, want)
		}
	}
}

// TestDocumentSecrets: no secret of a session is in the record of a page, in a URL or a message.
func TestDocumentSecrets(t *testing.T) {
	t.Parallel()
	const secret = "s3cret/of+a=session"
	file, s := filepath.Join(t.TempDir(), "session"), new(login.Session)
	about := login.About{Stores: []login.Store{{Origin: "https://a.test", Items: [][2]string{{"token", secret}}}}}
	if err := errors.Join(login.Save(file, about, nil), s.Open(file)); err != nil {
		t.Fatal(err)
	}
	page, err := weburl.Parse("https://a.test/p")
	if err != nil {
		t.Fatal(err)
	}
	encoded := neturl.QueryEscape(secret)
	doc := &render.Document{
		URL: "https://a.test/p?token=" + encoded,
		Refused: []render.Refusal{
			{URL: "wss://a.test/live?t=" + secret, Reason: "blocked", ByRule: true}, {URL: "https://a.test/api?t=" + encoded, Reason: "status 500"},
			{URL: "https://a.test/in/" + secret, Reason: "status 404"}, {URL: "https://a.test/open?a=b", Reason: "status 404"},
		},
		Errors: []string{"Error: " + secret + " has expired", "Error: other"},
	}
	for _, session := range []*login.Session{s, nil} {
		var r record.Rendered
		at := takeDocument(&r, doc, page, session)
		got := fmt.Sprint(at, r.URL, r.Failed, r.Refused, r.Errors)
		if has := strings.Contains(got, secret) || strings.Contains(got, encoded); has == (session != nil) {
			t.Errorf("%s", got)
		}
		if want := "[https://a.test/api status 500 https://a.test/ status 404 https://a.test/open?a=b status 404]"; session != nil && fmt.Sprint(r.Failed) != want {
			t.Errorf("%s, expected %s", r.Failed, want)
		}
	}
}
