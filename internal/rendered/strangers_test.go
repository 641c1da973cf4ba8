package rendered_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft/internal/wefttest"
)

// TestStrangers: what pages of another site ask for goes without the crawl's credential and
// cookies, is not shared with the site's own pages, and changes no cookie of theirs.
func TestStrangers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	secrets := make(map[string][]string) // by path
	victim := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		mu.Lock()
		secrets[r.URL.Path] = append(secrets[r.URL.Path], strings.TrimSpace(password+" "+r.Header.Get("Cookie")))
		mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", "*")
		switch r.URL.Path {
		case "/", "/b":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<title>V</title><p id=p><script src=/own.js></script><a href=/b>b</a>")
		case "/own.js":
			w.Header().Set("Content-Type", "text/javascript")
			w.Header().Set("Set-Cookie", "sid=anonymous; Path=/")
			if password != "" {
				w.Header().Del("Set-Cookie")
			}
			fmt.Fprintf(w, "document.body.append('for %s')", password)
		default:
			fmt.Fprint(w, "of ", password)
		}
	})
	evil := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>E</title><p id=p><script src=%[1]s/own.js></script><script>
			for (const credentials of ['omit', 'same-origin'])
				fetch('%[1]s/open?' + credentials, {credentials}).then(r => r.text()).then(s => { p.textContent += s })
			fetch('%[1]s/blind', {mode: 'no-cors', credentials: 'include'})
		</script>`, victim.URL)
	})
	dir := t.TempDir()
	jar := filepath.Join(dir, "cookies")
	if err := os.WriteFile(jar, []byte("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tGOOD\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	host := strings.TrimPrefix(victim.URL, "http://")
	e := wefttest.Crawl(t, wefttest.Done, "--render=always", "-c", "1", "--allow-private", "--cookies", jar, "--auth", "http://"+host+"=ada:pass", "--job", "job", "--bodies",
		strings.Replace(evil.URL, "127.0.0.1", "localhost", 1), victim.URL)
	mu.Lock()
	defer mu.Unlock()
	for path, want := range map[string]string{"/": "pass sid=GOOD", "/b": "pass sid=GOOD", "/open": "|", "/blind": "", "/own.js": "|pass sid=GOOD"} {
		slices.Sort(secrets[path])
		if got := strings.Join(secrets[path], "|"); got != want {
			t.Errorf("%s was asked with %q, expected %q", path, got, want)
		}
	}
	if text := wefttest.In(t, e.Dir, "read", "--whole", "job", "-o", "-").Stdout; strings.Count(text, "for pass") != 2 {
		t.Errorf("expected two pages for pass: %s", text)
	}
}

// TestFramesOfStrangers: what a frame of another site asks of the page's site carries no credential
// and no cookie that the browser does not have; what the page's own frames ask does, as do frames
// that are crawled as pages.
func TestFramesOfStrangers(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	secrets := make(map[string][]string) // by path
	var own, other *wefttest.Site
	answer := func(w http.ResponseWriter, r *http.Request) {
		_, password, _ := r.BasicAuth()
		mu.Lock()
		secrets[r.URL.Path] = append(secrets[r.URL.Path], strings.TrimSpace(password+" "+r.Header.Get("Cookie")))
		mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Content-Type", "text/html")
		asks := func(by string) {
			fmt.Fprintf(w, "<p>text<script src=%[1]s/script-%[2]s></script><script>fetch('%[1]s/fetch-%[2]s')</script>", own.URL, by)
		}
		switch r.URL.Path {
		case "/":
			fmt.Fprintf(w, "<title>P</title><iframe src=/frame></iframe><iframe src=%s/widget></iframe>", strings.Replace(other.URL, "127.0.0.1", "localhost", 1))
			asks("page")
		case "/frame":
			asks("own")
		case "/widget":
			fmt.Fprintf(w, "<iframe src=%s/inner></iframe>", own.URL)
			asks("other")
		}
	}
	own, other = wefttest.NewSite(t, answer), wefttest.NewSite(t, answer)
	jar := filepath.Join(t.TempDir(), "cookies")
	if err := os.WriteFile(jar, []byte("127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\té\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	wefttest.Crawl(t, wefttest.Done, "--render=always", "-c", "1", "--allow-private", "--cookies", jar, "--auth", own.URL+"=ada:pass", own.URL)
	mu.Lock()
	defer mu.Unlock()
	for path, want := range map[string]string{
		"/frame": "pass sid=é", "/script-page": "pass sid=é", "/fetch-page": "pass sid=é", "/script-own": "pass sid=é", "/fetch-own": "pass sid=é",
		"/widget": "", "/inner": "|pass sid=é", "/script-other": "", "/fetch-other": "",
	} {
		slices.Sort(secrets[path])
		if got := strings.Join(slices.Compact(secrets[path]), "|"); len(secrets[path]) == 0 || got != want {
			t.Errorf("%s was asked with %q, expected %q", path, got, want)
		}
	}
}

// TestFewWorkers: a crawl with fewer fetches at once than there are tabs renders all pages, and
// ends. Its pages ask for nothing, so that no worker is there beside the one of the page.
func TestFewWorkers(t *testing.T) {
	t.Parallel()
	for _, n := range []string{"1", "2"} {
		t.Run(n, func(t *testing.T) {
			t.Parallel()
			s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				var page int
				if _, err := fmt.Sscanf(r.URL.Path, "/%d", &page); err == nil && page < 5 {
					fmt.Fprintf(w, "<title>P</title><div id=app></div><script>app.innerHTML = '<a href=/%d>next</a>'</script>", page+1)
				}
			})
			e := wefttest.Crawl(t, wefttest.Done, "--render=always", "-c", n, "--job", "job", s.URL+"/0")
			if all := s.Records(t, filepath.Join(e.Dir, "job")); len(all) != 6 {
				t.Errorf("%d pages, expected 6", len(all))
			}
		})
	}
}

// TestStrangersResponses: what a server says to pages of another site is not what its own pages
// get, and what either get as a script is no record of a page. What it refuses one site it may
// grant another; what it grants is shared by all, in the form that they accept.
func TestStrangersResponses(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	asked := make(map[string]int) // by site and path
	evilHasAsked := make(chan struct{})
	s := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		site, _, _ := strings.Cut(r.Host, ".")
		mu.Lock()
		if asked[site+r.URL.Path]++; site+r.URL.Path == "evil/b" && asked["evil/b"] == 1 {
			// Its page / has been rendered, which links to this one.
			close(evilHasAsked)
		}
		mu.Unlock()
		_, port, _ := strings.Cut(r.Host, ":")
		byEvil := strings.HasPrefix(r.Referer(), "http://evil.test")
		html := func(text string) {
			w.Header().Set("Content-Type", "text/html")
			others := regexp.MustCompile(`=(\w+)/`)
			fmt.Fprint(w, others.ReplaceAllString(text, "=http://$1.test:"+port+"/"))
		}
		script := func(text string) {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, "document.body.append(' %s ')", text)
		}
		// URLs of other sites lack their scheme and their port.
		const shared = "<script src=cdn/shared.js></script><script src=cdn/gone.js></script><script src=cdn/linked.js></script>"
		switch site + r.URL.Path {
		case "evil/", "evil/b":
			html("<title>E</title><p>text<a href=/b>b</a><script src=victim/></script><script src=victim/b></script><script src=victim/app.js></script><link rel=stylesheet href=cdn/varies>" + shared)
		case "victim/", "victim/b":
			if r.Referer() != "" {
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprint(w, `{"for": "scripts"}`)
				return
			}
			select {
			case <-evilHasAsked:
			case <-r.Context().Done():
			}
			html("<title>V</title><p>text<a href=/b>b</a><script src=/b></script><script src=/app.js></script><script src=cdn/varies></script>" + shared)
		case "victim/app.js", "cdn/linked.js":
			if byEvil {
				http.Error(w, "no hotlinks", http.StatusNotFound)
				return
			}
			script(strings.TrimSuffix(r.URL.Path[1:], ".js") + "-runs")
		case "cdn/shared.js":
			script("shared-runs")
		case "cdn/varies":
			w.Header().Set("Vary", "Accept")
			if strings.Contains(r.Header.Get("Accept"), "css") {
				w.Header().Set("Content-Type", "text/css")
				fmt.Fprint(w, "p { color: red }")
				return
			}
			script("varies-runs")
		default:
			http.NotFound(w, r)
		}
	})
	_, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
	args := []string{"--render=always", "--delay", "0s", "--allow-private", "--job", "job", "--bodies"}
	for _, host := range []string{"evil", "victim", "cdn"} {
		args = append(args, "--resolve", host+".test:"+port+":127.0.0.1")
	}
	victim := "http://victim.test:" + port
	e := wefttest.Crawl(t, wefttest.Done, append(args, "http://evil.test:"+port, victim)...)
	all := s.Records(t, filepath.Join(e.Dir, "job"))
	for _, path := range []string{"/", "/b"} {
		url := victim + path
		if r := all[url]; r == nil || r.ContentType != "text/html" || r.Title != "V" {
			t.Errorf("%s: %+v", url, r)
		}
		text := wefttest.In(t, e.Dir, "read", "--whole", "job", url, "-o", "-").Stdout
		for _, word := range []string{"app-runs", "linked-runs", "shared-runs", "varies-runs"} {
			if !strings.Contains(text, word) {
				t.Errorf("%s: no %s: %s", url, word, text)
			}
		}
	}
	mu.Lock()
	defer mu.Unlock()
	// Each site learns once of what is gone.
	for path, want := range map[string]int{"cdn/shared.js": 1, "cdn/gone.js": 2, "victim/app.js": 2, "cdn/linked.js": 2} {
		if asked[path] != want {
			t.Errorf("%s was asked for %d times, expected %d", path, asked[path], want)
		}
	}
}
