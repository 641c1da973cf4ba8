package main

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/webtest"
	"github.com/weftcrawl/weft/internal/wefttest"
)

// chain serves pages /, /a, /aa and so on, each with a link to the next.
func chain(w http.ResponseWriter, r *http.Request) { wefttest.HTML(w, r.URL.Path+"a") }

// two is star whose links wait for a second concurrent request: for long, if there is to be one.
func two(expected bool) http.HandlerFunc {
	patience := 50 * time.Millisecond
	if expected {
		patience = 20 * time.Second
	}
	var now atomic.Int32
	var once sync.Once
	met := make(chan struct{})
	return func(w http.ResponseWriter, r *http.Request) {
		if now.Add(1) == 2 {
			once.Do(func() { close(met) })
		}
		defer now.Add(-1)
		if r.URL.Path != "/" {
			select {
			case <-met:
			case <-time.After(patience):
			}
		}
		wefttest.Star(w, r)
	}
}

// copies serves /a/, a page that is nearly the same, and two that are identical; each has a link
// to a page below it.
func copies(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/":
		wefttest.HTML(w, "/a/", "/b/", "/c/", "/d/")
	case "/a/", "/b/", "/c/", "/d/":
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/b/" {
			fmt.Fprint(w, "<nav>b</nav>")
		}
		for i := range 100 {
			fmt.Fprintf(w, "word%d ", i)
		}
		fmt.Fprint(w, "<a href=in>in</a>")
	}
}

// hang sends a text, then nothing until the client leaves.
func hang(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if text != "" {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write([]byte(text))
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}
}

// newPosted returns a site and what was posted to it, sorted.
func newPosted(t *testing.T) (*wefttest.Asked, func() string) {
	var mu sync.Mutex
	var all []string
	s := wefttest.NewAsked(t, false, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Header.Get("Content-Type"), body))
	})
	return s, func() string {
		mu.Lock()
		defer mu.Unlock()
		slices.Sort(all)
		return strings.Join(all, "\n")
	}
}

// dataFile returns a file named data with a text.
func dataFile(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "data")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// silent returns the address of a server that accepts connections and sends nothing.
func silent(t *testing.T) string {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	return ln.Addr().String()
}

// deaf returns a UDP address that never answers.
func deaf(t *testing.T) string {
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.LocalAddr().String()
}

func certificate(t *testing.T, s *wefttest.Asked) string {
	path := filepath.Join(t.TempDir(), "ca.pem")
	b := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// crawls runs weft crawl with args, and expects an exit code.
func crawlArgs(t *testing.T, code int, args ...string) ended {
	t.Helper()
	e := weftRun(t, append([]string{"crawl"}, args...)...)
	if e.code != code {
		t.Fatalf("%q: exit %d, expected %d: %s%s", args, e.code, code, e.stdout, e.stderr)
	}
	return e
}

// retries retries a crawl in which two of five pages fail, and one is not there, and expects a
// number of requests.
func retries(t *testing.T, requests int, args ...string) {
	t.Helper()
	s, _ := newFailing(t)
	first := crawlArgs(t, exitDone, "--job", "job", "--retries", "0", s.URL)
	before := len(s.Got())
	e := weftIn(t, first.dir, append([]string{"crawl", "--retry-failed", "job", "--retries", "0"}, args...)...)
	if n := len(s.Got()) - before; e.code != exitDone || n != requests {
		t.Errorf("%q: exit %d, %d requests, expected %d: %s", args, e.code, n, requests, e.stderr)
	}
}

// kind crawls a URL that cannot be fetched, and expects an error kind, sooner than by any default.
func kind(t *testing.T, want string, args ...string) {
	t.Helper()
	most := 9 * time.Second // the shortest default is 10 s
	if want == "too-slow" {
		most = time.Minute // a response has 10 s before it is too slow; no default has that kind
	}
	cmd, stderr := weftCommand(t, append([]string{"crawl", "-o", "-", "--retries", "0", "--no-robots"}, args...)...)
	var out bytes.Buffer
	cmd.Stdout = &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(most, func() { _ = cmd.Process.Kill() }).Stop()
	if code := exitCode(cmd.Wait()); code != exitError || !strings.Contains(out.String(), `"error_kind":"`+want+`"`) {
		t.Errorf("%q: exit %d, %s, expected %d and the error kind %s: %s", args, code, &out, exitError, want, stderr)
	}
}

func expect(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, expected %v", what, got, want)
	}
}

// siblings crawls two hosts of one domain, on one address, and returns their server. The crawl's
// folder is job, in dir.
func siblings(t *testing.T, serve http.HandlerFunc, args ...string) (s *wefttest.Asked, e ended) {
	t.Helper()
	s = wefttest.NewAsked(t, false, serve)
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	return s, crawlArgs(t, exitDone, append(args, "--no-robots", "--resolve", "*:80:127.0.0.1:"+port, "--job", "job", "http://a.site.test/", "http://b.site.test/")...)
}

// twoAtOnce reports whether the server of the siblings had two requests at once.
func twoAtOnce(t *testing.T, expected bool, args ...string) bool {
	t.Helper()
	s, _ := siblings(t, two(expected), args...)
	return s.AtOnce() > 1
}

// delayed crawls the siblings with a delay of 100 ms for their group: 8 URLs, one after the other.
func delayed(t *testing.T, flag, other string) {
	t.Helper()
	_, e := siblings(t, wefttest.Star, flag, "100ms", other, "0s")
	spread(t, e, 700*time.Millisecond)
}

// spread expects the requests of a crawl to have taken a time, by its records: on a busy machine,
// a server may notice the first of them late.
func spread(t *testing.T, e ended, least time.Duration) {
	t.Helper()
	var all []time.Time
	for line := range strings.Lines(e.file("job/pages.jsonl")) {
		var r weft.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r.Started)
	}
	slices.SortFunc(all, time.Time.Compare)
	if took := all[len(all)-1].Sub(all[0]); took < least*9/10 {
		t.Errorf("%d requests in %v, expected %v", len(all), took, least)
	}
}

