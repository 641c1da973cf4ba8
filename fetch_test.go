package weft

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/weftcrawl/weft/aio"
	"github.com/weftcrawl/weft/guard"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/fetch"
	"github.com/weftcrawl/weft/internal/render"
	"github.com/weftcrawl/weft/robots"
	"github.com/weftcrawl/weft/weburl"
)

// TestChain: the given host may be at any address, until it was at a public one: then a redirect
// to itself does not reach where its name has moved to.
func TestChain(t *testing.T) {
	given, other := parsed(t, "http://site.example/"), parsed(t, "http://other.example/")
	at := netip.MustParseAddrPort
	for _, c := range []struct {
		name    string
		first   string // address of the given host; !: and a public one, too
		then    weburl.URL
		at      string
		allowed bool
	}{
		{"public, and stays", "93.184.216.34:80", given, "93.184.216.35:80", true},
		{"public, then on this machine", "93.184.216.34:80", given, "127.0.0.1:80", false},
		{"public, then private", "93.184.216.34:80", given, "10.0.0.1:80", false},
		{"private, and moves", "10.0.0.1:80", given, "192.168.0.1:80", true},
		{"private, another there", "10.0.0.1:80", other, "10.2.3.4:80", true},
		{"private, another elsewhere", "10.0.0.1:80", other, "192.168.0.1:80", false},
		{"public, another on this machine", "93.184.216.34:80", other, "127.0.0.1:80", false},
		{"private beside a public one, another there", "!10.0.0.1:80", other, "10.0.0.1:80", false},
	} {
		r := chain{first: given}
		if r.allow(given) != nil {
			t.Errorf("%s: the given host is judged", c.name)
		}
		first, mixed := strings.CutPrefix(c.first, "!")
		r.answered(given, at(first), !mixed && !guard.IsPublic(at(first).Addr()))
		var err error
		if judge := r.allow(c.then); judge != nil {
			err = judge(at(c.at))
		}
		if (err == nil) != c.allowed {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func parsed(t *testing.T, s string) weburl.URL {
	t.Helper()
	u, err := weburl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestChainSecrets: secrets go to the first origin, and to its https.
func TestChainSecrets(t *testing.T) {
	for _, c := range []struct {
		chain        chain
		scheme, host string
		want         bool
	}{
		{chain{first: parsed(t, "http://a.test/")}, "http", "a.test", true},
		{chain{first: parsed(t, "http://a.test/")}, "https", "a.test", true},
		{chain{first: parsed(t, "http://a.test/")}, "http", "b.test", false},
		{chain{first: parsed(t, "http://a.test:8080/")}, "https", "a.test:8080", false},
		{chain{first: parsed(t, "https://a.test/")}, "http", "a.test", false},
		{chain{first: parsed(t, "https://a.test/"), distrust: true}, "https", "a.test", false},
	} {
		if got := c.chain.trusted(c.scheme, c.host); got != c.want {
			t.Errorf("%s, distrust %t: %s://%s is trusted: %t", c.chain.first, c.chain.distrust, c.scheme, c.host, got)
		}
	}
}

// TestFetchHandsOn: each option of HTTP that a client has too reaches it.
func TestFetchHandsOn(t *testing.T) {
	for f := range reflect.TypeFor[HTTP]().Fields() {
		if _, has := reflect.TypeFor[httpclient.Options]().FieldByName(f.Name); !has {
			continue
		}
		var o Options
		change(t, &o, f.Name)
		if v := reflect.ValueOf(o.HTTP.client()).FieldByName(f.Name); v.IsZero() {
			t.Errorf("%s does not arrive", f.Name)
		}
	}
}

// TestFetch: the page is the end of the redirects, and OnExchange sees the way there.
func TestFetch(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/302", "/307":
			w.Header().Set("Location", "/end")
			w.WriteHeader(int(r.URL.Path[3]-'0') + 300)
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/mail":
			w.Header().Set("Location", "mailto:a@b.test")
			w.WriteHeader(http.StatusFound)
		case "/port":
			http.Redirect(w, r, "http://127.0.0.1:6000/", http.StatusFound)
		case "/cut":
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, "half")
		case "/gone":
			w.WriteHeader(http.StatusGone)
		default:
			w.Header().Set("Content-Type", "text/html; charset=koi8-r")
			body, _ := io.ReadAll(r.Body)
			fmt.Fprintf(w, "%s %s \xc1", r.Method, body)
		}
	}))
	defer site.Close()
	post := PostForm("", map[string][]string{"q": {"1"}})
	for name, c := range map[string]struct {
		url, way string // of the requests: path and status
		o        FetchOptions
		text     string // of the page
		kind     string // of the error
	}{
		"a page":                   {"/end", "/end 200", FetchOptions{}, "GET  а", ""},
		"any status":               {"/gone", "/gone 410", FetchOptions{}, "", ""},
		"a redirect":               {"/302", "/302 302, /end 200", FetchOptions{}, "GET  а", ""},
		"a redirect, not followed": {"/302", "/302 302", FetchOptions{NoRedirects: true}, "", ""},
		"elsewhere, not followed":  {"/mail", "/mail 302", FetchOptions{NoRedirects: true}, "", ""},
		"head":                     {"/302", "/302 302, /end 200", FetchOptions{Head: true}, "", ""},
		"post, by 302":             {"/302", "/302 302, /end 200", FetchOptions{Post: &post}, "GET  а", ""},
		"post, by 307":             {"/307", "/307 307, /end 200", FetchOptions{Post: &post}, "POST q=1 а", ""},
		"a loop":                   {"/loop", "/loop 302, /loop 302, /loop 302", FetchOptions{MaxRedirects: 2}, "", KindRedirects},
		"ten redirects":            {"/loop", strings.Repeat("/loop 302, ", 10) + "/loop 302", FetchOptions{}, "", KindRedirects},
		"no redirect":              {"/302", "/302 302", FetchOptions{MaxRedirects: -1}, "", KindRedirects},
		"to mail":                  {"/mail", "/mail 302", FetchOptions{}, "", KindLocation},
		"to a blocked port":        {"/port", "/port 302", FetchOptions{}, "", KindLocation},
		"cut off":                  {"/cut", "/cut 200", FetchOptions{}, "", string(httpclient.KindEarlyEnd)},
		"others wrote it":          {"/end", "/end 0", FetchOptions{HTTP: HTTP{Distrust: true}}, "", string(httpclient.KindBlocked)},
	} {
		t.Run(name, func(t *testing.T) {
			var way []string
			c.o.OnExchange = func(p *Page) error {
				way = append(way, fmt.Sprint(strings.TrimPrefix(p.URL, site.URL), " ", p.Status))
				return nil
			}
			p, err := Fetch(t.Context(), site.URL+c.url, c.o)
			var failed *FetchError
			if errors.As(err, &failed) != (c.kind != "") || err != nil && failed == nil || p.ErrorKind != c.kind {
				t.Errorf("%v, %s; expected %q", err, p.ErrorKind, c.kind)
			}
			if got := strings.Join(way, ", "); got != c.way {
				t.Errorf("%s; expected %s", got, c.way)
			}
			if got := strings.TrimSpace(string(p.Text())); got != c.text && c.text != "" {
				t.Errorf("%q; expected %q", got, c.text)
			}
			if c.kind == "" && (p.Addr.String() != site.Listener.Addr().String() || p.TotalMS == 0 || p.Started.IsZero()) {
				t.Errorf("%+v", p)
			}
			if err := p.Add("/x"); err == nil {
				t.Error("a URL is added to a page of no crawl")
			}
		})
	}
	stop := errors.New("stop")
	p, err := Fetch(t.Context(), site.URL+"/302", FetchOptions{OnExchange: func(*Page) error { return stop }})
	if !errors.Is(err, stop) || p.Status != 302 {
		t.Errorf("%+v, %v; expected the error of OnExchange", p, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Fetch(ctx, site.URL, FetchOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; expected that of the context", err)
	}
	var wrong *OptionError
	if _, err := Fetch(t.Context(), site.URL, FetchOptions{HTTP: HTTP{HTTP1: true, HTTP2: true}}); !errors.As(err, &wrong) || wrong.Option != "HTTP2" {
		t.Errorf("%v; expected HTTP2 to be refused", err)
	}
	if _, err := Fetch(t.Context(), "ftp://a.test/", FetchOptions{}); err == nil || !strings.Contains(err.Error(), "expected http or https") {
		t.Errorf("%v", err)
	}
}

// TestFetchGuess: a URL without a scheme is requested by https, then by http, with a warning; so is
// the sitemap of its site. The URL is sent as it was written, with its user.
func TestFetchGuess(t *testing.T) {
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, _, _ := r.BasicAuth()
		fmt.Fprint(w, r.RequestURI, user)
	}))
	defer site.Close()
	_, port, _ := strings.Cut(site.Listener.Addr().String(), ":")
	resolve, err := httpclient.ParseOverride("site.test:" + port + ":127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	var warnings, way []string
	o := FetchOptions{
		HTTP:       HTTP{Resolve: []httpclient.Override{resolve}},
		OnWarning:  func(err error) { warnings = append(warnings, err.Error()) },
		OnExchange: func(p *Page) error { way = append(way, p.URL); return nil },
	}
	bare := "site.test:" + port
	p, err := Fetch(t.Context(), bare+"/a", o)
	if err != nil || string(p.Body) != "/a" || p.URL != "http://"+bare+"/a" || !slices.Equal(way, []string{"https://" + bare + "/a", p.URL}) {
		t.Errorf("%+v, %v, by way of %s", p, err, way)
	}
	if len(warnings) != 1 || !strings.HasSuffix(warnings[0], "; http://"+bare+"/a is tried instead") {
		t.Errorf("%q", warnings)
	}
	found, named, err := FindSitemaps(t.Context(), bare, o)
	if err != nil || named || len(found) != 1 || found[0].String() != "http://"+bare+"/sitemap.xml" {
		t.Errorf("%s, %t, %v; expected the usual one by http", found, named, err)
	}
	if p, err := Fetch(t.Context(), "http://ada:x@"+bare+"/%7e", o); err != nil || string(p.Body) != "/%7eada" {
		t.Errorf("%+v, %v; expected the URL as it was written, and its user", p, err)
	}
}

