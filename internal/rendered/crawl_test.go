package rendered_test

import (
	"bufio"
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
	"syscall"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// app is a site of pages that a script fills from an API, and of one that needs no script.
type app struct{ *wefttest.Site }

const appPages = 12

func newApp(t *testing.T) app {
	t.Helper()
	return app{wefttest.NewSite(t, serveApp)}
}

func serveApp(w http.ResponseWriter, r *http.Request) {
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

// check compares records with the site.
func (a app) check(t *testing.T, all map[string]*weft.Record) {
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
			e := wefttest.Crawl(t, wefttest.Done, "--render", keeps, "--assets", "none", "--job", "job", a.URL+"/p/0")
			if !strings.Contains(e.Stderr, "rendered      12 pages") {
				t.Errorf("report: %s", e.Stderr)
			}
			job := filepath.Join(e.Dir, "job")
			a.check(t, a.Records(t, job))
			for path, n := range a.Times() {
				if n > 1 {
					t.Errorf("%s was requested %d times", path, n)
				}
			}
			if a.Times()["/api/secret"] > 0 {
				t.Error("requested what robots.txt disallows")
			}
			text := wefttest.In(t, e.Dir, "read", "job", "-o", "-").Stdout
			if n := strings.Count(text, "# Pagé "); n != appPages {
				t.Errorf("the texts of %d pages of %d: %s", n, appPages, text)
			}
			why := wefttest.In(t, e.Dir, "why", "job", a.URL+"/p/3").Stdout
			if !strings.Contains(why, "rendered (it looks empty without scripts: mount)") {
				t.Errorf("why: %s", why)
			}
			why = wefttest.In(t, e.Dir, "why", "job", a.URL+"/static").Stdout
			if !strings.Contains(why, "auto: not rendered") {
				t.Errorf("why: %s", why)
			}
			if keeps == "--warc" {
				a.replays(t, job)
				files, _ := filepath.Glob(filepath.Join(job, "archive", "*.warc.gz"))
				if e := wefttest.In(t, e.Dir, append([]string{"warc", "check"}, files...)...); e.Code != wefttest.Done {
					t.Errorf("the archive: %s%s", e.Stdout, e.Stderr)
				}
			}
			report := wefttest.In(t, e.Dir, "check", "job").Stdout
			if !strings.Contains(report, "failed-request") {
				t.Errorf("check: %s", report)
			}
		})
	}
}

// replays expects a replay of the archive to show rendered documents, and to run no script of
// theirs.
func (a app) replays(t *testing.T, job string) {
	t.Helper()
	res, err := http.Get(replayOf(t, job) + "2mp_/" + a.URL + "/p/3")
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
	cmd, _ := wefttest.Command(t, "crawl", "--render", "--warc", "--assets", "none", "--job", "job", "-o", "-", a.URL+"/p/0")
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
	if n := len(a.Records(t, job)); n < 1 || n > appPages {
		t.Errorf("%d records when it was killed", n)
	}
	if e := wefttest.In(t, cmd.Dir, "crawl", "--job", "job"); e.Code != wefttest.Done {
		t.Fatalf("resumed: %d, %s", e.Code, e.Stderr)
	}
	all := a.Records(t, job)
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
	e := wefttest.Run(t, "check", "--render", "--wait", "h1", a.URL+"/p/3")
	for what, n := range map[string]int{"broken-link": 1, "/missing.js": 2, "failed-request": 1, "ReferenceError: broken is not defined  script-error": 1, "http://10.1.2.3/": 0, "Failed to fetch": 0, "/p/7 ": 0} {
		if got := strings.Count(e.Stdout, what); got != n {
			t.Errorf("%q: %d times, expected %d", what, got, n)
		}
	}
	if e.Code != wefttest.Broken || a.Times()["/p/7"] != 1 {
		t.Errorf("exit %d: %s%s", e.Code, e.Stdout, e.Stderr)
	}
}

// TestMirrorRenders: the files of a mirror show what the scripts of pages have shown, and lead to
// one another, in a browser without a network.
func TestMirrorRenders(t *testing.T) {
	t.Parallel()
	a := newApp(t)
	browser, _ := weft.FindBrowser("") // newApp has
	e := wefttest.Run(t, "mirror", "--render", a.URL+"/p/0")
	if e.Code != wefttest.Done {
		t.Fatalf("exit %d: %s", e.Code, e.Stderr)
	}
	a.Close()
	for n := range appPages {
		all, _ := filepath.Glob(filepath.Join(e.Dir, "127*", "p", fmt.Sprint(n, ".html")))
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
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a request") }))
	defer s.Close()
	e := wefttest.With(t, t.TempDir(), []string{"PATH=" + t.TempDir()}, "crawl", "--render", "--job", "job", s.URL)
	if e.Code != wefttest.Failed || !strings.Contains(e.Stderr, "Debian has it as chromium-headless-shell") || strings.Count(e.Stderr, "\n") != 1 || e.File("job/pages.jsonl") != "" {
		t.Errorf("exit %d: %s", e.Code, e.Stderr)
	}
	if _, err := os.Stat(filepath.Join(e.Dir, "job")); !os.IsNotExist(err) {
		t.Errorf("a folder of the job: %v", err)
	}
}
