package fetch_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawl"
	"github.com/weftcrawl/weft/internal/crawltest"
)

// assetsOf is a site whose page needs an asset by every element that can name one, here and on
// another host; the paths say which are assets.
func assetsOf() crawltest.Web {
	w := crawltest.Web{}
	var page strings.Builder
	for _, format := range []string{
		`<link rel="shortcut icon" href=%[1]s/icon.png>`,
		`<link rel=apple-touch-icon href=%[1]s/touch.png>`,
		`<link rel=manifest href=%[1]s/app.json>`,
		`<link rel=stylesheet href=%[1]s/style.css>`,
		`<link rel=preload as=image href=%[1]s/early.png imagesrcset="%[1]s/early2.png 2x">`,
		`<link rel=modulepreload href=%[1]s/module.js>`,
		`<style>@import "%[1]s/inline.css"; p { background: url(%[1]s/inline.png) }</style>`,
		`<script src=%[1]s/script.js></script>`,
		`<img src=%[1]s/image.png srcset="%[1]s/small.png 1x, %[1]s/large.png 2x">`,
		`<picture><source srcset=%[1]s/source.webp></picture>`,
		`<video src=%[1]s/film.mp4 poster=%[1]s/poster.png><track src=%[1]s/track.vtt></video>`,
		`<audio><source src=%[1]s/sound.ogg></audio>`,
		`<embed src=%[1]s/embed.svg><object data=%[1]s/object.swf></object>`,
		`<input type=image src=%[1]s/button.png>`,
		`<table background=%[1]s/table.png><td style="background: url('%[1]s/cell.png')"></table>`,
		`<svg><image href=%[1]s/drawn.png /></svg>`,
		`<iframe srcdoc="<img src=%[1]s/framed.png>"></iframe>`,
	} {
		for _, host := range []string{"", "http://b.test"} {
			fmt.Fprintf(&page, format+"\n", host)
		}
	}
	for _, host := range []string{"http://a.test", "http://b.test"} {
		for _, path := range regexp.MustCompile(`http://b\.test(/[\w.]+)`).FindAllStringSubmatch(page.String(), -1) {
			w[host+path[1]] = "data"
		}
		w[host+"/style.css"] = `@import "more.css"; @font-face { src: url(font.woff2) }`
		w[host+"/more.css"] = `p { background: url(deep.png) }`
		w[host+"/font.woff2"], w[host+"/deep.png"] = "data", "data"
		w[host+"/page"] = `<img src=of-page.png>`
		w[host+"/of-page.png"] = "data"
	}
	w["http://a.test/"] = page.String() + crawltest.Links("/page", "http://b.test/page") + "<iframe src=http://b.test/page></iframe>"
	return w
}

// TestAssets checks which assets are fetched, by every element that can name one.
func TestAssets(t *testing.T) {
	t.Parallel()
	pages := []string{"http://a.test/", "http://a.test/page"}
	for _, c := range []struct {
		assets weft.Assets
		want   func(url string) bool
	}{
		{weft.AssetsNone, func(u string) bool {
			return slices.Contains(pages, u) || strings.HasPrefix(u, "http://a.test/") && (strings.HasSuffix(u, ".css") || strings.HasSuffix(u, "app.json"))
		}},
		{weft.AssetsScope, func(u string) bool { return strings.HasPrefix(u, "http://a.test/") }},
		{weft.AssetsAny, func(u string) bool { return u != "http://b.test/page" && u != "http://b.test/of-page.png" }},
	} {
		w := assetsOf()
		got, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Assets: c.assets}})
		for u := range w {
			r, fetched := got[u]
			switch {
			case fetched != c.want(u):
				t.Errorf("assets %q: %s: fetched: %t", c.assets, u, fetched)
			case fetched && r.Role != "" != strings.HasPrefix(u, "http://b.test/"):
				t.Errorf("assets %q: %s: role %q", c.assets, u, r.Role)
			}
			delete(got, u)
		}
		if len(got) > 0 {
			t.Errorf("assets %q: also fetched %v", c.assets, slices.Sorted(maps.Keys(got)))
		}
		if (c.assets == weft.AssetsAny) != (sum.Assets > 20) {
			t.Errorf("assets %q: %d assets", c.assets, sum.Assets)
		}
	}
}

// elsewhere is a host that links lead to; it counts the requests.
type elsewhere struct {
	*httptest.Server
	mu       sync.Mutex
	requests map[string]int // by method and path
	bytes    int            // of endless bodies
}

