package fetch

import (
	"fmt"
	"net/http/cookiejar"
	"testing"
	"time"

	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/frontier"
	"github.com/weftcrawl/weft/internal/scope"
	"github.com/weftcrawl/weft/record"
)

// TestOutcomeCounts: links that are not followed are counted by their reason; of those that are not
// known the record says why.
func TestOutcomeCounts(t *testing.T) {
	out := &Outcome{Record: new(record.Record)}
	out.Drop(scope.ReasonScope)
	out.Drop(scope.ReasonDepth)
	out.Drop(scope.ReasonScope)
	out.Cut(scope.ReasonBroken)
	out.Added(2, 2)
	out.Added(0, 0)
	want := fmt.Sprint([]Dropped{{scope.ReasonScope, 2}, {scope.ReasonDepth, 1}, {scope.ReasonBroken, 1}, {scope.ReasonTooMany, 2}})
	if got := fmt.Sprint(out.Dropped); got != want || out.Record.Cut != scope.ReasonBroken || out.Record.NewLinks != 2 {
		t.Errorf("%s, expected %s; the record %+v", got, want, out.Record)
	}
}

// TestRetryAfter: a server says in seconds or by a date when it wants to be asked again.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for field, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-1": 0, "120": 2 * time.Minute, "1.5": 2 * time.Second,
		"99999999999999999999":          frontier.MaxRetryAfter,
		"Sun, 29 Nov 2026 12:01:00 GMT": time.Minute,
		"Sun, 29 Nov 2026 11:00:00 GMT": 0,
	} {
		if got := retryAfter(field, now); got != want {
			t.Errorf("%q: %v, expected %v", field, got, want)
		}
	}
	for status, overload := range map[int]bool{200: false, 429: true, 500: false, 502: false, 503: true} {
		res := &httpclient.Response{Status: status, Header: httpclient.Header{{Name: "Retry-After", Value: "7"}}}
		if a := resultOf(res, now); a.Overload != overload || (a.RetryAfter == 7*time.Second) != overload {
			t.Errorf("status %d: %+v", status, a)
		}
	}
}

// TestRepeatable: a POST is sent again only if its work cannot have been done.
func TestRepeatable(t *testing.T) {
	later := httpclient.Header{{Name: "Retry-After", Value: "7"}}
	for _, c := range []struct {
		name   string
		method string
		res    *httpclient.Response
		err    error
		want   bool
	}{
		{"a GET", "", nil, &httpclient.Error{Kind: httpclient.KindReset}, true},
		{"a POST that was reset", methodPost, nil, &httpclient.Error{Kind: httpclient.KindReset}, false},
		{"a POST without a connection", methodPost, nil, &httpclient.Error{Kind: httpclient.KindConnect}, true},
		{"too many requests", methodPost, &httpclient.Response{Status: 429}, nil, true},
		{"unavailable for now", methodPost, &httpclient.Response{Status: 503, Header: later}, nil, true},
		{"unavailable", methodPost, &httpclient.Response{Status: 503}, nil, false},
		{"a bad gateway", methodPost, &httpclient.Response{Status: 502, Header: later}, nil, false},
	} {
		if got := repeatable(&httpclient.Request{Method: c.method}, c.res, c.err); got != c.want {
			t.Errorf("%s: %v, expected %v", c.name, got, c.want)
		}
	}
}

// TestTries: a HEAD takes no try from the GET that follows, nor do responses after which a URL was
// asked again; a server that dislikes HEAD gets a GET.
func TestTries(t *testing.T) {
	c := Config{Retries: 2}
	again := []frontier.Try{{Status: 302}, {Status: 503}, {Kind: "reset"}, {Status: 200}}
	for _, x := range []struct {
		u    frontier.URL
		want int
	}{
		{frontier.URL{}, 2}, {frontier.URL{Role: frontier.RoleExternal}, 3}, {frontier.URL{Past: again}, 4},
		{frontier.URL{Role: frontier.RoleExternal, Past: again}, 4},
	} {
		if got := c.retries(&x.u); got != x.want {
			t.Errorf("%+v may be tried %d times again, expected %d", x.u, got, x.want)
		}
	}
	req := new(httpclient.Request)
	external := frontier.URL{Role: frontier.RoleExternal}
	if c.check(req, &external); req.Method != methodHead || req.MaxBody != checkedBody || !req.Cut {
		t.Errorf("a link is checked by %+v", req)
	}
	for status, dislikes := range map[int]bool{200: false, 301: false, 404: true, 405: true, 503: true} {
		if dislikesHead(req, status, nil) != dislikes || dislikesHead(new(httpclient.Request), status, nil) {
			t.Errorf("status %d of HEAD, expected that it is disliked: %v", status, dislikes)
		}
	}
	external.Tries = 1
	req = new(httpclient.Request)
	if c.check(req, &external); req.Method != "" {
		t.Errorf("a second try is %s", req.Method)
	}
	req = new(httpclient.Request)
	if c.check(req, new(frontier.URL)); req.Cut {
		t.Error("a page is cut like a link that is checked")
	}
}

// TestCookiesOf: a response has a new cookie if the request had none of that name.
func TestCookiesOf(t *testing.T) {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := Config{HTTP: httpclient.Options{Cookies: jar}}
	for sets, isNew := range map[string]bool{"id=2; Path=/": false, "d=1": true, "in=1": true, "": false} {
		req := &httpclient.Request{Header: httpclient.Header{{Name: "Cookie", Value: "id=1; lang=en"}}}
		res := new(httpclient.Response)
		if sets != "" {
			res.Header.Set("Set-Cookie", sets)
		}
		if got := c.cookiesOf(req, res); got.New != isNew || got.Hash == 0 {
			t.Errorf("Set-Cookie: %s: %+v, expected new %v", sets, got, isNew)
		}
		if got := new(Config).cookiesOf(req, res); got != (Cookies{}) {
			t.Errorf("without a jar: %+v", got)
		}
	}
}
