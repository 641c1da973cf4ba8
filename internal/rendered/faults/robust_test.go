package faults_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/long"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// sound are pages that a crawl has in full, whatever others do.
func sound(links string) map[string]string {
	pages := map[string]string{"/": "text/html\n<!doctype html><title>start</title><p id=p>" + links}
	for i := range 6 {
		path := "/sound" + strconv.Itoa(i)
		pages["/"] += "<a href=" + path + ">x</a>"
		pages[path] = "text/html\n<!doctype html><title>sound</title><p id=p><script>p.innerHTML = '<a href=/shown" + strconv.Itoa(i) + ">x</a>'</script>"
		pages["/shown"+strconv.Itoa(i)] = "text/html\n<!doctype html><title>shown</title>text"
	}
	return pages
}

// wholeOf expects records of the sound pages, and returns all.
func wholeOf(t *testing.T, s *wefttest.Site, job string) map[string]*weft.Record {
	t.Helper()
	all := s.Records(t, job)
	for i := range 6 {
		for _, path := range []string{"/sound", "/shown"} {
			if r := all[path+strconv.Itoa(i)]; r == nil || r.Rendered == nil || r.Rendered.Error != "" || r.Title != path[1:] {
				t.Errorf("%s%d: %+v", path, i, r)
			}
		}
	}
	return all
}

// TestCrawlHostile: pages that hang, take all memory, never come to rest, or have names to break a
// terminal by have records that say so, and the crawl goes on.
func TestCrawlHostile(t *testing.T) {
	t.Parallel()
	want := map[string]string{"/never": "", "/around": "", "/names": ""}
	if long.Enabled() { // half a minute more
		want["/hang"], want["/hog"] = "cpu|time", "memory|crash"
	}
	links := ""
	for path := range want {
		links += "<a href=" + path + ">x</a>"
	}
	pages := sound(links)
	pages["/hang"] = "text/html\n<p>x<script>while (true) {}</script>"
	pages["/hog"] = "text/html\n<p>x<script>const all = []; (async () => { for (;;) { await new Promise(f => setTimeout(f)); all.push(new Uint8Array(20 << 20).fill(1)) } })()</script>"
	pages["/never"] = "text/html\n<title>never</title><p>x<script>setInterval(() => fetch('/data?' + Math.random()), 10)</script>"
	pages["/data"] = "text/plain\nx"
	pages["/around"] = "text/html\n<title>around</title><p>x<script>fetch('/loop').catch(() => 0); let n = 0; setInterval(() => { location = '/around?' + n++ % 2 }, 100)</script>"
	pages["/loop"] = "/loop\n"
	pages["/names"] = "text/html; charset=utf-8\n<p>x<script>document.title = '\\x1b[31mred\\x07\\0\\ud800\\u202e'; window.name = '\\0'.repeat(1e6); console.error('\\x1b]0;x\\x07', '\\ud800'); fetch('/\\x1b[2J?\\ud800%00'); history.pushState({}, '', '/names?\\x1b[31m%1b\\ud800'); throw new Error('x'.repeat(1e6) + '\\0')</script>"
	s := wefttest.Shows(t, pages)
	e := wefttest.Crawl(t, wefttest.Done, "--render=always", "--memory", "512MiB", "--limit", "100", "--job", "job", s.URL)
	all := wholeOf(t, s, filepath.Join(e.Dir, "job"))
	for path, want := range want {
		r := all[path]
		if r == nil {
			t.Errorf("%s: no record", path)
			continue
		}
		if r.Rendered == nil || !strings.Contains("|"+want+"|", "|"+r.Rendered.ErrorKind+"|") {
			t.Errorf("%s: %+v", path, r.Rendered)
			continue
		}
		t.Logf("%s: %.600s", path, fmt.Sprintf("%q %+v", r.Title, *r.Rendered))
	}
	if strings.ContainsAny(e.Stderr+e.Stdout, "\x1b\x07\x00") {
		t.Errorf("control characters: %q", e.Stderr)
	}
}