// effects tests what each flag of weft crawl changes.
var effects = map[string]func(t *testing.T){
	"strict": effectStrict,
	"input": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		list := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(list, []byte(s.URL+"/one\n"+s.URL+"/two\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		crawlArgs(t, exitDone, "-i", list)
		expect(t, "requested", s.Paths(), "/one /two")
	},
	"scope": func(t *testing.T) {
		for scope, want := range map[string]string{"page": "/docs/", "prefix": "/docs/ /docs/in", "host": "/docs/ /docs/in /out"} {
			s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w, "/docs/in", "/out") })
			crawlArgs(t, exitDone, "--scope", scope, s.URL+"/docs/")
			expect(t, scope, s.Paths(), want)
		}
		other := wefttest.NewAsked(t, false, wefttest.Star)
		s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w, other.URL+"/a") })
		crawlArgs(t, exitDone, "--scope", "any", s.URL)
		expect(t, "any, of another host", other.Paths(), "/a")
	},
	"post-data": func(t *testing.T) {
		s, got := newPosted(t)
		e := crawlArgs(t, exitDone, "--post-data", "q=a b", "--post-data", "@"+dataFile(t, "x"), s.URL+"/form")
		expect(t, "posted", got(), "POST /form application/x-www-form-urlencoded q=a b\nPOST /form application/x-www-form-urlencoded x")
		expect(t, "job", weftIn(t, e.dir, "crawl", "--post-data", "x", s.URL+"/form").code, exitUsage)
	},
	"post-form": func(t *testing.T) {
		s, got := newPosted(t)
		crawlArgs(t, exitDone, "--post-form", "q=a b", "--post-form", "f=@"+dataFile(t, "x"), s.URL+"/form")
		for _, want := range []string{"POST /form multipart/form-data; boundary=weft-", `name="q"`, "a b", `name="f"; filename="data"`, "application/octet-stream"} {
			expect(t, want, strings.Contains(got(), want), true)
		}
	},
	"post-type": func(t *testing.T) {
		s, got := newPosted(t)
		crawlArgs(t, exitDone, "--post-type", "application/json", "--post-data", "{}", s.URL+"/form")
		expect(t, "posted", got(), "POST /form application/json {}")
	},
	"include": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		crawlArgs(t, exitDone, "--include", "/a$", "--include", "/c$", s.URL)
		expect(t, "requested", s.Paths(), "/ /a /c")
	},
	"exclude": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		crawlArgs(t, exitDone, "--exclude", "/a$", "--exclude", "/c$", s.URL)
		expect(t, "requested", s.Paths(), "/ /b")
	},
	"canon": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w, "/?b=1&a=2", "/?a=2&b=1&utm_source=x") })
		crawlArgs(t, exitDone, "--canon", "sort-query,drop-tracking", s.URL)
		expect(t, "requested", s.Paths(), "/ /") // by path: one of the two links
	},
	"depth": func(t *testing.T) {
		for depth, want := range map[string]string{"1": "/ /a", "2": "/ /a /aa"} {
			s := wefttest.NewAsked(t, false, chain)
			crawlArgs(t, exitDone, "-d", depth, s.URL)
			expect(t, "depth "+depth, s.Paths(), want)
		}
	},
	"max-url-length": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w, "/a", "/"+strings.Repeat("b", 80)) })
		crawlArgs(t, exitDone, "--max-url-length", "80", s.URL)
		expect(t, "requested", s.Paths(), "/ /a")
		if e := crawlArgs(t, exitUsage, "--max-url-length", "16385", s.URL); !strings.Contains(e.stderr, `--max-url-length "16385": expected at most 16384`) {
			t.Errorf("too long: %s", e.stderr)
		}
	},
	"max-path-depth": func(t *testing.T) {
		for depth, want := range map[string]string{"2": "/ /a/b/", "0": "/ /a/b/ /a/b/c"} {
			s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w, "/a/b/", "/a/b/c") })
			crawlArgs(t, exitDone, "--max-path-depth", depth, s.URL)
			expect(t, "depth "+depth, s.Paths(), want)
		}
	},
	"max-repeats": func(t *testing.T) {
		for times, want := range map[string]string{"2": "/ /x/x", "0": "/ /x/1/x/2/x/3 /x/x /x/x/x/x"} {
			s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w, "/x/x", "/x/1/x/2/x/3", "/x/x/x/x") })
			crawlArgs(t, exitDone, "--max-repeats", times, s.URL)
			expect(t, "times "+times, s.Paths(), want)
		}
	},
	"max-variants": func(t *testing.T) {
		for most, want := range map[string]string{"2": "/ /p /p /q", "0": "/ /p /p /p /q"} { // by path
			s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w, "/p?a", "/p?b", "/p?c", "/q?a") })
			e := crawlArgs(t, exitDone, "--max-variants", most, s.URL)
			expect(t, "most "+most, s.Paths(), want)
			expect(t, "cut "+most, strings.Contains(e.stderr, "cut           1 URL by --max-variants"), most == "2")
		}
	},
	"max-alike": func(t *testing.T) {
		for most, status := range map[string]int{"20": exitDone, "0": exitLimit} {
			s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
				n, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/day/"))
				wefttest.HTML(w, fmt.Sprintf("/day/%d", n+1))
			})
			e := crawlArgs(t, status, "--max-alike", most, "--limit", "400", s.URL)
			expect(t, "most "+most, strings.Contains(e.stderr, "/day/#: ever more pages with nothing new, others like it are refused"), most == "20")
		}
	},
	"max-redirects": func(t *testing.T) {
		for limit, want := range map[string]string{"0": "/", "2": "/ /a /aa"} {
			s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"a", http.StatusFound) })
			crawlArgs(t, exitError, "--max-redirects", limit, s.URL)
			expect(t, "of "+limit, s.Paths(), want)
		}
	},
	"no-robots": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		crawlArgs(t, exitDone, s.URL)
		expect(t, "robots.txt without it", s.ForRobots(), 1)
		crawlArgs(t, exitDone, "--no-robots", s.URL)
		expect(t, "robots.txt with it", s.ForRobots(), 1)
		for args, want := range map[string]string{"--no-robots": "/ /a", "--no-robots=false": "/"} {
			s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, `<a rel=nofollow href=/a>`)
			})
			crawlArgs(t, exitDone, args, s.URL)
			expect(t, args, s.Paths(), want)
		}
	},
	"sitemaps": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/sitemap.xml":
				_, _ = w.Write([]byte("<urlset><url><loc>/listed</loc></url></urlset>"))
			default:
				wefttest.HTML(w)
			}
		})
		crawlArgs(t, exitDone, s.URL)
		expect(t, "requested without it", s.Paths(), "/")
		crawlArgs(t, exitDone, "--sitemaps", s.URL)
		expect(t, "requested with it", s.Paths(), "/ / /listed /sitemap.xml")
	},
	"assets": func(t *testing.T) {
		far := wefttest.NewAsked(t, false, wefttest.Star)
		s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
			wefttest.HTML(w)
			if r.URL.Path == "/" {
				fmt.Fprintf(w, `<img src=/a.png><img src="%s/b.png">`, far.URL)
			}
		})
		host, port, _ := strings.Cut(strings.TrimPrefix(s.URL, "http://"), ":")
		prefix := []string{"--scope", "prefix"}
		crawlArgs(t, exitDone, append(prefix, s.URL)...)
		expect(t, "requested without it", s.Paths(), "/")
		crawlArgs(t, exitDone, append(prefix, "--assets", s.URL)...)
		expect(t, "requested with it", s.Paths(), "/ / /a.png")
		expect(t, "requested elsewhere", far.Paths(), "")
		for _, args := range [][]string{{"--assets", "any", s.URL}, {s.URL, "--assets=any"}} {
			e := crawlArgs(t, exitDone, append(prefix, args...)...)
			if !strings.Contains(e.stderr+e.stdout, "1 asset from elsewhere") {
				t.Errorf("%q: the report: %s", args, e.stderr)
			}
		}
		expect(t, "requested elsewhere with any", far.Paths(), "/b.png /b.png")
		e := crawlArgs(t, exitUsage, "--assets=all", host+":"+port)
		if !strings.Contains(e.stderr, `--assets "all": expected one of scope, any, none`) {
			t.Errorf("another value: %s", e.stderr)
		}
	},
	"check-external": func(t *testing.T) {
		far := wefttest.NewAsked(t, false, wefttest.Star)
		s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w, far.URL+"/x", far.URL+"/y") })
		crawlArgs(t, exitDone, "--scope", "prefix", s.URL)
		expect(t, "requested elsewhere", far.Paths(), "")
		e := crawlArgs(t, exitDone, "--scope", "prefix", "--check-external", s.URL)
		expect(t, "requested elsewhere", far.Paths(), "/x /y")
		if !strings.Contains(e.stderr+e.stdout, "2 external links checked") {
			t.Errorf("the report: %s", e.stderr)
		}
	},
	"limit": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, chain)
		e := crawlArgs(t, exitLimit, "--limit", "3", s.URL)
		expect(t, "requested", s.Paths(), "/ /a /aa")
		if !strings.Contains(e.stderr, "stopped by --limit") {
			t.Errorf("the report: %s", e.stderr)
		}
	},
	"limit-per-host": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, chain)
		crawlArgs(t, exitDone, "--limit-per-host", "3", s.URL)
		expect(t, "requested", s.Paths(), "/ /a /aa")
	},
	"max-time": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, chain)
		if e := crawlArgs(t, exitLimit, "--max-alike", "0", "--max-time", "100ms", s.URL); !strings.Contains(e.stderr, "stopped by --max-time") {
			t.Errorf("the report: %s", e.stderr)
		}
	},
	"concurrency": func(t *testing.T) {
		for args, want := range map[string]bool{"-c1": false, "-c2": true} {
			s := wefttest.NewAsked(t, false, two(want))
			crawlArgs(t, exitDone, args, s.URL)
			expect(t, args+", two at once", s.AtOnce() > 1, want)
		}
	},
	"memory": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		crawlArgs(t, exitDone, "--max-body", "40MiB", s.URL)
		crawlArgs(t, exitDone, "--memory", "64MB", s.URL)
		e := crawlArgs(t, exitUsage, "--memory", "64MiB", "--max-body", "40MiB", s.URL)
		expect(t, "message", e.stderr, "weft: --max-body \"40 MiB\": expected at most 21 MiB within 64 MiB of memory, as a page is there as sent, as decoded and in UTF-8\n")
	},
	"per-host": func(t *testing.T) {
		for args, want := range map[string]bool{"--per-host=1": false, "--per-host=2": true} {
			s := wefttest.NewAsked(t, false, two(want))
			crawlArgs(t, exitDone, args, s.URL)
			expect(t, args+", two at once", s.AtOnce() > 1, want)
		}
	},
	"per-domain": func(t *testing.T) {
		for args, want := range map[string]bool{"--per-domain=1": false, "--per-domain=2": true} {
			expect(t, args+", two at once", twoAtOnce(t, want, args), want)
		}
	},
	"per-address": func(t *testing.T) {
		for args, want := range map[string]bool{"--per-address=1": false, "--per-address=2": true} {
			expect(t, args+", two at once", twoAtOnce(t, want, args), want)
		}
	},
	"domain-delay":  func(t *testing.T) { delayed(t, "--domain-delay", "--address-delay") },
	"address-delay": func(t *testing.T) { delayed(t, "--address-delay", "--domain-delay") },
	"delay": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		spread(t, crawlArgs(t, exitDone, "--delay", "200ms", "--job", "job", s.URL), 600*time.Millisecond)
	},
	"rate-limit": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		spread(t, crawlArgs(t, exitDone, "--no-robots", "--rate-limit", "5", "--job", "job", s.URL), 600*time.Millisecond)
	},
	"retries": func(t *testing.T) {
		for tries, want := range map[string]string{"0": "/", "1": "/ /"} {
			s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
			weftRun(t, "crawl", "--retries", tries, s.URL)
			expect(t, "requested, with retries "+tries, s.Paths(), want)
		}
	},
	"give-up": func(t *testing.T) {
		s := httptest.NewUnstartedServer(nil)
		listener := s.Listener
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			w.Header().Set("Content-Type", "text/html")
			if r.URL.Path == "/" {
				fmt.Fprint(w, "<a href=/a></a><a href=/b></a>")
				listener.Close() // it does not come back
			}
		})
		s.Start()
		t.Cleanup(s.Close)
		e := crawlArgs(t, exitDone, "--give-up", "1s", "--max-time", "8s", s.URL) // not hours
		if !strings.Contains(e.stderr, "no response for 1s") {
			// It may be that of the server, or of each URL in flight.
			t.Errorf("the report: %s", e.stderr)
		}
		crawlArgs(t, exitUsage, "--give-up", "0", s.URL)
	},
	"timeout": func(t *testing.T) {
		kind(t, "timeout", "--timeout", "200ms", wefttest.NewAsked(t, false, hang("")).URL)
	},
	"connect-timeout": func(t *testing.T) {
		kind(t, "dial-timeout", "--connect-timeout", "200ms", "--dns", deaf(t), "http://example.test/")
	},
	"tls-timeout": func(t *testing.T) {
		kind(t, "tls-timeout", "--tls-timeout", "200ms", "https://"+silent(t))
	},
	"first-byte-timeout": func(t *testing.T) {
		kind(t, "first-byte-timeout", "--first-byte-timeout", "200ms", wefttest.NewAsked(t, false, hang("")).URL)
	},
	"idle-timeout": func(t *testing.T) {
		kind(t, "idle-timeout", "--idle-timeout", "200ms", wefttest.NewAsked(t, false, hang("half")).URL)
	},
	"min-rate": func(t *testing.T) {
		kind(t, "too-slow", "--min-rate", "1k", wefttest.NewAsked(t, false, hang("half")).URL)
	},
	"max-body": func(t *testing.T) {
		kind(t, "too-large", "--max-body", "10", wefttest.NewAsked(t, false, wefttest.Star).URL)
	},
	"header": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		crawlArgs(t, exitDone, "-H", "Accept-Language: eo", "-H", "X-Name: weft", s.URL)
		for _, r := range s.Got() {
			if r.Header.Get("Accept-Language") != "eo" || r.Header.Get("X-Name") != "weft" {
				t.Errorf("%s was requested with %v", r.URL, r.Header)
			}
		}
	},
	"user-agent": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		crawlArgs(t, exitDone, "-A", "spider/1", s.URL)
		expect(t, "user agent", s.Got()[0].UserAgent(), "spider/1")
	},
	"resolve": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
		crawlArgs(t, exitDone, "--resolve", "*:80:127.0.0.1:"+port, "http://example.test/")
		expect(t, "host", s.Got()[0].Host, "example.test")
	},
	"http1.1": func(t *testing.T) {
		s := wefttest.NewAsked(t, true, wefttest.Star)
		for proto, flags := range map[string][]string{"HTTP/2.0": nil, "HTTP/1.1": {"--http1.1"}} {
			crawlArgs(t, exitDone, append(flags, "-k", s.URL)...)
			expect(t, "protocol", s.Last().Proto, proto)
		}
	},
	"http2": func(t *testing.T) {
		s := wefttest.NewAsked(t, true, wefttest.Star)
		crawlArgs(t, exitDone, "--http2", "-k", s.URL)
		expect(t, "protocol", s.Last().Proto, "HTTP/2.0")
		plain := wefttest.NewAsked(t, false, wefttest.Star)
		crawlArgs(t, exitDone, "--http2", plain.URL)
		expect(t, "protocol", plain.Last().Proto, "HTTP/2.0")
		crawlArgs(t, exitUsage, "--http2", "--http1.1", s.URL)
	},
	"allow-private": func(t *testing.T) {
		inner := wefttest.NewAsked(t, false, wefttest.Star)
		outer := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, inner.URL, http.StatusFound) })
		_, port, _ := net.SplitHostPort(outer.Listener.Addr().String())
		public := []string{"--resolve", "example.test:80:127.0.0.1:" + port, "http://example.test/"}
		kind(t, "blocked-address", public...)
		expect(t, "requests", len(inner.Got()), 0)
		crawlArgs(t, exitDone, append(public, "--allow-private")...)
		if len(inner.Got()) == 0 {
			t.Error("nothing was requested")
		}
		for _, command := range []string{"fetch", "links"} {
			before := len(inner.Got())
			args := append([]string{command}, public...)
			if command == "fetch" {
				args = append(args, "--follow")
			}
			e := weftRun(t, args...)
			if e.code != exitError || !strings.Contains(e.stderr, "blocked-address: 127.0.0.1 is loopback (127.0.0.0/8): --allow-private lets pages lead there\n") {
				t.Errorf("%s: exit %d, %q", command, e.code, e.stderr)
			}
			expect(t, "requests", len(inner.Got()), before)
			if e := weftRun(t, append(args, "--allow-private")...); e.code != exitDone {
				t.Errorf("%s: exit %d, %q", command, e.code, e.stderr)
			}
			args[3] = outer.URL // of this machine: it may lead there
			if e := weftRun(t, args...); e.code != exitDone {
				t.Errorf("%s %s: exit %d, %q", command, outer.URL, e.code, e.stderr)
			}
		}
	},
	"dns": func(t *testing.T) {
		web := webtest.Start(t, webtest.Config{Seed: 1, Hosts: 2, Pages: 2, Clean: true})
		e := crawlArgs(t, exitDone, "--dns", "127.0.0.1:1", "--dns", web.DNS.Addr(), "--scope", "page", "-o", "-", "--format", "urls", web.Web.Home(0))
		expect(t, "fetched", e.stdout, web.Web.Home(0)+"\n")
	},
	"insecure": func(t *testing.T) {
		s := wefttest.NewAsked(t, true, wefttest.Star)
		kind(t, "tls", s.URL)
		crawlArgs(t, exitDone, "-k", s.URL)
	},
	"ca": func(t *testing.T) {
		s := wefttest.NewAsked(t, true, wefttest.Star)
		crawlArgs(t, exitDone, "--ca", certificate(t, s), s.URL)
	},
	"cookies":        effectCookies,
	"accept-cookies": effectAcceptCookies,
	"session":        effectSession,
	"auth":           effectAuth,
	"bearer":         effectBearer,
	"proxy":          effectProxy,
	"job": func(t *testing.T) {
		e := crawlArgs(t, exitDone, "--job", "job", wefttest.NewAsked(t, false, wefttest.Star).URL)
		expect(t, "records", strings.Count(e.file("job/pages.jsonl"), "\n"), 4)
	},
	"cluster":       effectCluster,
	"name":          effectCluster,
	"cluster-creds": effectClusterFile("--cluster-creds"),
	"cluster-ca":    effectClusterFile("--cluster-ca"),
	"cluster-cert":  effectClusterFile("--cluster-cert", "--cluster-key", "key.pem"),
	"cluster-key":   effectClusterFile("--cluster-key", "--cluster-cert", "cert.pem"),
	"output": func(t *testing.T) {
		e := crawlArgs(t, exitDone, "-o", "records", wefttest.NewAsked(t, false, wefttest.Star).URL)
		expect(t, "records", strings.Count(e.file("records"), "\n"), 4)
		if left, _ := os.ReadDir(e.dir); len(left) != 1 {
			t.Errorf("in the folder: %v", left)
		}
	},
	"fields": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		e := crawlArgs(t, exitDone, "-o", "out.csv", "--fields", "status,url", s.URL)
		if got := e.file("out.csv"); !strings.HasPrefix(got, "status,url\n200,"+s.URL+"/\n") || strings.Count(got, "\n") != 5 {
			t.Errorf("out.csv: %s", got)
		}
		for args, want := range map[string]string{
			"--fields ulr,url -o out.csv": `--fields "ulr,url": unknown field "ulr", expected one of url, status`,
			"--fields statu -o out.csv":   `--fields "statu": unknown field "statu": did you mean status?`,
			"--fields url -o -":           `--fields "url": expected together with CSV`,
		} {
			if e := weftRun(t, append([]string{"crawl", s.URL}, strings.Fields(args)...)...); e.code != exitUsage || !strings.Contains(e.stderr, want) {
				t.Errorf("%s: exit %d, %s", args, e.code, e.stderr)
			}
		}
	},
	"format": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		e := crawlArgs(t, exitDone, "-o", "-", "--format", "urls", s.URL)
		if got := strings.Fields(e.stdout); len(got) != 4 || got[0] != s.URL+"/" {
			t.Errorf("urls: %q", got)
		}
		e = crawlArgs(t, exitDone, "-o", "-", "--format", "csv", s.URL)
		if !strings.HasPrefix(e.stdout, "url,status,") || strings.Count(e.stdout, "\n") != 5 {
			t.Errorf("csv: %s", e.stdout)
		}
		e = crawlArgs(t, exitDone, "-o", "out.csv", s.URL)
		if !strings.HasPrefix(e.file("out.csv"), "url,status,") {
			t.Errorf("out.csv: %s", e.file("out.csv"))
		}
		e = crawlArgs(t, exitDone, "-o", "out.csv", "--format", "jsonl", s.URL)
		if !strings.HasPrefix(e.file("out.csv"), "{") {
			t.Errorf("out.csv as JSON lines: %s", e.file("out.csv"))
		}
	},
	"links": func(t *testing.T) {
		e := crawlArgs(t, exitDone, "--links", "--job", "job", wefttest.NewAsked(t, false, wefttest.Star).URL)
		expect(t, "links", strings.Count(e.file("job/links.jsonl"), "\n"), 3)
	},
	"extract": func(t *testing.T) {
		e := crawlArgs(t, exitDone, "--extract", "links:url[]=a", "--job", "job", wefttest.NewAsked(t, false, wefttest.Star).URL)
		expect(t, "items", strings.Count(e.file("job/items.jsonl"), `"links":[`), 1)
		if !strings.Contains(e.stderr, "1 item") {
			t.Errorf("no items in the report: %s", e.stderr)
		}
	},
	"structured": func(t *testing.T) {
		e := crawlArgs(t, exitDone, "--structured", "--job", "job", wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<meta name=author content=Ada>")
		}).URL)
		expect(t, "items", strings.Count(e.file("job/items.jsonl"), `"structured":{"meta":{"author":"Ada"}}`), 1)
	},
	"duplicates": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, copies)
		for duplicates, want := range map[string]string{"off": "", "same": "/c/ /d/", "near": "/b/ /c/ /d/"} {
			e := crawlArgs(t, exitDone, "-c", "1", "--duplicates", duplicates, "-o", "-", s.URL)
			var marked []string
			for line := range strings.Lines(e.stdout) {
				var r weft.Record
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatal(err)
				}
				if r.DuplicateOf+r.NearDuplicateOf == s.URL+"/a/" {
					marked = append(marked, strings.TrimPrefix(r.URL, s.URL))
				}
			}
			expect(t, duplicates, strings.Join(marked, " "), want)
		}
		e := crawlArgs(t, exitDone, "-c", "1", "--duplicates", "near", "--job", "job", s.URL)
		if want := "2 pages identical to another, 1 nearly"; !strings.Contains(e.stderr, want) {
			t.Errorf("%s, expected %s", e.stderr, want)
		}
	},
	"prune-duplicates": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, copies)
		crawlArgs(t, exitDone, "-c", "1", "--prune-duplicates", s.URL)
		expect(t, "requested", s.Paths(), "/ /a/ /a/in /b/ /b/in /c/ /d/")
		if e := weftRun(t, "crawl", "--prune-duplicates", "--duplicates", "off", s.URL); e.code != exitUsage || !strings.Contains(e.stderr, "--prune-duplicates: expected") {
			t.Errorf("of none: exit %d, %s", e.code, e.stderr)
		}
	},
	"render": effectRender,
	"wait":   func(t *testing.T) { reveals(t, "setTimeout(show, 15000)", "--wait", "20s") },
	"click": func(t *testing.T) {
		reveals(t, "button.onclick = () => { show(); button.remove() }", "--click", "button")
	},
	"scroll":      effectScroll,
	"render-post": func(t *testing.T) { reveals(t, "fetch('/', {method: 'POST'}).then(show)", "--render-post") },
	"screenshot":  func(t *testing.T) { pictured(t, "--screenshot", "screenshots", ".png", "image/png", "\x89PNG") },
	"pdf":         func(t *testing.T) { pictured(t, "--pdf", "pdf", ".pdf", "application/pdf", "%PDF-") },
	"block":       effectBlock,
	"browser": func(t *testing.T) {
		e := weftRun(t, "crawl", "--render", "--browser", "no-such-browser", "--job", "job", wefttest.NewAsked(t, false, wefttest.Star).URL)
		if e.code != exitError || !strings.Contains(e.stderr, `browser "no-such-browser"`) {
			t.Errorf("exit %d: %s", e.code, e.stderr)
		}
	},
	"bodies": func(t *testing.T) {
		e := crawlArgs(t, exitDone, "--bodies", "--job", "job", wefttest.NewAsked(t, false, wefttest.Star).URL)
		if kept, _ := os.ReadDir(filepath.Join(e.dir, "job/bodies")); len(kept) == 0 {
			t.Error("no body was kept")
		}
	},
	"markdown": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		e := crawlArgs(t, exitDone, "--markdown", "--job", "job", s.URL)
		if files, _ := filepath.Glob(filepath.Join(e.dir, "job/markdown/*/*.md")); len(files) != 4 || !strings.Contains(e.stderr, "4 texts in job/markdown") {
			t.Errorf("files %q, %s", files, e.stderr)
		}
	},
	"text": func(t *testing.T) {
		e := crawlArgs(t, exitLimit, "--text", "--bodies", "--limit", "2", "--job", "job", wefttest.NewAsked(t, false, wefttest.Star).URL)
		if files, _ := filepath.Glob(filepath.Join(e.dir, "job/text/*/*.txt")); len(files) != 2 {
			t.Errorf("files %q, %s", files, e.stderr)
		}
		if _, err := os.Stat(filepath.Join(e.dir, "job/archive")); err == nil {
			t.Error("bodies are kept twice")
		}
	},
	"warc": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		e := crawlArgs(t, exitDone, "--warc", "--bodies", "--job", "job", s.URL)
		if files, _ := filepath.Glob(filepath.Join(e.dir, "job/archive/weft-*-00001.warc.gz")); len(files) != 1 {
			t.Errorf("archives %q", files)
		}
		if _, err := os.Stat(filepath.Join(e.dir, "job/bodies")); err == nil {
			t.Error("bodies are kept twice")
		}
		for _, c := range []struct{ args, here, there string }{
			{"--scope page", "/ /a.png", "/b.png"},
			{"--assets scope --scope page", "/ /a.png", ""},
			{"--assets none", "/", ""},
			{"--assets=none", "/", ""},
		} {
			far := wefttest.NewAsked(t, false, wefttest.Star)
			page := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) {
				wefttest.HTML(w)
				fmt.Fprintf(w, `<img src=/a.png><img src="%s/b.png">`, far.URL)
			})
			crawlArgs(t, exitDone, append(strings.Fields("--warc "+c.args), page.URL)...)
			expect(t, c.args, page.Paths(), c.here)
			expect(t, c.args+", elsewhere", far.Paths(), c.there)
		}
	},
	"warc-size": func(t *testing.T) {
		e := crawlArgs(t, exitDone, "--warc", "--warc-size", "2KB", "--job", "job", wefttest.NewAsked(t, false, wefttest.Star).URL)
		if files, _ := filepath.Glob(filepath.Join(e.dir, "job/archive/weft-*.warc.gz")); len(files) < 2 {
			t.Errorf("archives %q", files)
		}
	},
	"warc-digest": func(t *testing.T) {
		e := crawlArgs(t, exitDone, "--warc", "--warc-digest", "sha1", "--job", "job", wefttest.NewAsked(t, false, wefttest.Star).URL)
		if index, _ := os.ReadFile(filepath.Join(e.dir, "job/archive/index.cdxj")); bytes.Count(index, []byte(`"sha1:`)) != bytes.Count(index, []byte("\n")) || len(index) == 0 {
			t.Errorf("%s", index)
		}
	},
	"header-fields": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Cache", "HIT")
			w.Header().Set("Server", "a <b>")
			w.Header().Add("Set-Cookie", "a=1")
			w.Header().Add("Set-Cookie", "b="+strings.Repeat("x", 2000))
			if r.URL.Path == "/moved" {
				http.Redirect(w, r, "/", http.StatusFound)
			}
		})
		e := crawlArgs(t, exitDone, "--header-fields", "Server, set-cookie,x-none", "--job", "job", s.URL+"/moved")
		long := "b=" + strings.Repeat("x", 1022)
		want := `"headers":{"server":"a <b>","set-cookie":["a=1","` + long + `"]},`
		if strings.Count(e.file("job/pages.jsonl"), want) != 2 {
			t.Errorf("expected in both records\n%s\n%s", want, e.file("job/pages.jsonl"))
		}
		where := `headers.server contains "<" && headers["set-cookie"] startsWith "a=1, b=" && headers["x-none"] == "" && status == 302`
		csv := weftIn(t, e.dir, "export", "job", "-o", "-", "--fields", "headers", "--format", "csv", "--where", where).stdout
		expect(t, "its CSV", csv, `headers`+"\n"+`"{""server"":""a <b>"",""set-cookie"":[""a=1"",""`+long+`""]}"`+"\n")
		for wrong, says := range map[string]string{"server,Server": "named twice", "a b": "expected the name of a header field", ",": "expected names"} {
			if e := weftIn(t, e.dir, "crawl", "--header-fields", wrong, s.URL); e.code != exitUsage || !strings.Contains(e.stderr, says) {
				t.Errorf("%q: status %d, %s", wrong, e.code, e.stderr)
			}
		}
	},
	"warc-metadata": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, `<a href="http://localhost:1999/">`)
		})
		e := crawlArgs(t, exitDone, "--warc", "--warc-metadata", "--scope", "any", "--retries", "0", "--job", "job", s.URL)
		files, _ := filepath.Glob(filepath.Join(e.dir, "job/archive/*.warc.gz"))
		if list := weftRun(t, append([]string{"warc", "ls"}, files...)...); strings.Count(list.stdout, "metadata") < 2 || !strings.Contains(list.stdout, "http://localhost:1999/") || !strings.Contains(list.stdout, "dns:localhost") {
			t.Errorf("%s%s", list.stdout, list.stderr)
		}
	},
	"fresh": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		first := crawlArgs(t, exitDone, "--job", "job", s.URL)
		for _, c := range []struct {
			flag     string
			requests int
		}{{"--fresh=false", 4}, {"--fresh", 8}} {
			again, stderr := weftCommand(t, "crawl", "--job", "job", c.flag, s.URL)
			again.Dir = first.dir
			if code := exitCode(again.Run()); code != exitDone || len(s.Got()) != c.requests {
				t.Errorf("%s: exit %d, %d requests in all, expected %d: %s", c.flag, code, len(s.Got()), c.requests, stderr)
			}
		}
	},
	"update": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		first := crawlArgs(t, exitDone, "--job", "job", s.URL)
		again, stderr := weftCommand(t, "crawl", "--update", "job")
		again.Dir = first.dir
		if code := exitCode(again.Run()); code != exitDone || len(s.Got()) != 8 {
			t.Errorf("exit %d, %d requests in all, expected 8: %s", code, len(s.Got()), stderr)
		}
	},
	"retry-failed": func(t *testing.T) { retries(t, 2) },
	"status":       func(t *testing.T) { retries(t, 1, "--status", "404") },
	"error":        func(t *testing.T) { retries(t, 1, "--error", "early-end") },
	"where":        func(t *testing.T) { retries(t, 4, "--where", "status != 404") },
	"amend": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, _ *http.Request) { wefttest.HTML(w) })
		first := crawlArgs(t, exitDone, "--job", "job", s.URL+"/one")
		for _, c := range []struct {
			flag  string
			code  int
			asked string
		}{{"--amend=false", exitUsage, "/one"}, {"--amend", exitDone, "/one /two"}} {
			again, stderr := weftCommand(t, "crawl", "--job", "job", c.flag, s.URL+"/one", s.URL+"/two")
			again.Dir = first.dir
			if code := exitCode(again.Run()); code != c.code || s.Paths() != c.asked {
				t.Errorf("%s: exit %d, requested %s; expected %d, %s: %s", c.flag, code, s.Paths(), c.code, c.asked, stderr)
			}
		}
	},
	"older-than": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		dir := crawlArgs(t, exitDone, "--job", "job", s.URL).dir
		first := len(s.Got())
		for _, c := range []struct {
			age  string
			more int
		}{{"0.5d", 0}, {"1w", 0}, {"1h", 0}, {"1ns", first}} {
			before := len(s.Got())
			if e := weftIn(t, dir, "crawl", "--update", "job", "--older-than", c.age); e.code != exitDone || len(s.Got()) != before+c.more {
				t.Errorf("%s: exit %d, %d requests, expected %d: %s", c.age, e.code, len(s.Got())-before, c.more, e.stderr)
			}
		}
	},
	"min-free": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
			<-time.After(20 * time.Millisecond)
			chain(w, r)
		})
		// Without it, the limit is there in a second.
		e := crawlArgs(t, exitLimit, "--job", "job", "--min-free", "7EiB", "--max-time", "4s", "--limit", "50", s.URL)
		if !strings.Contains(e.stderr, "stopped by --max-time") {
			t.Errorf("%d requests while less than that is free: %s", len(s.Got()), e.stderr)
		}
	},
	"quiet": func(t *testing.T) {
		e := crawlArgs(t, exitDone, "-q", wefttest.NewAsked(t, false, wefttest.Star).URL)
		expect(t, "printed", e.stdout+e.stderr, "")
	},
	"verbose": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		e := crawlArgs(t, exitDone, "-v", s.URL)
		lines := strings.Split(e.stderr, "\n")
		for _, path := range []string{"/", "/a", "/b", "/c"} {
			if !slices.ContainsFunc(lines, func(line string) bool {
				return strings.HasPrefix(line, "200 ") && strings.HasSuffix(line, s.URL+path)
			}) {
				t.Errorf("no line for %s: %s", path, e.stderr)
			}
		}
	},
	"log-format": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		e := crawlArgs(t, exitDone, "-v", "--log-format", "json", s.URL)
		checkJSONLog(t, e.stderr, map[string]int{"url": 4, "report": 1})
		e = crawlArgs(t, exitError, "--log-format", "json", "--retries", "0", "http://127.0.0.1:1/")
		if checkJSONLog(t, e.stderr, nil); !strings.Contains(e.stderr, `"level":"ERROR"`) {
			t.Errorf("the last word: %s", e.stderr)
		}
		job := filepath.Join(t.TempDir(), "job")
		steered := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/a" {
				weftRun(t, "ctl", job, "set", "delay=1ms")
			}
			wefttest.Star(w, r)
		})
		crawlArgs(t, exitLimit, "--limit", "1", "--job", job, steered.URL)
		e = crawlArgs(t, exitDone, "--log-format", "json", "--job", job, steered.URL)
		for _, said := range []string{`"level":"INFO","msg":"` + job + `: resuming: `, `"level":"INFO","msg":"order set delay=1ms: `} {
			if !strings.Contains(e.stderr, said) || strings.Contains(e.stderr, "WARN") {
				t.Errorf("%s, expected %s and no warning", e.stderr, said)
			}
		}
	},
	"metrics": effectMetrics,
	"web":     effectWeb,
	"distrust": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, wefttest.Star)
		e := crawlArgs(t, exitError, "--distrust", s.URL)
		if !strings.Contains(e.stderr, "127.0.0.1") || s.Paths() != "" {
			t.Errorf("%s, %v", e.stderr, s.Paths())
		}
	},
	"otlp":         effectTraces,
	"trace-sample": effectTraceSample,
	"log-interval": func(t *testing.T) {
		s := wefttest.NewAsked(t, false, func(w http.ResponseWriter, r *http.Request) {
			<-time.After(20 * time.Millisecond)
			chain(w, r)
		})
		for interval, some := range map[string]bool{"50ms": true, "never": false} {
			e := crawlArgs(t, exitLimit, "--log-interval", interval, "--limit", "20", s.URL)
			if strings.Contains(e.stderr, " waiting, ") != some {
				t.Errorf("%s: %s", interval, e.stderr)
			}
		}
	},
	"help-all": func(t *testing.T) {
		if e := crawlArgs(t, exitDone, "--help-all"); !strings.Contains(e.stdout, "--max-repeats N") {
			t.Errorf("%s", e.stdout)
		}
	},
	"help": func(t *testing.T) {
		if e := crawlArgs(t, exitDone, "--help"); !strings.Contains(e.stdout, "Usage:") || strings.Contains(e.stdout, "--max-repeats N") {
			t.Errorf("%s", e.stdout)
		}
	},
}

