package weft_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
)

// assetsOf is a site whose page needs an asset by every element that can name one, here and on
// another host; the paths say which are assets.
func assetsOf() web {
	w := web{}
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
	w["http://a.test/"] = page.String() + a("/page", "http://b.test/page") + "<iframe src=http://b.test/page></iframe>"
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
		got, sum, _ := w.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Assets: c.assets})
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
			fmt.Fprint(w, a("/never"), `<img src=never.png>`)
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
			fmt.Fprint(w, a(paths...), `<a rel=nofollow href="`, far.URL, `/nofollow">`, `<img src="`, far.URL, `/image.png">`,
				`<a href="mailto:x@y.test"><form action="`, far.URL, `/form"></form><link rel=preconnect href="`, far.URL, `/hint">`, a("/again"))
		}
	})
	job := filepath.Join(t.TempDir(), "job")
	o := weft.Options{Seeds: []string{home.URL}, Scope: weft.ScopePrefix, External: true, Job: job, Exclude: []*regexp.Regexp{regexp.MustCompile("/excluded")}}
	sum := finish(t, o)
	got := records(t, job)
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
		delete(got, c.url)
	}
	for u, r := range got {
		if r.Role != "" || !strings.HasPrefix(u, home.URL) {
			t.Errorf("also requested: %s, role %q", u, r.Role)
		}
	}
	if len(got) != 2 || sum.External != 12 || sum.Pages != 2 {
		t.Errorf("%d URLs in scope; the summary has %d external links and %d pages", len(got), sum.External, sum.Pages)
	}
	if far.bytes > 8<<20 { // what the sockets hold
		t.Errorf("%d bytes of an endless body were sent", far.bytes)
	}
	for _, key := range []string{"GET /ok", "HEAD /form", "HEAD /hint", "HEAD /excluded", "HEAD /never"} {
		if far.requests[key] > 0 {
			t.Errorf("request %s", key)
		}
	}
}

// TestExternalBeyondDepth checks that links beyond the depth are checked, once all nearer ones are
// crawled: so one that is found nearer by another way is not.
func TestExternalBeyondDepth(t *testing.T) {
	t.Parallel()
	w := web{
		"http://a.test/":     a("/1", "/slow"),
		"http://a.test/1":    a("/2", "/both"),
		"http://a.test/slow": "302 http://b.test/late",
		"http://b.test/late": a("http://a.test/both"), // at the same depth as /1
		"http://a.test/2":    a("/3", "/", "http://c.test/x"),
		"http://a.test/both": a("/3", "/both", "/4"),
		"http://a.test/3":    a("/5"),
		"http://c.test/x":    a("/y"),
	}
	got, sum, seen := w.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Scope: weft.ScopeDomain, Depth: 2, External: true})
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
		if strings.HasSuffix(one.url, "/robots.txt") || strings.HasSuffix(one.url, "/4") { // which is asked for twice
			continue
		}
		if external := want[one.url] != ""; external != (one.method == "HEAD") {
			t.Errorf("%s %s", one.method, one.url)
		}
	}
}