// TestCrawlLong: a page of 10 MB, or 3 in the short form, is read to its end.
func TestCrawlLong(t *testing.T) {
	t.Parallel()
	pages := sound("<a href=/long>x</a>")
	pages["/long"] = "text/html\n<title>long</title>" + strings.Repeat("<p>"+strings.Repeat("0123456789 ", 1000), long.Or(3, 10)<<20/11003) + "<script>document.body.append('the end')</script>"
	s := wefttest.Shows(t, pages)
	e := wefttest.Crawl(t, wefttest.Done, "--render=always", "--bodies", "--job", "job", s.URL)
	all := wholeOf(t, s, filepath.Join(e.Dir, "job"))
	r := all["/long"]
	if r == nil || r.Rendered == nil || r.Rendered.Error != "" || r.Rendered.Bytes < r.BodyBytes {
		t.Fatalf("%+v", r.Rendered)
	}
	if text := e.File("job/bodies/" + r.Rendered.SHA256[:2] + "/" + r.Rendered.SHA256); !strings.Contains(text, "the end") {
		t.Errorf("a document of %d bytes without its end", len(text))
	}
}

// TestCrawlEncodings: a browser reads pages in their encodings, as Weft does.
func TestCrawlEncodings(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"/": "text/html\n"}
	want := map[string]string{}
	for charset, c := range map[string][2]string{
		"windows-1251": {"\xcf\xf0\xe8\xe2\xe5\xf2", "Привет"},
		"shift_jis":    {"\x93\xfa\x96\x7b", "日本"},
		"gb18030":      {"\xd6\xd0\xb9\xfa", "中国"},
		"iso-2022-jp":  {"\x1b$BF|K\\\x1b(B", "日本"},
		"utf-16le":     {"", "日本"},
	} {
		body := "<!doctype html><title>" + c[0] + "</title><script>document.title += '!'</script>"
		if charset == "utf-16le" {
			body = utf16le("\ufeff<!doctype html><title>日本</title><script>document.title += '!'</script>")
		}
		pages["/"] += "<a href=/" + charset + ">x</a>"
		pages["/"+charset] = "text/html; charset=" + charset + "\n" + body
		want["/"+charset] = c[1] + "!"
	}
	s := wefttest.Shows(t, pages)
	e := wefttest.Crawl(t, wefttest.Done, "--render=always", "--job", "job", s.URL)
	all := s.Records(t, filepath.Join(e.Dir, "job"))
	for path, title := range want {
		if r := all[path]; r == nil || r.Rendered == nil || r.Title != title {
			t.Errorf("%s: %+v, expected %s", path, r, title)
		}
	}
}

func utf16le(text string) string {
	var b []byte
	for _, r := range text { // of the basic plane
		b = append(b, byte(r), byte(r>>8))
	}
	return string(b)
}

// TestCrawlPageRequests: what a crawl excludes is not requested for pages, and a response that
// allows one origin is not given to pages of another.
func TestCrawlPageRequests(t *testing.T) {
	t.Parallel()
	var out atomic.Int32
	api := wefttest.NewSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/out/data" {
			out.Add(1)
		}
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Cache-Control", "max-age=1000")
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		fmt.Fprint(w, "from the API")
	})
	page := "text/html\n<p id=p><script>for (const path of ['/data', '/out/data']) fetch('" + api.URL + "' + path).then(r => r.text()).then(text => p.append(text)).catch(() => 0)</script>"
	a, b := wefttest.Shows(t, map[string]string{"/": page}), wefttest.Shows(t, map[string]string{"/": page})
	e := wefttest.Crawl(t, wefttest.Done, "--render=always", "--markdown", "--allow-private", "--exclude", "/out/", "--job", "job", a.URL, b.URL)
	for _, s := range []*wefttest.Site{a, b} {
		if x := wefttest.In(t, e.Dir, "read", "job", s.URL+"/"); strings.Count(x.Stdout, "from the API") != 1 {
			t.Errorf("%s: %s%s", s.URL, x.Stdout, x.Stderr)
		}
		r := s.Records(t, filepath.Join(e.Dir, "job"))["/"]
		if refused := strings.Join(r.Rendered.Refused, "\n"); !strings.Contains(refused, "/out/data excluded") {
			t.Errorf("refused: %q", refused)
		}
	}
	if out.Load() > 0 {
		t.Error("requested what is excluded")
	}
}