func newElsewhere(t *testing.T, handle func(s *elsewhere, w http.ResponseWriter, r *http.Request)) *elsewhere {
	s := &elsewhere{requests: make(map[string]int)}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests[r.Method+" "+r.URL.Path]++
		s.mu.Unlock()
		handle(s, w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// TestExternalLinks checks with which requests links that lead out of scope are checked, and what
// their records say.
func TestExternalLinks(t *testing.T) {
	t.Parallel()
	var other *elsewhere
	far := newElsewhere(t, func(s *elsewhere, w http.ResponseWriter, r *http.Request) {
		head := r.Method == http.MethodHead
		switch r.URL.Path {
		case "/robots.txt":
			fmt.Fprint(w, "User-agent: *\nDisallow: /barred")
		case "/refused", "/gone":
			if head {
				w.WriteHeader(http.StatusMethodNotAllowed)
			} else if r.URL.Path == "/gone" {
				w.WriteHeader(http.StatusNotFound)
			}
		case "/closed":
			if head {
				conn, _, _ := w.(http.Hijacker).Hijack()
				conn.Close()
			}
		case "/endless":
			if head {
				w.WriteHeader(http.StatusNotImplemented)
				return
			}
			for part := make([]byte, 1<<16); ; {
				n, err := w.Write(part)
				s.mu.Lock()
				s.bytes += n
				s.mu.Unlock()
				if err != nil {
					return
				}
			}
		case "/moved":
			http.Redirect(w, r, "/target", http.StatusMovedPermanently)
		case "/round":
			http.Redirect(w, r, other.URL+"/round", http.StatusFound)
		case "/html":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, crawltest.Links("/never"), `<img src=never.png>`)
		}
	})
	other = newElsewhere(t, func(_ *elsewhere, w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			return
		}
		http.Redirect(w, r, far.URL+"/round", http.StatusFound)
	})
	var paths []string
	for _, path := range []string{"/ok", "/refused", "/gone", "/closed", "/endless", "/moved", "/round", "/html", "/barred", "/excluded"} {
		paths = append(paths, far.URL+path)
	}
	home := newElsewhere(t, func(_ *elsewhere, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path != "/robots.txt" {
			fmt.Fprint(w, crawltest.Links(paths...), `<a rel=nofollow href="`, far.URL, `/nofollow">`, `<img src="`, far.URL, `/image.png">`,
				`<a href="mailto:x@y.test"><form action="`, far.URL, `/form"></form><link rel=preconnect href="`, far.URL, `/hint">`, crawltest.Links("/again"))
		}
	})
	job := filepath.Join(t.TempDir(), "job")
	o := weft.Options{Seeds: []string{home.URL}, Reach: weft.Reach{Scope: weft.ScopePrefix, External: true, Exclude: []*regexp.Regexp{regexp.MustCompile("/excluded")}}, Keep: weft.Keep{Archive: true}, Job: job}
	sum := crawltest.Finish(t, o)
	got := crawltest.Records(t, job)
	for _, c := range []struct {
		url, method, kind string
		status, tries     int
		requests          string // in the order of their methods
	}{
		{far.URL + "/ok", "HEAD", "", 200, 1, "HEAD"},
		{far.URL + "/refused", "", "", 200, 2, "GET HEAD"},
		{far.URL + "/gone", "", "", 404, 2, "GET HEAD"},
		{far.URL + "/closed", "", "", 200, 2, "GET HEAD"},
		{far.URL + "/endless", "", "", 200, 2, "GET HEAD"},
		{far.URL + "/moved", "HEAD", "", 301, 1, "HEAD"},
		{far.URL + "/target", "HEAD", "", 200, 1, "HEAD"},
		{far.URL + "/round", "HEAD", "", 302, 1, "HEAD"},
		{other.URL + "/round", "HEAD", "", 302, 1, "HEAD"},
		{far.URL + "/html", "HEAD", "", 200, 1, "HEAD"},
		{far.URL + "/barred", "", "robots", 0, 0, ""},
		{far.URL + "/nofollow", "HEAD", "", 200, 1, "HEAD"},
		{far.URL + "/image.png", "HEAD", "", 200, 1, "HEAD"},
	} {
		r, ok := got[c.url]
		if !ok || r.Role != weft.RoleExternal || r.Method != c.method || r.ErrorKind != c.kind || r.Status != c.status || r.Tries != c.tries || r.Links != 0 || r.Change != "" {
			t.Errorf("%s: %+v", c.url, r)
		}
		server := far
		if strings.HasPrefix(c.url, other.URL) {
			server = other
		}
		var methods []string
		for key, n := range server.requests {
			if method, path, _ := strings.Cut(key, " "); strings.HasSuffix(c.url, path) && server.URL+path == c.url {
				methods = append(methods, strings.Repeat(method, n))
			}
		}
		slices.Sort(methods)
		if s := strings.Join(methods, " "); s != c.requests {
			t.Errorf("%s: requests %q, expected %q", c.url, s, c.requests)
		}
		if archived := r.WARCFile != ""; archived != (c.status != 0 && c.method == "") {
			t.Errorf("%s: archived: %t", c.url, archived)
		}
		delete(got, c.url)
	}
	if n := strings.Count(archiveText(t, job), "WARC-Truncated: length"); n != 1 {
		t.Errorf("%d bodies in the archive are cut, expected the endless one", n)
	}
	for u, r := range got {
		if r.Role != "" || !strings.HasPrefix(u, home.URL) {
			t.Errorf("also requested: %s, role %q", u, r.Role)
		}
	}
	if len(got) != 2 || sum.External != 12 || sum.Pages != 2 {
		t.Errorf("%d URLs in scope; the summary has %d external links and %d pages", len(got), sum.External, sum.Pages)
	}
	far.Close()            // which waits for what is being sent
	if far.bytes > 8<<20 { // what the sockets hold
		t.Errorf("%d bytes of an endless body were sent", far.bytes)
	}
	for _, key := range []string{"GET /ok", "HEAD /form", "HEAD /hint", "HEAD /excluded", "HEAD /never"} {
		if far.requests[key] > 0 {
			t.Errorf("request %s", key)
		}
	}
}

