package sites_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/aio/aiotest"
	"github.com/weftcrawl/weft/internal/long"
)

// missing skips a test that needs something this machine lacks, and names it. In CI the test fails.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("missing: %s", what)
	}
	t.Skipf("missing: %s", what)
}

// realSite is a documentation site served by nginx, with its own access log.
type realSite struct {
	name, port, root string
	pages            int
}

var realSites = []realSite{
	{"small", "8801", "/usr/share/doc/python3.11/html", 527},
	{"medium", "8802", "/usr/share/doc/libboost1.81-doc/doc/html", 3903},
}

// nginx serves the sites on free ports, the small one compressed, until the test ends or stop is
// called. It returns the ports by site name; stop returns the access log, which has one line per
// request (see ../shared/bench/nginx.conf.in).
func nginx(t *testing.T) (ports map[string]string, stop func() (log string)) {
	t.Helper()
	bench := os.Getenv("WEFT_BENCH")
	if bench == "" {
		bench = "../../../shared/bench"
	}
	conf, err := os.ReadFile(filepath.Join(bench, "nginx/nginx.conf.in"))
	if err != nil {
		missing(t, "the configuration of the sites to crawl: "+err.Error())
	}
	bin, err := exec.LookPath("nginx")
	if err != nil {
		missing(t, "nginx")
	}
	for _, s := range realSites {
		if _, err := os.Stat(filepath.Join(s.root, "index.html")); err != nil {
			missing(t, "the pages of the "+s.name+" site: "+err.Error())
		}
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "access.log")
	text := strings.NewReplacer("@RUN@", dir, "@LOG@", log, "@EXTRA@", "").Replace(string(conf))
	text = strings.ReplaceAll(text, "{ listen 127.0.0.1:8802", "{ gzip off; listen 127.0.0.1:8802")
	ports = make(map[string]string)
	for _, s := range realSites {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_, port, _ := net.SplitHostPort(ln.Addr().String())
		ln.Close()
		ports[s.name] = port
		text = strings.ReplaceAll(text, "127.0.0.1:"+s.port, "127.0.0.1:"+port)
	}
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	os.Chmod(filepath.Dir(dir), 0o755) // its worker runs as another user
	os.Chmod(dir, 0o777)
	var stderr bytes.Buffer
	cmd := exec.Command(bin, "-c", path)
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	interrupt := sync.OnceFunc(func() {
		cmd.Process.Signal(os.Interrupt) // a fast shutdown, which flushes the log
		<-ended
	})
	t.Cleanup(interrupt)
	stop = func() string {
		interrupt()
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	for {
		c, err := net.Dial("tcp", "127.0.0.1:"+ports["medium"])
		if err == nil {
			c.Close()
			return ports, stop
		}
		select {
		case err := <-ended:
			ended <- err
			t.Fatalf("nginx: %v\n%s", err, &stderr)
		default:
		}
	}
}

// TestRealSites crawls two real documentation sites completely, with one worker, a few and many.
// Every reachable page is fetched, and none twice.
func TestRealSites(t *testing.T) {
	ports, stop := nginx(t)
	bench := os.Getenv("WEFT_BENCH")
	if bench == "" {
		bench = "../../../shared/bench"
	}
	requests := make(map[string]int)
	for _, s := range realSites {
		list, err := os.ReadFile(filepath.Join(bench, "urls-"+s.name+".txt"))
		if err != nil {
			missing(t, err.Error())
		}
		origin := "http://127.0.0.1:" + ports[s.name]
		want := make(map[string]bool)
		for u := range strings.Lines(string(list)) {
			want[strings.Replace(strings.TrimSpace(u), "http://127.0.0.1:"+s.port, origin, 1)] = true
		}
		if len(want) != s.pages {
			t.Fatalf("%d pages in the list of site %s, expected %d", len(want), s.name, s.pages)
		}
		workerCounts := long.Or([]int{8}, []int{1, 8, 256})
		if s.name == "medium" {
			workerCounts = long.Or([]int{256}, workerCounts)
		}
		for _, workers := range workerCounts {
			t.Run(fmt.Sprintf("%s, %d workers", s.name, workers), func(t *testing.T) {
				aiotest.CheckLeaks(t)
				job := filepath.Join(t.TempDir(), "job")
				c, err := weft.New(weft.Options{Seeds: []string{origin}, Job: job, Pace: weft.Pace{Concurrency: workers}})
				if err != nil {
					t.Fatal(err)
				}
				sum, err := c.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				requests["GET /robots.txt"]++
				got := make(map[string]bool)
				for u, r := range records(t, job) {
					uri := strings.TrimPrefix(u, origin)
					if r.Status == 400 { // "operator%.html": nginx logs no URI that it cannot decode
						uri = "-"
					}
					requests["GET "+uri]++
					if r.ErrorKind != "" {
						t.Errorf("%s: %s: %s", u, r.ErrorKind, r.Error)
					}
					if r.Status == 200 && strings.HasPrefix(r.ContentType, "text/html") {
						got[u] = true
					}
				}
				for u := range want {
					if !got[u] {
						t.Errorf("%s was not fetched", u)
					}
				}
				for u := range got {
					if !want[u] {
						t.Errorf("%s was fetched, but is not in the list", u)
					}
				}
				if sum.Pages != s.pages {
					t.Errorf("%d pages in the summary, expected %d", sum.Pages, s.pages)
				}
				for _, trap := range []string{"too-long", "too-deep", "repeats"} {
					if n := sum.NotFollowed[trap]; n > 0 || sum.OverVariants > 0 {
						t.Errorf("%d links were not followed as %s; %d variants over the limit", n, trap, sum.OverVariants)
					}
				}
			})
		}
	}
	// The server's view: it got one request for each record, and no others.
	got := make(map[string]int)
	for line := range strings.Lines(stop()) {
		got[strings.TrimSpace(line[strings.LastIndex(line, "|")+1:])]++
	}
	if !maps.Equal(got, requests) {
		for uri, n := range got {
			if n != requests[uri] {
				t.Errorf("%q was requested %d times, expected %d", uri, n, requests[uri])
			}
		}
	}
}

// records returns the records of a job by URL, each of which has one.
func records(t *testing.T, job string) map[string]weft.Record {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(job, "pages.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]weft.Record)
	for line := range strings.Lines(string(text)) {
		var r weft.Record
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if _, twice := all[r.URL]; twice {
			t.Errorf("two records of %s", r.URL)
		}
		all[r.URL] = r
	}
	return all
}
