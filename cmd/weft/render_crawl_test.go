package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/archive"
	"github.com/weftcrawl/weft/replay"
)

// app is a site of pages that a script fills from an API, and of one that needs no script.
type app struct {
	*httptest.Server
	mu    sync.Mutex
	asked map[string]int // requests by path
}

const appPages = 12

func newApp(t *testing.T) *app {
	t.Helper()
	if _, err := weft.FindBrowser(""); err != nil {
		t.Skip(err)
	}
	a := &app{asked: make(map[string]int)}
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.mu.Lock()
		a.asked[r.URL.Path]++
		a.mu.Unlock()
		a.serve(w, r)
	}))
	t.Cleanup(a.Close)
	return a
}

// times returns how often a path was requested.
func (a *app) times(path string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.asked[path]
}

func (a *app) serve(w http.ResponseWriter, r *http.Request) {
	var n int
	switch path := r.URL.Path; {
	case path == "/robots.txt":
		fmt.Fprint(w, "User-agent: *\nDisallow: /api/secret\n")
	case path == "/static":
		fmt.Fprintf(w, "<!doctype html><title>Static</title><script>1</script><p>%s<a href=/p/1>one</a>", strings.Repeat("A page with its text. ", 30))
	case path == "/app.js":
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, `
			document.title = 'Loading'
			const n = Number(location.pathname.split('/')[2])
			fetch('/api/secret')
			setTimeout(() => broken())
			fetch('http://10.1.2.3/private').catch(() => {})
			fetch('/api/' + n).then(r => r.json()).then(d => {
				document.title = d.title
				document.querySelector('#root').innerHTML = '<h1>' + d.title + '</h1>' + d.links.map(l => '<a href="' + l + '">' + l + '</a>').join(' ')
			})`)
	case strings.HasPrefix(path, "/p/"):
		w.Header().Set("Content-Type", "text/html; charset=windows-1252")
		fmt.Fprint(w, "<!doctype html><title>App</title><div id=root></div><script src=/missing.js></script><script src=/app.js></script>")
	default:
		if _, err := fmt.Sscanf(path, "/api/%d", &n); err != nil {
			http.NotFound(w, r)
			return
		}
		links := []string{"/static"}
		for _, to := range []int{2*n + 1, 2*n + 2} {
			if to < appPages {
				links = append(links, fmt.Sprint("/p/", to))
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"title": fmt.Sprintf("Pagé %d", n), "links": links})
	}
}

// records returns those of a job, by the paths of their URLs. A URL has one.
func (a *app) records(t *testing.T, job string) map[string]*weft.Record {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(job, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]*weft.Record)
	for line := range bytes.Lines(text) {
		r := new(weft.Record)
		if err := json.Unmarshal(line, r); err != nil {
			t.Fatal(err)
		}
		path := strings.TrimPrefix(r.URL, a.URL)
		if all[path] != nil {
			t.Errorf("two records of %s", path)
		}
		all[path] = r
	}
	return all
}

// check compares records with the site.
func (a *app) check(t *testing.T, all map[string]*weft.Record) {
	t.Helper()
	for n := range appPages {
		r := all[fmt.Sprint("/p/", n)]
		if r == nil || r.Rendered == nil || r.Title != fmt.Sprintf("Pagé %d", n) || r.Rendered.Reason != "mount" || r.Rendered.Error != "" {
			t.Fatalf("/p/%d: %+v", n, r)
		}
		refused := strings.Join(r.Rendered.Refused, "\n")
		if !strings.Contains(refused, "/api/secret robots: line 2") || !strings.Contains(refused, "http://10.1.2.3/private") || len(r.Rendered.Refused) != 2 {
			t.Errorf("/p/%d: refused requests %q", n, r.Rendered.Refused)
		}
		if failed := r.Rendered.Failed; len(failed) != 1 || !strings.Contains(failed[0], "/missing.js") {
			t.Errorf("/p/%d: failed requests %q", n, failed)
		}
	}
	if r := all["/static"]; r == nil || r.Rendered != nil {
		t.Errorf("/static: %+v, expected not to be rendered", r)
	}
	if len(all) != appPages+1 {
		t.Errorf("%d records, expected %d", len(all), appPages+1)
	}
}

// TestCrawlRenders: a crawl follows what scripts show. Each page is requested once, and what pages
// need under robots.txt and the address guard: what they share, once. Texts and fields of the job
// are of what the browser has shown.
func TestCrawlRenders(t *testing.T) {
	t.Parallel()
	for _, keeps := range []string{"--warc", "--bodies"} {
		t.Run(keeps, func(t *testing.T) {
			t.Parallel()
			a := newApp(t)
			e := crawls(t, exitDone, "--render", keeps, "--assets", "none", "--job", "job", a.URL+"/p/0")
			if !strings.Contains(e.stderr, "rendered      12 pages") {
				t.Errorf("report: %s", e.stderr)
			}
			job := filepath.Join(e.dir, "job")
			a.check(t, a.records(t, job))
			for path, n := range a.asked {
				if n > 1 {
					t.Errorf("%s was requested %d times", path, n)
				}
			}
			if a.asked["/api/secret"] > 0 {
				t.Error("requested what robots.txt disallows")
			}
			text := weftIn(t, e.dir, "read", "job", "-o", "-").stdout
			if n := strings.Count(text, "# Pagé "); n != appPages {
				t.Errorf("the texts of %d pages of %d: %s", n, appPages, text)
			}
			why := weftIn(t, e.dir, "why", "job", a.URL+"/p/3").stdout
			if !strings.Contains(why, "rendered (it looks empty without scripts: mount)") {
				t.Errorf("why: %s", why)
			}
			why = weftIn(t, e.dir, "why", "job", a.URL+"/static").stdout
			if !strings.Contains(why, "auto: not rendered") {
				t.Errorf("why: %s", why)
			}
			if keeps == "--warc" {
				a.replays(t, job)
				files, _ := filepath.Glob(filepath.Join(job, "archive", "*.warc.gz"))
				if e := weftIn(t, e.dir, append([]string{"warc", "check"}, files...)...); e.code != exitDone {
					t.Errorf("the archive: %s%s", e.stdout, e.stderr)
				}
			}
			report := weftIn(t, e.dir, "check", "job").stdout
			if !strings.Contains(report, "failed-request") {
				t.Errorf("check: %s", report)
			}
		})
	}
}

