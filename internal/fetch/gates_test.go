package fetch_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/cookies"
	"github.com/weftcrawl/weft/httpclient"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/long"
)

// gated is a site whose pages depend on cookies. It notes what was asked for.
type gated struct {
	*httptest.Server
	mu struct {
		sync.Mutex
		asked []string
	}
}

// has reports whether a request has a cookie.
func has(r *http.Request, name string) bool {
	_, err := r.Cookie(name)
	return err == nil
}

func newGated(t *testing.T, page func(http.ResponseWriter, *http.Request)) *gated {
	g := new(gated)
	g.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		g.mu.Lock()
		g.mu.asked = append(g.mu.asked, r.Method+" "+r.URL.RequestURI())
		g.mu.Unlock()
		w.Header().Set("Content-Type", "text/html")
		page(w, r)
	}))
	t.Cleanup(g.Close)
	return g
}

// requests returns what was asked for, in order.
func (g *gated) requests() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.mu.asked)
}

// count returns how often something was asked for.
func (g *gated) count(what string) (n int) {
	for _, asked := range g.requests() {
		if asked == what {
			n++
		}
	}
	return n
}

// last returns the status and the title of the last record of each URL, by its path, and the number
// of records.
func (g *gated) last(t *testing.T, job string, visit int) (map[string]string, int) {
	t.Helper()
	last, n := make(map[string]string), 0
	for _, r := range crawltest.Visits(t, job)[visit] {
		n++
		path, _, _ := strings.Cut(strings.TrimPrefix(r.URL, g.URL), "#")
		last[path] = strings.TrimSpace(fmt.Sprint(r.Status, " ", r.ErrorKind, r.Title, " ", r.Change))
	}
	return last, n
}

// setAndGo answers with a redirect that sets cookies.
func setAndGo(w http.ResponseWriter, r *http.Request, status int, to string, names ...string) {
	for _, name := range names {
		http.SetCookie(w, &http.Cookie{Name: name, Value: "1", Path: "/"})
	}
	http.Redirect(w, r, to, status)
}

// gates are sites behind gates; each shows "home" at / once it is passed.
var gates = map[string]func(w http.ResponseWriter, r *http.Request){
	"a gate": func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/gate":
			setAndGo(w, r, 302, r.FormValue("return"), "seen")
		case !has(r, "seen"):
			http.Redirect(w, r, "/gate?return="+r.URL.Path, http.StatusFound)
		default:
			fmt.Fprint(w, "<title>home</title>")
		}
	},
	"307 to itself": func(w http.ResponseWriter, r *http.Request) {
		if !has(r, "seen") {
			setAndGo(w, r, 307, "/", "seen")
			return
		}
		fmt.Fprint(w, "<title>home</title>")
	},
	"gates in turns": func(w http.ResponseWriter, r *http.Request) {
		if name := strings.Trim(r.URL.Path, "/"); name != "" {
			setAndGo(w, r, 302, "/", name)
			return
		}
		for _, name := range []string{"age", "region", "consent", "language"} {
			if !has(r, name) {
				http.Redirect(w, r, "/"+name, http.StatusFound)
				return
			}
		}
		fmt.Fprint(w, "<title>home</title>")
	},
	"gates in a row": func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/one":
			setAndGo(w, r, 302, "/two", "first")
		case "/two":
			http.Redirect(w, r, "/three", http.StatusFound)
		case "/three":
			setAndGo(w, r, 302, "/", "seen")
		default:
			if !has(r, "seen") {
				http.Redirect(w, r, "/one", http.StatusFound)
				return
			}
			fmt.Fprint(w, "<title>home</title>")
		}
	},
	"a page of consent with a link": func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/consent":
			fmt.Fprint(w, `<title>cookies?</title><a href="/accept?return=/">yes</a>`)
		case r.URL.Path == "/accept":
			setAndGo(w, r, 302, r.FormValue("return"), "consent")
		case !has(r, "consent"):
			http.Redirect(w, r, "/consent", http.StatusFound)
		default:
			fmt.Fprint(w, "<title>home</title>")
		}
	},
	"consent asked for on the page itself": func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/accept":
			setAndGo(w, r, 302, "/", "consent")
		case !has(r, "consent"):
			fmt.Fprint(w, `<title>cookies?</title><a href="/accept">yes</a>`)
		default:
			fmt.Fprint(w, "<title>home</title>")
		}
	},
}