// TestFindSitemaps: those of robots.txt count, whatever the URL of the site, and at most
// robots.MaxSitemaps; a status of 4xx says nothing.
func TestFindSitemaps(t *testing.T) {
	const lines = "Sitemap: a.xml\nSitemap: ftp://b.test/\nSitemap: https://b.test/%zz\n"
	for name, c := range map[string]struct {
		status int
		text   string
		want   []string // those that begin with a slash, of the site
		named  bool
		err    string
	}{
		"named":    {200, lines, []string{"/a.xml", "https://b.test/%zz"}, true, "<nil>"},
		"none":     {200, "Sitemap: ftp://b.test/", []string{"/sitemap.xml"}, false, "<nil>"},
		"no file":  {404, lines, []string{"/sitemap.xml"}, false, "<nil>"},
		"too many": {200, strings.Repeat("Sitemap: /a\n", robots.MaxSitemaps+1), slices.Repeat([]string{"/a"}, robots.MaxSitemaps), true, "/robots.txt: more than 1000 sitemaps, the others are not listed"},
	} {
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/robots.txt":
				http.Redirect(w, r, "/dir/rules", http.StatusFound)
			case "/dir/rules":
				w.WriteHeader(c.status)
				fmt.Fprint(w, c.text)
			}
		}))
		defer site.Close()
		found, named, err := FindSitemaps(t.Context(), site.URL+"/dir/page", FetchOptions{})
		var got []string
		for _, u := range found {
			got = append(got, strings.TrimPrefix(u.String(), site.URL))
		}
		if !slices.Equal(got, c.want) || named != c.named || !strings.HasSuffix(fmt.Sprint(err), c.err) {
			t.Errorf("%s: %q, %t, %v", name, got, named, err)
		}
	}
}