// archiveText returns the records of a job's archive.
func archiveText(t *testing.T, job string) string {
	t.Helper()
	names, _ := filepath.Glob(filepath.Join(job, "archive", "*.warc.gz"))
	if len(names) != 1 {
		t.Fatalf("files of the archive: %v", names)
	}
	f, err := os.Open(names[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(zipped)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestExternalBeyondDepth checks that links beyond the depth are checked, once all nearer ones are
// crawled: so one that is found nearer by another way is not.
func TestExternalBeyondDepth(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{
		"http://a.test/":     crawltest.Links("/1", "/slow"),
		"http://a.test/1":    crawltest.Links("/2", "/both"),
		"http://a.test/slow": "302 http://b.test/late",
		"http://b.test/late": crawltest.Links("http://a.test/both"), // at the same depth as /1
		"http://a.test/2":    crawltest.Links("/3", "/", "http://c.test/x"),
		"http://a.test/both": crawltest.Links("/3", "/both", "/4"),
		"http://a.test/3":    crawltest.Links("/5"),
		"http://c.test/x":    crawltest.Links("/y"),
	}
	got, sum, seen := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Scope: weft.ScopeDomain, Depth: 2, External: true}})
	want := map[string]string{"http://a.test/": "", "http://a.test/1": "", "http://a.test/slow": "", "http://b.test/late": "external",
		"http://a.test/2": "", "http://a.test/both": "", "http://a.test/3": "external", "http://a.test/4": "external", "http://c.test/x": "external"}
	for u, role := range want {
		if r, ok := got[u]; !ok || string(r.Role) != role {
			t.Errorf("%s: %+v, expected role %q", u, r, role)
		}
	}
	if len(got) != len(want) || sum.External != 4 {
		t.Errorf("records of %v; %d external", slices.Sorted(maps.Keys(got)), sum.External)
	}
	for _, one := range seen {
		if strings.HasSuffix(one.URL, "/robots.txt") || strings.HasSuffix(one.URL, "/4") {
			// These are asked for twice.
			continue
		}
		if external := want[one.URL] != ""; external != (one.Method == "HEAD") {
			t.Errorf("%s %s", one.Method, one.URL)
		}
	}
}