// TestGates: a page behind a gate is recorded with its content, as browsers get it, with a job and
// without one; no request is made more often than it takes.
func TestGates(t *testing.T) {
	for name, page := range gates {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGated(t, page)
			o := weft.Options{Seeds: []string{g.URL}, HTTP: weft.HTTP{Cookies: cookies.New()}, Job: filepath.Join(t.TempDir(), "job")}
			sum := crawltest.CrawlOnce(t, o)
			last, records := g.last(t, o.Job, 1)
			if last["/"] != "200 home" {
				t.Errorf("the last record of / says %q", last["/"])
			}
			if sum.Recorded() != len(last) || sum.Pages+sum.Redirects != len(last) || sum.Statuses[200].URLs != sum.Pages {
				t.Errorf("%d URLs counted, %d pages, %d redirects, statuses %v; there are %d URLs", sum.Recorded(), sum.Pages, sum.Redirects, sum.Statuses, len(last))
			}
			if requests := g.requests(); len(requests) != records || records > 9 {
				t.Errorf("requests %q, %d records", requests, records)
			}
			job, err := weft.OpenJob(t.Context(), o.Job)
			if err != nil {
				t.Fatal(err)
			}
			defer job.Close()
			if s, err := job.Status(t.Context()); err != nil || s.State != weft.JobFinished || s.Recorded() != len(last) {
				t.Errorf("state %v, %d URLs, %v", s.State, s.Recorded(), err)
			}
			title := ""
			for page, err := range weft.Crawl(t.Context(), weft.Options{Seeds: []string{g.URL}, HTTP: weft.HTTP{Cookies: cookies.New()}}) {
				if err == nil && page.URL == g.URL+"/" {
					title = page.Title
				}
			}
			if title != "home" {
				t.Errorf("without a job: the last page of / is %q", title)
			}
		})
	}
}

// TestGateOfAVisit: a later visit with a new jar passes the gate again, and compares the page with
// that of the visit before.
func TestGateOfAVisit(t *testing.T) {
	g := newGated(t, gates["a gate"])
	o := weft.Options{Seeds: []string{g.URL}, HTTP: weft.HTTP{Cookies: cookies.New()}, Job: filepath.Join(t.TempDir(), "job"), Keep: weft.Keep{Archive: true}}
	crawltest.CrawlOnce(t, o)
	o.HTTP.Cookies, o.Rerun.Update = cookies.New(), true
	sum := crawltest.CrawlOnce(t, o)
	if last, _ := g.last(t, o.Job, 2); last["/"] != "200 home unchanged" || sum.Unchanged != 2 || sum.Changed != 0 {
		t.Errorf("/ is %q; %d unchanged, %d changed", last["/"], sum.Unchanged, sum.Changed)
	}
}

// TestGatedList: each page of a list is behind its own URL of the gate, or behind the same one,
// which knows by a session where to go back to.
func TestGatedList(t *testing.T) {
	var seeds []string
	for _, session := range []bool{false, true} {
		g := newGated(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/gate" && session:
				back, err := r.Cookie("back")
				if err != nil {
					w.WriteHeader(400)
					return
				}
				setAndGo(w, r, 302, back.Value, "seen")
			case r.URL.Path == "/gate":
				setAndGo(w, r, 302, r.FormValue("return"), "seen")
			case has(r, "seen"):
				fmt.Fprintf(w, "<title>page %s</title>", r.URL.Path)
			case session:
				http.SetCookie(w, &http.Cookie{Name: "back", Value: r.URL.Path, Path: "/"})
				http.Redirect(w, r, "/gate", http.StatusFound)
			default:
				http.Redirect(w, r, "/gate?return="+r.URL.Path, http.StatusFound)
			}
		})
		seeds = nil
		for i := range 50 {
			seeds = append(seeds, fmt.Sprintf("%s/%d", g.URL, i))
		}
		o := weft.Options{Seeds: seeds, Reach: weft.Reach{Scope: weft.ScopePage}, HTTP: weft.HTTP{Cookies: cookies.New()}, Job: filepath.Join(t.TempDir(), "job")}
		if session {
			o.Pace.Concurrency = 1 // else the session has the last page only, in browsers, too
		}
		crawltest.CrawlOnce(t, o)
		last, _ := g.last(t, o.Job, 1)
		for i := range seeds {
			if path := fmt.Sprintf("/%d", i); last[path] != "200 page "+path {
				t.Errorf("session %t: %s: %q", session, path, last[path])
			}
		}
	}
}