// TestFetchRendered: a page that looks empty until its scripts run is rendered, from the response
// that was received and by requests of Weft alone; others are not, unless all are.
func TestFetchRendered(t *testing.T) {
	if _, err := FindBrowser(""); err != nil {
		t.Skip(err)
	}
	var mu sync.Mutex
	var asked []string // with the User-Agent of each
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.UserAgent(), r.Header.Get("X-App")))
		mu.Unlock()
		w.Header().Set("Content-Type", "text/html; charset=iso-8859-1")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, "<!doctype html><title>Shop</title><div id=root></div><img src=/a.png><script src=/app.js></script>")
		case "/text":
			fmt.Fprint(w, "<!doctype html><title>T</title><p>"+strings.Repeat("A page with text. ", 20)+"<script>document.body.append('and more')</script>")
		case "/app.js":
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprint(w, "fetch('/old', {headers: {'X-App': 'shop'}}).then(r => r.json()).then(all => { root.innerHTML = '<h1>' + all.name + ' ' + navigator.userAgent + '</h1><a href=/k>k</a>' });"+
				"fetch('/save', {method: 'POST', body: 'x'}); fetch('http://169.254.169.254/latest/').catch(() => { document.title = 'guarded' }); location.hash = 'here'")
		case "/old":
			http.Redirect(w, r, "/new", http.StatusFound)
		case "/new":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"name": "K\u00e4ttle"}`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	o := FetchOptions{HTTP: HTTP{UserAgent: "testbot/1"}, Render: Render{Rendering: RenderAuto}}
	p, err := Fetch(t.Context(), s.URL+"/", o)
	if err != nil || p.Rendered == nil {
		t.Fatalf("%+v, %v", p, err)
	}
	r := p.Rendered
	if html := string(r.HTML); !strings.Contains(html, "<h1>Kättle testbot/1</h1>") || !strings.Contains(html, "<title>guarded</title>") || strings.Contains(string(p.Body), "ttle") {
		t.Errorf("%s", html)
	}
	if r.Reason != "mount" || r.URL != s.URL+"/#here" || !slices.Contains(r.Targets, s.URL+"/#here") || r.Cut != "" {
		t.Errorf("%+v", r)
	}
	var refused []string
	for _, x := range r.Refused {
		refused = append(refused, strings.TrimPrefix(x.URL, s.URL)+" "+x.Reason)
	}
	slices.Sort(refused)
	if len(refused) != 3 || refused[0] != "/a.png not needed" || !strings.HasPrefix(refused[1], "/save method POST") || !strings.Contains(refused[2], "http://169.254.169.254/latest/ ") {
		t.Errorf("refused %q", refused)
	}
	mu.Lock()
	slices.Sort(asked)
	if got := strings.Join(asked, ", "); got != "GET / testbot/1 , GET /app.js testbot/1 , GET /new testbot/1 shop, GET /old testbot/1 shop" {
		t.Errorf("requests %s", got)
	}
	mu.Unlock()
	if p, err := Fetch(t.Context(), s.URL+"/text", o); err != nil || p.Rendered != nil {
		t.Errorf("a page with text: %+v, %v", p.Rendered, err)
	}
	o.Render.Rendering = RenderAlways
	if p, err := Fetch(t.Context(), s.URL+"/text", o); err != nil || p.Rendered == nil || p.Rendered.Reason != "always" || !strings.Contains(string(p.Rendered.HTML), "</p>and more") {
		t.Errorf("always: %+v, %v", p.Rendered, err)
	}
	if p, err := Fetch(t.Context(), s.URL+"/missing", o); err != nil || p.Rendered != nil {
		t.Errorf("a page that is missing: %+v, %v", p.Rendered, err)
	}
	o.Render.Wait = "3"
	var wrong *OptionError
	if _, err := Fetch(t.Context(), s.URL+"/text", o); !errors.As(err, &wrong) || wrong.Option != "Wait" {
		t.Errorf("wait: %v", err)
	}
	o.Render.Wait, o.Render.Screenshot, o.Render.PDF = "p", ScreenshotViewport, true
	p, err = Fetch(t.Context(), s.URL+"/", o)
	if err != nil || p.Rendered.Cut != "wait" || !strings.HasPrefix(string(p.Rendered.Screenshot), "\x89PNG") || !strings.HasPrefix(string(p.Rendered.PDF), "%PDF-") || p.Rendered.Missing != "" {
		t.Errorf("pictures: %+v, %v", p.Rendered, err)
	}
	if n := slices.IndexFunc(p.Rendered.Refused, func(x RefusedRequest) bool { return x.URL == s.URL+"/a.png" }); n < 0 || p.Rendered.Refused[n].Status != 404 || p.Rendered.Refused[n].ByRule {
		t.Errorf("an image that is missing: %+v", p.Rendered.Refused)
	}
	o.Render.Browser = "no-such-browser"
	if _, err := Fetch(t.Context(), s.URL+"/text", o); err == nil || !strings.Contains(err.Error(), "no-such-browser") {
		t.Errorf("no browser: %v", err)
	}
}

// TestPageMemory: a page that is rendered alone has no more of responses in memory than it may have
// in all: a server that holds memory of which others need some is not waited for.
func TestPageMemory(t *testing.T) {
	t.Parallel()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(8<<20+1))
		_, _ = w.Write(make([]byte, 8<<20))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer site.Close()
	o := FetchOptions{HTTP: HTTP{AllowPrivate: true, Timeout: time.Minute}}
	const hosts = 4 // with as many requests under way as there may be: 192 MiB
	at := parsed(t, site.URL)
	for i := range hosts {
		o.HTTP.Resolve = append(o.HTTP.Resolve, httpclient.Override{Host: fmt.Sprintf("h%d.test", i), Port: uint16(at.EffectivePort()), Addr: netip.MustParseAddr("127.0.0.1")})
	}
	f, err := newFetcher(site.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, hosts*mostAtHost)
	err = f.withClient(t.Context(), f.given.URL, func(t *aio.Task, client *httpclient.Client) error {
		r := f.newRendering(t, client)
		r.rules, r.cookies = fetch.PageRules{Page: f.given.URL}, fetch.NewPageCookies(nil, f.given.URL)
		return r.run(t, func(ctx context.Context, _ *render.Renderer) error {
			ctx, end := context.WithCancel(ctx)
			defer end()
			for i := range cap(failed) {
				url := fmt.Sprintf("http://h%d.test:%d/%d", i%hosts, at.EffectivePort(), i)
				go func() {
					_, err := r.fetch(ctx, &render.Request{Method: "GET", URL: url, Type: render.TypeScript})
					failed <- err
				}()
			}
			if err := <-failed; !errors.Is(err, httpclient.ErrHeldUp) {
				return fmt.Errorf("the first that fails: %w", err)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
}