// replays expects a replay of the archive to show rendered documents, and to run no script of
// theirs.
func (a *app) replays(t *testing.T, job string) {
	t.Helper()
	x, err := archive.Open(job)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	s := replay.New(x, "job", func(err error) { t.Error(err) })
	server := httptest.NewServer(s)
	defer server.Close()
	res, err := http.Get(server.URL + s.Root() + "2mp_/" + a.URL + "/p/3")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if policies := strings.Join(res.Header.Values("Content-Security-Policy"), "\n"); err != nil || !strings.Contains(string(body), "<h1>Pagé 3</h1>") || !strings.Contains(policies, "\nscript-src http") {
		t.Errorf("replayed, %v: %s %s", err, policies, body)
	}
}

// TestCrawlRenderedKilled: after a kill each page is rendered again or not at all, and has one
// record.
func TestCrawlRenderedKilled(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	cmd, _ := weftCommand(t, "crawl", "--render", "--warc", "--assets", "none", "--job", "job", "-o", "-", a.URL+"/p/0")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := 0; n < 4 && lines.Scan(); n++ { // some are saved
	}
	_ = cmd.Process.Signal(syscall.SIGKILL)
	_ = cmd.Wait() // killed
	job := filepath.Join(cmd.Dir, "job")
	if n := len(a.records(t, job)); n < 1 || n > appPages {
		t.Errorf("%d records when it was killed", n)
	}
	if e := weftIn(t, cmd.Dir, "crawl", "--job", "job"); e.code != exitDone {
		t.Fatalf("resumed: %d, %s", e.code, e.stderr)
	}
	all := a.records(t, job)
	a.check(t, all)
	var places []int64
	for _, r := range all {
		if r.Rendered != nil {
			places = append(places, r.Rendered.WARCOffset)
		}
	}
	slices.Sort(places)
	if len(slices.Compact(places)) != appPages {
		t.Errorf("%d rendered documents in the archive", len(places))
	}
}

// TestCheckRenders: the check of a site sees what its pages are with scripts, and their faults.
// What Weft does not request by a rule is none.
func TestCheckRenders(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	e := weftRun(t, "check", "--render", "--wait", "h1", a.URL+"/p/3")
	for what, n := range map[string]int{"broken-link": 1, "/missing.js": 2, "failed-request": 1, "ReferenceError: broken is not defined  script-error": 1, "http://10.1.2.3/": 0, "Failed to fetch": 0, "/p/7 ": 0} {
		if got := strings.Count(e.stdout, what); got != n {
			t.Errorf("%q: %d times, expected %d", what, got, n)
		}
	}
	if e.code != exitBroken || a.times("/p/7") != 1 {
		t.Errorf("exit %d: %s%s", e.code, e.stdout, e.stderr)
	}
}

// TestMirrorRenders: the files of a mirror show what the scripts of pages have shown, and lead to
// one another, in a browser without a network.
func TestMirrorRenders(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	browser, _ := weft.FindBrowser("") // newApp has
	e := weftRun(t, "mirror", "--render", a.URL+"/p/0")
	if e.code != exitDone {
		t.Fatalf("exit %d: %s", e.code, e.stderr)
	}
	a.Close()
	for n := range appPages {
		all, _ := filepath.Glob(filepath.Join(e.dir, "127*", "p", fmt.Sprint(n, ".html")))
		if len(all) != 1 {
			t.Fatalf("the files of page %d: %q", n, all)
		}
		if n > 1 { // two show it
			continue
		}
		shown, err := exec.Command(browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "file://"+all[0]).Output()
		for _, want := range []string{fmt.Sprintf("<title>Pagé %d</title>", n), fmt.Sprintf("<h1>Pagé %d</h1>", n), fmt.Sprintf(`<a href="%d.html">`, 2*n+1), `<a href="../static.html">`} {
			if !strings.Contains(string(shown), want) {
				t.Errorf("page %d without %s: %v, %s", n, want, err, shown)
			}
		}
	}
}

// TestNoBrowser: a crawl that cannot render says so, and does nothing.
func TestNoBrowser(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request") }))
	defer s.Close()
	e := weftRun(t, "crawl", "--render", "--job", "job", s.URL)
	if e.code != exitError || !strings.Contains(e.stderr, "Debian has it as chromium-headless-shell") || strings.Count(e.stderr, "\n") != 1 || e.file("job/pages.jsonl") != "" {
		t.Errorf("exit %d: %s", e.code, e.stderr)
	}
	if _, err := os.Stat(filepath.Join(e.dir, "job")); !os.IsNotExist(err) {
		t.Errorf("a folder of the job: %v", err)
	}
}