// TestLongGatedList: a list may be long, all of it before the first gate is passed.
func TestLongGatedList(t *testing.T) {
	pages := long.Or(1500, 3000) // more than any table of a thousand holds
	for _, job := range []string{"", filepath.Join(t.TempDir(), "job")} {
		g := newGated(t, gates["a gate"])
		o := weft.Options{Reach: weft.Reach{Scope: weft.ScopePage}, HTTP: weft.HTTP{Cookies: cookies.New()}, Job: job}
		for i := range pages {
			o.Seeds = append(o.Seeds, fmt.Sprintf("%s/%d", g.URL, i))
		}
		n := make(map[string]int)
		for page, err := range weft.Crawl(t.Context(), o) {
			if err != nil {
				t.Fatal(err)
			}
			if page.Title == "home" {
				n[page.URL]++
			}
		}
		if len(n) != pages {
			t.Errorf("job %q: %d pages, expected %d", job, len(n), pages)
		}
		if asked := len(g.requests()); asked > 3*pages+pages/10 {
			t.Errorf("job %q: %d requests for %d pages", job, asked, pages)
		}
	}
}

// TestRedirectLoops: redirects in a circle end: at once where no cookie changes, and else after
// MaxRedirects tries.
func TestRedirectLoops(t *testing.T) {
	var n atomic.Int64
	for name, c := range map[string]struct {
		set  bool
		most int
	}{"no cookie": {false, 1}, "the same cookie": {true, 2}, "another cookie each time": {true, 4}} {
		fresh := name == "another cookie each time"
		g := newGated(t, func(w http.ResponseWriter, r *http.Request) {
			if c.set {
				value := "1"
				if fresh {
					value = fmt.Sprint(n.Add(1))
				}
				http.SetCookie(w, &http.Cookie{Name: "turn", Value: value, Path: "/"})
			}
			http.Redirect(w, r, map[string]string{"/": "/a", "/a": "/b", "/b": "/a"}[r.URL.Path], http.StatusFound)
		})
		o := weft.Options{Seeds: []string{g.URL}, HTTP: weft.HTTP{Cookies: cookies.New()}, Job: filepath.Join(t.TempDir(), "job"), Loops: 1, Pace: weft.Pace{Concurrency: 1}, Reach: weft.Reach{MaxRedirects: 3}}
		sum := crawltest.CrawlOnce(t, o)
		if a, b := g.count("GET /a"), g.count("GET /b"); a > c.most || b > c.most || !sum.Finished || sum.Recorded() != 3 {
			t.Errorf("%s: /a was asked for %d times, /b %d times; %d URLs, finished: %t", name, a, b, sum.Recorded(), sum.Finished)
		}
	}
}

// TestGateResumed: a run that ends between a page and its gate loses nothing, though the cookies
// are gone.
func TestGateResumed(t *testing.T) {
	for limit := 1; limit <= 2; limit++ {
		g := newGated(t, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/start" {
				fmt.Fprint(w, crawltest.Links("/"))
				return
			}
			gates["a gate"](w, r)
		})
		o := weft.Options{Seeds: []string{g.URL + "/start"}, HTTP: weft.HTTP{Cookies: cookies.New()}, Job: filepath.Join(t.TempDir(), "job"), Limits: weft.Limits{Limit: limit + 1}, Pace: weft.Pace{Concurrency: 1}}
		crawltest.CrawlOnce(t, o)
		o.Limits.Limit, o.HTTP.Cookies = 0, cookies.New()
		crawltest.CrawlOnce(t, o)
		if last, _ := g.last(t, o.Job, 1); last["/"] != "200 home" {
			t.Errorf("after %d URLs: %v", limit, last)
		}
	}
}