// TestInScopeLater checks that what was requested beyond the scope is crawled when it comes into
// scope, by a seed that is added to a finished job; with all tables in memory, or next to none.
func TestInScopeLater(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{
		"http://a.test/":  crawltest.Links("http://b.test/", "http://b.test/x", "/2"),
		"http://a.test/2": "",
		"http://b.test/":  crawltest.Links("/x", "/y"),
		"http://b.test/x": crawltest.Links("/z"),
		"http://b.test/y": "", "http://b.test/z": "",
	}
	for _, changes := range [][]func(*crawl.Config){nil, {crawltest.Crowded(1)}} {
		o := weft.Options{Memory: 64 << 20}
		o.Seeds, o.Reach.External, o.Job = []string{"http://a.test/"}, true, filepath.Join(t.TempDir(), "job")
		if got, sum, _ := w.Crawl(t, o, changes...); len(got) != 4 || sum.External != 2 || got["http://b.test/x"].Role != weft.RoleExternal {
			t.Fatalf("%d records, %d external", len(got), sum.External)
		}
		o.Seeds, o.Rerun.Amend = append(o.Seeds, "http://b.test/"), true
		got, sum, seen := w.Crawl(t, o, changes...)
		for u := range w {
			if r, ok := got[u]; !ok || r.Role != "" || r.Status != 200 {
				t.Errorf("%s: %+v", u, r)
			}
		}
		if len(got) != len(w) || sum.Recorded() != 8 || sum.Pages != 6 {
			t.Errorf("records of %v; summary: %+v", slices.Sorted(maps.Keys(got)), sum.Counters)
		}
		if slices.Contains(seen.URLs(), "http://a.test/2") {
			t.Error("a page was fetched again")
		}
	}
}

// TestBeyondOnUpdate checks that a recrawl checks links and fetches assets again, and that only
// assets are compared with the visit before.
func TestBeyondOnUpdate(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{"http://a.test/": crawltest.Links("http://b.test/x", "http://b.test/gone") + "<img src=http://c.test/image.png>", "http://b.test/x": "x", "http://c.test/image.png": "data"}
	o := weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{External: true, Assets: weft.AssetsAny}, Job: filepath.Join(t.TempDir(), "job")}
	w.Crawl(t, o)
	o.Rerun.Update = true
	_, sum, seen := w.Crawl(t, o)
	if sum.External != 2 || sum.Assets != 1 || sum.Unchanged != 2 || sum.Recorded() != 4 {
		t.Errorf("summary %+v", sum.Counters)
	}
	for _, u := range []string{"http://b.test/x", "http://b.test/gone", "http://c.test/image.png"} {
		if !slices.Contains(seen.URLs(), u) {
			t.Errorf("%s is not requested again", u)
		}
	}
}

// TestAssetsOfNarrowScopes checks that a scope that is narrower than its hosts has the assets that
// stand elsewhere on these.
func TestAssetsOfNarrowScopes(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{
		"http://a.test/docs/":            "<link rel=stylesheet href=/static/style.css><img src=/image><img src=https://a.test/secure><img src=http://a.test:8000/port><img src=http://b.test/image>" + crawltest.Links("/page"),
		"http://a.test/static/style.css": "@import 'more.css'; p { background: url(back.png) }", "http://a.test/static/more.css": "", "http://a.test/static/back.png": "data",
		"http://a.test/image": "302 /moved", "http://a.test/moved": "data", "https://a.test/secure": "data", "http://a.test:8000/port": "data", "http://b.test/image": "data", "http://a.test/page": "",
		"http://c.test/": "301 http://d.test/new/", "http://d.test/new/": "<img src=/image>", "http://d.test/image": "data",
	}
	all := "http://a.test/docs/ http://a.test/image http://a.test/moved http://a.test/static/back.png http://a.test/static/more.css http://a.test/static/style.css http://c.test/ http://d.test/image http://d.test/new/ https://a.test/secure"
	for _, scope := range []weft.Scope{weft.ScopePage, weft.ScopePrefix} {
		for assets, want := range map[weft.Assets]string{
			weft.AssetsNone:  "http://a.test/docs/ http://c.test/ http://d.test/new/",
			weft.AssetsScope: all,
		} {
			got, _, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/docs/", "http://c.test/"}, Reach: weft.Reach{Scope: scope, Assets: assets}})
			if got := strings.Join(slices.Sorted(maps.Keys(got)), " "); got != want {
				t.Errorf("scope %s, assets %q: %s\nexpected %s", scope, assets, got, want)
			}
		}
	}
}

