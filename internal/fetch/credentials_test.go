package fetch_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// TestSession checks that credentials in a seed's URL and a cookie jar apply to every fetch loop,
// and to robots.txt. A job does not store them, so a resumed crawl needs them again.
func TestSession(t *testing.T) {
	const pages = 40
	var mu sync.Mutex
	var wrong []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		session, _ := r.Cookie("session")
		if user != "Ali" || password != "open sesame" || r.URL.Path != "/robots.txt" && r.URL.Path != "/" && session == nil {
			mu.Lock()
			wrong = append(wrong, fmt.Sprintf("%s: %q %q", r.URL, r.Header["Authorization"], r.Header["Cookie"]))
			mu.Unlock()
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			http.SetCookie(w, &http.Cookie{Name: "session", Value: "sesame"})
			for i := range pages {
				fmt.Fprintf(w, `<a href="/%d">x</a>`, i)
			}
		}
	}))
	defer server.Close()
	job := t.TempDir() + "/job"
	run := func(o weft.Options) weft.Summary {
		t.Helper()
		o.Job, o.Loops, o.HTTP.Cookies = job, 4, cookies.New()
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := c.Run(t.Context())
		if err != nil {
			t.Error(err)
		}
		return s
	}
	seed := strings.Replace(server.URL, "//", "//Ali:open%20sesame@", 1)
	if s := run(weft.Options{Seeds: []string{seed}, Limits: weft.Limits{Limit: pages / 2}}); s.Statuses[200].URLs != pages/2 {
		t.Errorf("statuses %v, expected %d of 200", s.Statuses, pages/2)
	}
	unknown := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return wrong
	}
	if wrong := unknown(); len(wrong) > 0 {
		t.Errorf("%d requests lack credentials, such as %s", len(wrong), wrong[0])
	}
	run(weft.Options{Limits: weft.Limits{Limit: pages}})
	if len(unknown()) == 0 {
		t.Error("the resumed job still knows the password")
	}
}

// TestCredentialOptions checks that a credential that cannot be sent is an option error, and that
// the error does not reveal it.
func TestCredentialOptions(t *testing.T) {
	for _, o := range []weft.Options{
		{Seeds: []string{"http://Ali%3Ax:sesame@site.test/"}},
		{Seeds: []string{"http://Ali:sesame%00@site.test/"}},
		{Seeds: []string{"http://site.test/"}, HTTP: weft.HTTP{Auth: []httpclient.Credential{{Scheme: "http", Host: "site.test", Token: "se same"}}}},
	} {
		if _, err := weft.New(o); err == nil || strings.Contains(err.Error(), "same") || !strings.Contains(err.Error(), "site.test") {
			t.Errorf("error %v, expected one that names the host and hides the credential", err)
		}
	}
}