// effectCluster: a node crawls into the folder that the crawl's name says.
func effectCluster(t *testing.T) {
	e := crawlArgs(t, exitDone, "--cluster", natsServer(t), "--name", "some", wefttest.NewAsked(t, false, wefttest.Star).URL)
	expect(t, "records", strings.Count(e.file("some.weft/pages.jsonl"), "\n"), 4)
}

// effectClusterFile: the file of a flag is read.
func effectClusterFile(flag string, more ...string) func(*testing.T) {
	return func(t *testing.T) {
		e := crawlArgs(t, exitUsage, append(more, "--cluster", natsServer(t), "--name", "some", flag, "absent.pem", "http://a.test/")...)
		if !strings.Contains(e.stderr, "no such file") {
			t.Errorf("%s", e.stderr)
		}
	}
}

// TestFlags: every flag has an effect.
func TestFlags(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cmd     *cobra.Command
		effects map[string]func(t *testing.T)
	}{{crawlCommand(), effects}} {
		known := 0
		c.cmd.Flags().VisitAll(func(f *pflag.Flag) {
			known++
			effect := c.effects[f.Name]
			if effect == nil {
				t.Errorf("%s: --%s has no test of what it does", c.cmd.Name(), f.Name)
				return
			}
			t.Run(c.cmd.Name()+"/"+f.Name, func(t *testing.T) {
				t.Parallel()
				effect(t)
			})
		})
		if known != len(c.effects) {
			t.Errorf("%s: %d flags, and tests for %d", c.cmd.Name(), known, len(c.effects))
		}
	}
}