// TestAssetRedirected checks that an asset in scope that redirects elsewhere is fetched there with
// AssetsAny only, and that a page that does is checked there with External only.
func TestAssetRedirected(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{
		"http://a.test/": crawltest.Links("/go") + "<img src=/image>", "http://a.test/go": "302 http://b.test/go",
		"http://a.test/image": "302 http://b.test/image", "http://b.test/image": "302 /moved", "http://b.test/moved": "data", "http://b.test/go": crawltest.Links("/x"),
	}
	for _, c := range []struct {
		o    weft.Options
		want string // URLs of b.test with their roles
	}{
		{weft.Options{Reach: weft.Reach{Assets: weft.AssetsScope}}, ""},
		{weft.Options{Reach: weft.Reach{Assets: weft.AssetsAny}}, "image asset, moved asset"},
		{weft.Options{Reach: weft.Reach{External: true}}, "go external"},
		{weft.Options{Reach: weft.Reach{External: true, Assets: weft.AssetsScope}}, "go external, image external, moved external"},
		{weft.Options{Reach: weft.Reach{External: true, Assets: weft.AssetsAny}}, "go external, image asset, moved asset"},
	} {
		c.o.Seeds = []string{"http://a.test/"}
		got, _, _ := w.Crawl(t, c.o)
		var beyond []string
		for u, r := range got {
			if path, is := strings.CutPrefix(u, "http://b.test/"); is {
				beyond = append(beyond, path+" "+string(r.Role))
			}
		}
		slices.Sort(beyond)
		if s := strings.Join(beyond, ", "); s != c.want {
			t.Errorf("assets %q, external %t: %s, expected %s", c.o.Reach.Assets, c.o.Reach.External, s, c.want)
		}
	}
}

// TestNofollowBeyond checks that what a nofollow bars from being followed is checked, and that the
// assets of such a page are fetched.
func TestNofollowBeyond(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{
		"http://a.test/":      "<meta name=robots content=nofollow><img src=/image><img src=http://b.test/image>" + crawltest.Links("/page", "http://b.test/page") + "<link rel=nofollow href=/rel>",
		"http://a.test/image": "data", "http://b.test/image": "data", "http://a.test/page": crawltest.Links("/x"), "http://b.test/page": crawltest.Links("/x"), "http://a.test/rel": "",
	}
	got, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{External: true, Assets: weft.AssetsAny}})
	for u, role := range map[string]weft.Role{
		"http://a.test/": "", "http://a.test/image": "", "http://b.test/image": weft.RoleAsset,
		"http://a.test/page": weft.RoleExternal, "http://b.test/page": weft.RoleExternal, "http://a.test/rel": weft.RoleExternal,
	} {
		if r, ok := got[u]; !ok || r.Role != role {
			t.Errorf("%s: %+v, expected role %q", u, r, role)
		}
	}
	if len(got) != 6 || len(sum.NotFollowed) > 0 {
		t.Errorf("records of %v; not followed: %v", slices.Sorted(maps.Keys(got)), sum.NotFollowed)
	}
}

// TestImportsEnd checks that style sheets elsewhere that import one another without end do not hold
// a crawl.
func TestImportsEnd(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{"http://a.test/": "<link rel=stylesheet href=http://b.test/0.css>"}
	for i := range 50 {
		w[fmt.Sprintf("http://b.test/%d.css", i)] = fmt.Sprintf(`@import "%d.css"`, i+1)
	}
	got, _, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Assets: weft.AssetsAny}})
	if len(got) != 10 {
		t.Errorf("%d URLs, expected the page and 9 style sheets", len(got))
	}
}

// TestRetryBeyond checks that what failed beyond the scope is asked for again, with its role.
func TestRetryBeyond(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{"http://a.test/": crawltest.Links("http://b.test/x") + "<img src=http://c.test/image>", "http://b.test/x": "500", "http://c.test/image": "500"}
	o := weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{External: true, Assets: weft.AssetsAny}, Pace: weft.Pace{Retries: -1}, Job: filepath.Join(t.TempDir(), "job")}
	if _, sum, _ := w.Crawl(t, o); sum.External != 1 || sum.Assets != 0 || len(sum.Broken) != 2 {
		t.Fatalf("summary %+v", sum)
	}
	w["http://b.test/x"], w["http://c.test/image"] = crawltest.Links("/y"), "data"
	o.Rerun.RetryFailed = func(r *weft.Record) bool { return r.Status == 500 }
	var retried []string
	o.Hooks.OnRecord = func(r *weft.Record) {
		retried = append(retried, fmt.Sprint(r.URL, " ", r.Role, " ", r.Method, r.Status))
	}
	sum, _ := w.Run(t, w.Network(t), o)
	slices.Sort(retried)
	want := []string{"http://b.test/x external HEAD200", "http://c.test/image asset 200"}
	if !slices.Equal(retried, want) || sum.External != 1 || sum.Assets != 1 || len(sum.Broken) != 0 || sum.Recorded() != 3 {
		t.Errorf("retried %v; summary %+v", retried, sum)
	}
}