// TestGateKilled: a crawl that is broken off at any request of the way through a gate comes to the
// page when it is resumed.
func TestGateKilled(t *testing.T) {
	for at := 1; at <= 3; at++ {
		var n atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		g := newGated(t, func(w http.ResponseWriter, r *http.Request) {
			if n.Add(1) == int64(at) {
				cancel()
			}
			gates["a gate"](w, r)
		})
		o := weft.Options{Seeds: []string{g.URL}, HTTP: weft.HTTP{Cookies: cookies.New()}, Job: filepath.Join(t.TempDir(), "job")}
		c, err := weft.New(o)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Run(ctx)
		cancel()
		o.HTTP.Cookies = cookies.New()
		if sum := crawltest.CrawlOnce(t, o); !sum.Finished {
			t.Errorf("broken off at request %d: %+v", at, sum.Counters)
		}
		if last, _ := g.last(t, o.Job, 1); last["/"] != "200 home" {
			t.Errorf("broken off at request %d: %v", at, last)
		}
	}
}

// newShop is a shop with a login: pages of customers lead to the form, and the form's page to them.
// A login keeps the name of the session's cookie.
func newShop(t *testing.T, password string) *gated {
	var mu sync.Mutex
	customers := make(map[string]bool) // by session
	sessions := 0
	return newGated(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		session := ""
		if c, err := r.Cookie("session"); err == nil {
			session = c.Value
		}
		switch {
		case r.URL.Path == "/login" && r.Method == "POST":
			if r.FormValue("password") != password {
				http.Redirect(w, r, "/login", http.StatusSeeOther)
				return
			}
			if session == "" {
				session = "new"
				http.SetCookie(w, &http.Cookie{Name: "session", Value: session, Path: "/"})
			}
			customers[session] = true
			http.Redirect(w, r, "/welcome", http.StatusSeeOther)
		case r.URL.Path == "/welcome":
			http.Redirect(w, r, "/", http.StatusFound)
		case r.URL.Path == "/login":
			sessions++
			if session == "" {
				http.SetCookie(w, &http.Cookie{Name: "session", Value: fmt.Sprint(sessions), Path: "/"})
			}
			fmt.Fprintf(w, `<title>login</title><form id=login method=post action="/login"><input type=hidden name=token value=%d></form>`, sessions)
			fmt.Fprint(w, crawltest.Links("/", "/orders", "/about"))
		case r.URL.Path == "/about":
			fmt.Fprint(w, "<title>about</title>")
		case customers[session] && r.URL.Path == "/":
			fmt.Fprint(w, "<title>yours</title>"+crawltest.Links("/orders", "/order/1"))
		case customers[session]:
			fmt.Fprintf(w, "<title>customer's %s</title>", r.URL.Path)
		case r.URL.Path == "/":
			fmt.Fprint(w, "<title>everybody's</title>"+crawltest.Links("/orders"))
		default:
			http.Redirect(w, r, "/login?next="+url.QueryEscape(r.URL.Path), http.StatusFound)
		}
	})
}

// TestLogin: after a login by a form, the page to which it leads is asked for again, though it was
// seen before, and so are the pages that had led to the form.
func TestLogin(t *testing.T) {
	for _, by := range []string{"hook", "seed"} {
		g := newShop(t, "sesame")
		o := weft.Options{HTTP: weft.HTTP{Cookies: cookies.New()}, Job: filepath.Join(t.TempDir(), "job"), Pace: weft.Pace{Concurrency: 1}}
		if by == "hook" {
			o.Seeds = []string{g.URL + "/login"}
			o.Hooks.OnHTML("form#login", func(page *weft.Page, form *goquery.Selection) error {
				token := form.Find("[name=token]").AttrOr("value", "")
				return page.Post(weft.PostForm(form.AttrOr("action", ""), url.Values{"password": {"sesame"}, "token": {token}}))
			})
		} else {
			o.Seeds = []string{g.URL + "/orders"}
			o.Posts = []weft.Post{weft.PostForm(g.URL+"/login", url.Values{"password": {"sesame"}})}
		}
		crawltest.CrawlOnce(t, o)
		last, _ := g.last(t, o.Job, 1)
		for path, want := range map[string]string{"/": "200 yours", "/order/1": "200 customer's /order/1"} {
			if last[path] != want {
				t.Errorf("by a %s: %s: %q, expected %q; asked %q", by, path, last[path], want, g.requests())
			}
		}
		if by == "hook" && last["/orders"] != "200 customer's /orders" {
			t.Errorf("/orders: %q; asked %q", last["/orders"], g.requests())
		}
	}
}