// TestCrawlNoStart: a browser that does not start ends the crawl, with a word of it; the pages stay
// pending, and the next run renders them.
func TestCrawlNoStart(t *testing.T) {
	t.Parallel()
	s := wefttest.Shows(t, sound(""))
	e := wefttest.Crawl(t, wefttest.Failed, "--render=always", "--browser", "false", "--job", "job", s.URL)
	if strings.Count(e.Stderr, "does not start") != 1 || !strings.Contains(e.Stderr, "expected Chromium") {
		t.Errorf("stderr: %s", e.Stderr)
	}
	program, _ := weft.FindBrowser("")
	if e = wefttest.In(t, e.Dir, "crawl", "--job", "job", "--browser", program); e.Code != wefttest.Done {
		t.Fatalf("resumed: %d, %s", e.Code, e.Stderr)
	}
	wholeOf(t, s, filepath.Join(e.Dir, "job"))
}

// TestCrawlBrowserKilled: when somebody kills the browser, pages are rendered by another.
func TestCrawlBrowserKilled(t *testing.T) {
	t.Parallel()
	temp, err := os.MkdirTemp("", "weft-") // short: see render.Options
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp)
	pages := sound("")
	var asked sync.Once
	var killed atomic.Int32
	s := wefttest.Shows(t, pages)
	inner := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/shown0" { // the browser has rendered some pages
			asked.Do(func() { killed.Store(int32(killBrowser(temp))) })
		}
		inner.ServeHTTP(w, r)
	})
	cmd, stderr := wefttest.Command(t, "crawl", "--render=always", "--job", "job", s.URL)
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	wholeOf(t, s, filepath.Join(cmd.Dir, "job"))
	if killed.Load() != 1 {
		t.Errorf("killed %d browsers", killed.Load())
	}
	if left, _ := filepath.Glob(filepath.Join(temp, "*")); len(left) > 0 {
		t.Errorf("left %q", left)
	}
}

// killBrowser kills the browsers, without their children, that have a profile below a folder.
func killBrowser(temp string) (n int) {
	paths, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range paths {
		command, _ := os.ReadFile(path)
		text := string(command)
		if strings.Contains(text, "--user-data-dir="+temp) && !strings.Contains(text, "--type=") && !strings.HasPrefix(text, "/bin/sh") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if syscall.Kill(pid, syscall.SIGKILL) == nil {
				n++
			}
		}
	}
	return n
}

// TestCrawlUnrendered: report and status name the kinds of pages that could not be rendered, with
// the first of each.
func TestCrawlUnrendered(t *testing.T) {
	t.Parallel()
	const empties = "text/html\n<p>Some text, and <a href=/two>a link</a>.<script>document.documentElement.innerHTML = ''</script>"
	s := wefttest.Shows(t, map[string]string{"/": empties, "/two": empties})
	e := wefttest.Crawl(t, wefttest.Done, "--render=always", "--delay", "0s", "--job", "job", s.URL)
	status := wefttest.In(t, e.Dir, "status", "job")
	for _, said := range []string{e.Stdout + e.Stderr, status.Stdout} {
		line := regexp.MustCompile(`not rendered +emptied +2  ` + regexp.QuoteMeta(s.URL) + `/(two)?\n`)
		if !strings.Contains(said, "0 pages; 2 could not be") || !line.MatchString(said) {
			t.Errorf("%s, expected the two pages that were emptied", said)
		}
	}
	status = wefttest.In(t, e.Dir, "status", "--json", "job")
	if !strings.Contains(status.Stdout, `"not_rendered_by":[{"kind":"emptied","pages":2,"example":"`+s.URL) {
		t.Errorf("%s", status.Stdout)
	}
}