// TestProbe: https is asked once of each host that is linked by http, and on request alone.
func TestProbe(t *testing.T) {
	t.Parallel()
	for _, asked := range []bool{false, true} {
		w := crawltest.Web{"http://a.test/": crawltest.Links("/b", "http://b.test/1", "http://b.test/2", "http://c.test:8080/", "https://d.test/"), "http://a.test/b": crawltest.Links("http://b.test/3")}
		got, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{External: true}, Pace: weft.Pace{Retries: -1}},
			func(c *crawl.Config) { c.Engine.Fetch.Check.HTTPS = asked })
		var probes []string
		for u, r := range got {
			if r.Role == weft.RoleProbe {
				probes = append(probes, u)
			}
		}
		slices.Sort(probes)
		if want := []string{"https://a.test/", "https://b.test/"}; asked && !slices.Equal(probes, want) || !asked && probes != nil || got["https://d.test/"].Role != weft.RoleExternal {
			t.Errorf("%t: %q", asked, probes)
		}
		if sum.External != 5 {
			t.Errorf("%t: %d external links", asked, sum.External)
		}
	}
}

// TestNeverFollowed: where forms and pings are sent, sources and previews are asked for only to
// check the links to them, within the scope and beyond, and what stands there is not read.
func TestNeverFollowed(t *testing.T) {
	t.Parallel()
	w := crawltest.Web{}
	page := `<a href=/page>x</a><form action=/page></form><img data-src=/lazy.png data-srcset="http://b.test/lazy.png 2x">`
	var never []string
	for _, format := range []string{
		`<form action=%s/form></form>`, `<form><button formaction=%s/button></form>`, `<a href=/ ping="%s/ping">x</a>`, `<q cite=%s/cite>x</q>`,
		`<meta property=og:image content=%s/og.png>`, `<meta name=twitter:image content=%s/twitter.png>`,
		`<script type=application/ld+json>{"image": "%s/ld.png"}</script>`,
	} {
		for _, host := range []string{"http://a.test", "http://b.test"} {
			page += fmt.Sprintf(format, host) + "\n"
			u := regexp.MustCompile(`http://[^ >"]+`).FindString(fmt.Sprintf(format, host))
			w[u] = "<a href=/beyond></a>"
			never = append(never, u)
		}
	}
	if len(never) != 14 {
		t.Fatalf("%q", never)
	}
	w["http://a.test/"], w["http://a.test/page"], w["http://a.test/lazy.png"], w["http://b.test/lazy.png"] = page, "<p>page", "data", "data"
	for name, c := range map[string]struct {
		options weft.Options
		here    bool   // links within the scope are checked
		there   bool   // and beyond
		lazy    string // URLs that are fetched or checked
	}{
		"plain":        {weft.Options{}, false, false, ""},
		"assets":       {weft.Options{Reach: weft.Reach{Assets: weft.AssetsScope}}, false, false, "a"},
		"any assets":   {weft.Options{Reach: weft.Reach{Assets: weft.AssetsAny}}, false, false, "a b"},
		"external":     {weft.Options{Reach: weft.Reach{External: true, Assets: weft.AssetsScope}}, false, false, "a b"},
		"check":        {weft.Options{Reach: weft.Reach{External: true, Assets: weft.AssetsScope}}, true, true, "a b"},
		"check within": {weft.Options{Reach: weft.Reach{Assets: weft.AssetsScope}}, true, false, "a"},
	} {
		c.options.Seeds = []string{"http://a.test/"}
		got, _, _ := w.Crawl(t, c.options, func(o *crawl.Config) { o.Engine.Fetch.Check.All = c.here })
		for _, u := range never {
			r, asked := got[u]
			if want := c.here && strings.HasPrefix(u, "http://a") || c.there && strings.HasPrefix(u, "http://b"); asked != want || asked && (r.Role != weft.RoleExternal || r.Method != "HEAD") {
				t.Errorf("%s: %s: asked for: %t, as %q with %s", name, u, asked, r.Role, r.Method)
			}
		}
		var lazy []string
		for _, host := range []string{"a", "b"} {
			if _, ok := got["http://"+host+".test/lazy.png"]; ok {
				lazy = append(lazy, host)
			}
		}
		if r := got["http://a.test/page"]; !r.IsPage() || strings.Join(lazy, " ") != c.lazy || got["http://a.test/beyond"].URL != "" {
			t.Errorf("%s: lazy images of %q, %+v", name, lazy, r)
		}
	}
}