// TestLoginFails: a login that leads back to its form is tried a few times, not for ever.
func TestLoginFails(t *testing.T) {
	g := newShop(t, "sesame")
	o := weft.Options{Seeds: []string{g.URL + "/login"}, HTTP: weft.HTTP{Cookies: cookies.New()}}
	o.Hooks.OnHTML("form#login", func(page *weft.Page, form *goquery.Selection) error {
		token := form.Find("[name=token]").AttrOr("value", "")
		return page.Post(weft.PostForm(form.AttrOr("action", ""), url.Values{"password": {"wrong"}, "token": {token}}))
	})
	if crawltest.CrawlOnce(t, o); g.count("POST /login") > 5 {
		t.Errorf("%d POSTs: %q", g.count("POST /login"), g.requests())
	}
}

// TestNoJar: without cookies, a redirect back is followed as before: not at all.
func TestNoJar(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		g := newGated(t, gates[name])
		crawltest.CrawlOnce(t, weft.Options{Seeds: []string{g.URL}})
		if n := g.count("GET /"); n != 1 {
			t.Errorf("%s: / was asked for %d times", name, n)
		}
	}
}

// TestGateElsewhere: a gate on another host, whose cookies are its own, hands a ticket over, with
// which the site sets its cookie.
func TestGateElsewhere(t *testing.T) {
	var site *gated
	gate := newGated(t, func(w http.ResponseWriter, r *http.Request) {
		setAndGo(w, r, 302, site.URL+r.FormValue("return")+"?ticket=1", "known")
	})
	site = newGated(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.FormValue("ticket") != "":
			setAndGo(w, r, 302, r.URL.Path, "session")
		case !has(r, "session"):
			http.Redirect(w, r, strings.Replace(gate.URL, "127.0.0.1", "localhost", 1)+"/sso?return="+r.URL.Path, http.StatusFound)
		default:
			fmt.Fprintf(w, "<title>page %s</title>%s", r.URL.Path, crawltest.Links("/one", "/two"))
		}
	})
	o := weft.Options{Seeds: []string{site.URL}, HTTP: weft.HTTP{Cookies: cookies.New()}, Job: filepath.Join(t.TempDir(), "job")}
	crawltest.CrawlOnce(t, o)
	last, _ := site.last(t, o.Job, 1)
	for _, path := range []string{"/", "/one", "/two"} {
		if last[path] != "200 page "+path {
			t.Errorf("%s: %q; %v", path, last[path], last)
		}
	}
}

// TestGateOfALink: a page that other pages link to is behind a gate, with --depth, too, where a URL
// waits until all that is nearer has ended; other hosts that are not there keep nothing back.
func TestGateOfALink(t *testing.T) {
	for depth := range 3 {
		g := newGated(t, func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.URL.Path == "/":
				fmt.Fprint(w, "<title>open</title>"+crawltest.Links("/p/1", "/p/2"))
			case strings.HasPrefix(r.URL.Path, "/gate"):
				setAndGo(w, r, 302, r.FormValue("return"), "seen")
			case !has(r, "seen"):
				http.Redirect(w, r, "/gate?return="+r.URL.Path, http.StatusFound)
			default:
				fmt.Fprintf(w, "<title>page %s</title>%s", r.URL.Path, crawltest.Links(r.URL.Path+"/x"))
			}
		})
		o := weft.Options{Seeds: []string{g.URL}, HTTP: weft.HTTP{Cookies: cookies.New()}, Reach: weft.Reach{Depth: depth}, Job: filepath.Join(t.TempDir(), "job"), Traps: weft.Traps{MaxRepeats: 2}}
		sum := crawltest.CrawlOnce(t, o)
		last, _ := g.last(t, o.Job, 1)
		want := map[string]string{"/p/1": "200 page /p/1", "/p/2": "200 page /p/2"}
		if depth == 2 {
			want["/p/1/x"] = "200 page /p/1/x"
		}
		for path, title := range want {
			if last[path] != title || !sum.Finished {
				t.Errorf("depth %d: %s: %q", depth, path, last[path])
			}
		}
	}
}