// TestSecretsStayAtSeeds checks that Authorization and Cookie of Header, and a credential without a
// scheme, go to the origins of seeds and to no host that these redirect or link to, robots.txt
// included. Other fields go everywhere.
func TestSecretsStayAtSeeds(t *testing.T) {
	var mu sync.Mutex
	seen := make(map[string]map[string]string) // by server, by field
	server := func(name string, page func(w http.ResponseWriter, r *http.Request)) *httptest.Server {
		seen[name] = make(map[string]string)
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			for _, field := range []string{"Authorization", "Cookie", "X-Job"} {
				seen[name][field] += r.Header.Get(field) + ";"
			}
			mu.Unlock()
			page(w, r)
		}))
		t.Cleanup(s.Close)
		return s
	}
	other := server("other", func(w http.ResponseWriter, r *http.Request) {})
	linked := server("linked", func(w http.ResponseWriter, r *http.Request) {})
	seed := server("seed", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `<a href="/to">x</a><a href="%s">y</a>`, linked.URL)
		case "/to":
			http.Redirect(w, r, other.URL+"/", http.StatusFound)
		}
	})
	list := func(yield func(string, error) bool) { yield(seed.URL+"/", nil) }
	secret := httpclient.Header{{Name: "authorization", Value: "Bearer sesame"}, {Name: "Cookie", Value: "id=1"}, {Name: "X-Job", Value: "7"}}
	auth := []httpclient.Credential{{Host: strings.TrimPrefix(seed.URL, "http://"), User: "Ali", Password: "sesame"}}
	for _, c := range []struct {
		name string
		o    weft.Options
		want string // in Authorization, at the seed
	}{
		{"header", weft.Options{Seeds: []string{seed.URL}, HTTP: weft.HTTP{Header: secret}}, "Bearer sesame;"},
		{"header, list", weft.Options{SeedSeq: list, HTTP: weft.HTTP{Header: secret}}, "Bearer sesame;"},
		{"header, seeds that others wrote", weft.Options{Seeds: []string{seed.URL}, HTTP: weft.HTTP{Header: secret, Distrust: true}}, "Bearer sesame;"},
		{"credential", weft.Options{Seeds: []string{seed.URL}, HTTP: weft.HTTP{Auth: auth}}, "Basic "},
		{"credential, list", weft.Options{SeedSeq: list, HTTP: weft.HTTP{Auth: auth}}, "Basic "},
	} {
		t.Run(c.name, func(t *testing.T) {
			mu.Lock()
			for _, fields := range seen {
				clear(fields)
			}
			mu.Unlock()
			c.o.Reach.Scope, c.o.HTTP.AllowPrivate = weft.ScopeAny, true
			crawler, err := weft.New(c.o)
			if err != nil {
				t.Fatal(err)
			}
			if s, err := crawler.Run(t.Context()); err != nil || s.Statuses[200].URLs != 3 {
				t.Fatalf("%v, statuses %v, expected 3 of 200", err, s.Statuses)
			}
			mu.Lock()
			defer mu.Unlock()
			for name, fields := range seen {
				trusted := name == "seed" && !c.o.HTTP.Distrust
				if got := fields["Authorization"]; strings.HasPrefix(got, c.want) != trusted || strings.Contains(got, ";;") == trusted {
					t.Errorf("%s: Authorization %q", name, got)
				}
				if got := strings.Contains(fields["Cookie"], "id=1"); got != (trusted && c.o.HTTP.Header != nil) {
					t.Errorf("%s: Cookie %q", name, fields["Cookie"])
				}
				if got := strings.Contains(fields["X-Job"], "7"); got != (c.o.HTTP.Header != nil) {
					t.Errorf("%s: X-Job %q", name, fields["X-Job"])
				}
			}
		})
	}
}

// TestUnusedCredential checks the warnings of credentials that no request can use.
func TestUnusedCredential(t *testing.T) {
	for _, c := range []struct {
		credential httpclient.Credential
		want       string
	}{
		{httpclient.Credential{Host: "pub.test", User: "a"}, ""},
		{httpclient.Credential{Host: "other.test", User: "a"}, "credential for other.test is never sent: no seed is at other.test; to send it there, write https://other.test"},
		{httpclient.Credential{Host: "port.test", User: "a"}, "credential for port.test is never sent: no seed is at port.test; to send it there, write port.test:8080=…"},
		{httpclient.Credential{Scheme: "https", Host: "other.test", User: "a"}, "credential for https://other.test is not sent unless a seed redirects there: https://other.test/ is out of scope"},
	} {
		var warnings []string
		o := weft.Options{Seeds: []string{"http://pub.test/", "http://port.test:8080/"}, HTTP: weft.HTTP{Auth: []httpclient.Credential{c.credential}}}
		o.Hooks.OnWarning = func(err error) { warnings = append(warnings, err.Error()) }
		crawltest.Web{"http://pub.test/": "a page", "http://port.test:8080/": "a page"}.CrawlOver(t, newDialNet(nil), o)
		if got := strings.Join(warnings, "; "); got != c.want {
			t.Errorf("%v: warnings %q, expected %q", c.credential, got, c.want)
		}
	}
}