// flagIgnored is the environment variable with which each test of TestFlags runs the command
// without its flag, as if the command ignored it.
const flagIgnored = "WEFT_TEST_FLAG_IGNORED"

// withoutItsFlag returns the arguments of weft crawl without the flag that the test's name has.
func withoutItsFlag(t *testing.T, args []string) (left []string) {
	name, _, _ := strings.Cut(strings.TrimPrefix(t.Name(), "TestFlags/crawl/"), "/")
	f := crawlCommand().Flags().Lookup(name)
	if f == nil || len(args) == 0 || args[0] != "crawl" {
		return args
	}
	for i := 0; i < len(args); i++ {
		short := f.Shorthand != "" && strings.HasPrefix(args[i], "-"+f.Shorthand)
		switch arg := args[i]; {
		case arg == "--"+name || short && len(arg) == 2:
			if f.NoOptDefVal == "" {
				i++ // its value
			}
		case short || strings.HasPrefix(arg, "--"+name+"="):
		default:
			left = append(left, arg)
		}
	}
	return left
}

// TestFlagsTell: the test of each flag fails if the command ignores that flag.
func TestFlagsTell(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFlags$", "-test.v", "-test.parallel=8")
	cmd.Env = append(os.Environ(), flagIgnored+"=1")
	out, err := cmd.CombinedOutput()
	if exitCode(err) != 1 {
		t.Fatalf("exit %d, expected 1: %s", exitCode(err), out)
	}
	crawlCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if !bytes.Contains(out, []byte("--- FAIL: TestFlags/crawl/"+f.Name+" ")) {
			t.Errorf("--%s may be ignored", f.Name)
		}
	})
}