// TestGatesOfManyHosts: each of many hosts has a gate of its own, and memory is for a few hosts and
// no fingerprint; a run that ends on the way, and resumes without cookies, loses none.
func TestGatesOfManyHosts(t *testing.T) {
	const hosts = 60
	g := newGated(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/gate":
			setAndGo(w, r, 302, r.FormValue("return"), "seen")
		case !has(r, "seen"):
			http.Redirect(w, r, "/gate?return="+r.URL.Path, http.StatusFound)
		default:
			fmt.Fprintf(w, "<title>page %s</title>%s", r.URL.Path, crawltest.Links("/a", "/b"))
		}
	})
	at := netip.MustParseAddrPort(g.Listener.Addr().String())
	o := weft.Options{
		HTTP: weft.HTTP{Cookies: cookies.New(), AllowPrivate: true}, Job: filepath.Join(t.TempDir(), "job"), Pace: weft.Pace{Concurrency: 4}, Limits: weft.Limits{Limit: hosts + hosts/2},
	}
	for i := range hosts {
		name := fmt.Sprintf("h%02d.test", i)
		o.Seeds = append(o.Seeds, fmt.Sprintf("http://%s:%d/", name, at.Port()))
		o.HTTP.Resolve = append(o.HTTP.Resolve, httpclient.Override{Host: name, Port: at.Port(), Addr: at.Addr()})
	}
	crawltest.CrawlOnce(t, o, crawltest.Crowded(2))
	o.Limits.Limit, o.HTTP.Cookies = 0, cookies.New()
	sum := crawltest.CrawlOnce(t, o, crawltest.Crowded(2))
	last := make(map[string]string)
	for _, r := range crawltest.Visits(t, o.Job)[1] {
		last[r.URL] = r.Title
	}
	for _, seed := range o.Seeds {
		for _, path := range []string{"", "a", "b"} {
			if last[seed+path] != "page /"+path {
				t.Errorf("%s%s: %q", seed, path, last[seed+path])
			}
		}
	}
	if !sum.Finished || sum.Recorded() != len(last) {
		t.Errorf("finished: %t, %d URLs counted, %d are there", sum.Finished, sum.Recorded(), len(last))
	}
}

// TestRedirectIgnoresNofollow checks that X-Robots-Tag: nofollow on a redirect does not stop the
// crawl from following it: the tag is about links.
func TestRedirectIgnoresNofollow(t *testing.T) {
	netw := crawltest.Web{
		"http://a.test/":      crawltest.Links("/moved"),
		"http://a.test/moved": "302 /x\r\nX-Robots-Tag: nofollow",
		"http://a.test/x":     "a page",
	}
	got, sum, _ := netw.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}})
	if got["http://a.test/x"].Status != 200 || len(sum.NotFollowed) > 0 {
		t.Errorf("fetched %v; not followed: %v", crawltest.Fetched(got), sum.NotFollowed)
	}
}

// TestRedirectTargets: a redirect to what no link may lead to ends there, and the record or the
// summary says so.
func TestRedirectTargets(t *testing.T) {
	for to, want := range map[string]struct{ kind, reason string }{
		"mailto:x@a.test":                 {kind: weft.KindLocation},
		"ftp://a.test/x":                  {kind: weft.KindLocation},
		"http://a.test:25/x":              {reason: "blocked-port"},
		"/x/x/x/x":                        {reason: "repeats"},
		"/" + strings.Repeat("x", 20<<10): {reason: "too-long"},
	} {
		got, sum, seen := crawltest.Web{"http://a.test/": "302 " + to}.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{NoRobots: true}})
		dropped := 0
		if want.reason != "" {
			dropped = 1
		}
		if r := got["http://a.test/"]; len(got) != 1 || len(seen) != 1 || r.ErrorKind != want.kind || sum.NotFollowed[want.reason] != dropped {
			t.Errorf("to %.40s: %d records, %d requests, error %q, not followed: %v", to, len(got), len(seen), r.ErrorKind, sum.NotFollowed)
		}
	}
}
