package fetch_test

import (
	"net/http"
	"net/http/cookiejar"
	neturl "net/url"
	"strings"
	"testing"

	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/weburl"
)

// TestPageCookies: the browser says which cookies go with a request, and the jar their newest
// values; what the browser was not given goes to the page's site.
func TestPageCookies(t *testing.T) {
	t.Parallel()
	page, err := weburl.Parse("http://a.test/page")
	if err != nil {
		t.Fatal(err)
	}
	header := httpclient.Header{{Name: "set-cookie", Value: "sid=older"}, {Name: "X", Value: "y"}}
	for _, c := range []struct {
		name       string
		jar        string
		fields     int // of the page that the browser gets
		url, sends string
		want       string
	}{
		{"newer in the jar", "lists", 1, "http://a.test/api", "sid=old; same=1", "sid=new; same=1; odd=é; later=1"},
		{"set by a script", "lists", 1, "http://a.test/api", "sid=mine; same=1; js=1", "sid=mine; js=1; same=1; odd=é; later=1"},
		{"removed by a script", "lists", 1, "http://a.test/api", "sid=old", "sid=new; odd=é; later=1"},
		{"another site", "lists", 1, "http://b.test/", "", ""},
		{"another site that has set one", "lists", 1, "http://b.test/", "same=1", "same=1"},
		{"a jar of another kind", "plain", 2, "http://a.test/api", "js=1; sid=2", "js=1; sid=2; later=1"},
		{"a jar of another kind that has more", "plain", 2, "http://a.test/api", "js=1", "js=1; sid=new; later=1"},
		{"no jar", "", 2, "http://a.test/api", "js=1", "js=1"},
	} {
		var jar http.CookieJar
		switch c.jar {
		case "lists":
			ours := cookies.New()
			if err := ours.Load(strings.NewReader("a.test\tFALSE\t/\tFALSE\t0\tsid\told\na.test\tFALSE\t/\tFALSE\t0\tsame\t1\na.test\tFALSE\t/\tFALSE\t0\todd\té\nb.test\tFALSE\t/\tFALSE\t0\ttheirs\t1\n")); err != nil {
				t.Fatal(err)
			}
			jar = ours
		case "plain":
			jar, _ = cookiejar.New(nil)
		}
		of := fetch.NewPageCookies(jar, page)
		h, all := of.Give(header)
		if (len(all) == 2) != (c.jar == "lists") || len(h) != c.fields {
			t.Errorf("%s: the browser gets %v, %v", c.name, all, h)
		}
		if jar != nil {
			jar.SetCookies(&neturl.URL{Scheme: "http", Host: "a.test"}, []*http.Cookie{{Name: "sid", Value: "new", Path: "/"}, {Name: "later", Value: "1", Path: "/"}})
		}
		u, err := weburl.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		q := &render.Request{URL: c.url}
		if c.sends != "" {
			q.Header = []render.Field{{Name: "cookie", Value: c.sends}}
		}
		if got := *of.Of(q, u); got != c.want {
			t.Errorf("%s: %q, expected %q", c.name, got, c.want)
		}
	}
}

// TestPreflightCookies: the question whether a page may make a request goes without cookies, those
// of the jar that the browser does not know included.
func TestPreflightCookies(t *testing.T) {
	t.Parallel()
	u, err := weburl.Parse("http://a.test/api")
	if err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	jar.SetCookies(&neturl.URL{Scheme: "http", Host: "a.test"}, []*http.Cookie{{Name: "sid", Value: "1", Path: "/"}})
	of := fetch.NewPageCookies(jar, u)
	for want, header := range map[string][]render.Field{
		"":      {{Name: "Access-Control-Request-Method", Value: "GET"}},
		"sid=1": nil, // an OPTIONS of another kind
	} {
		if got := *of.Of(&render.Request{Method: "OPTIONS", URL: u.String(), Header: header}, u); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}
