package fetch_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weftcrawl/weft"
	"github.com/weftcrawl/weft/internal/crawltest"
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/robots"
)

// TestLongRobotsRedirect: a robots.txt that redirects to a URL longer than any page has is not
// followed: a thousand sites could make a crawl hold as many of them.
func TestLongRobotsRedirect(t *testing.T) {
	for length, follows := range map[int]bool{1000: true, 3000: false, 60_000: false} {
		target := "http://b.test/" + strings.Repeat("x", length)
		w := crawltest.Web{
			"http://a.test/": "a page", "http://a.test/robots.txt": "302 " + target,
			target: "User-agent: *\nDisallow: /",
		}
		if length > 8000 {
			delete(w, target) // it does not fit into the server's buffer
		}
		got, _, seen := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}})
		if followed := slices.Contains(seen.URLs(), target); followed != follows {
			t.Errorf("%d bytes: followed %t", length, followed)
		}
		if r := got["http://a.test/"]; (r.Status == 200) != !follows {
			t.Errorf("%d bytes: status %d, %s", length, r.Status, r.Error)
		}
	}
}

// TestRobots checks that a host's robots.txt is fetched once, before anything else, and that a
// disallowed URL gets a record but no request.
func TestRobots(t *testing.T) {
	w := crawltest.Web{
		"http://a.test/robots.txt": "User-agent: *\nDisallow: /\n\nUser-agent: weft\nDisallow: /private\nAllow: /private/but\n",
		"http://a.test/":           crawltest.Links("/private/x", "/private/but", "/public", "http://b.test/", "http://c.test/"),
		"http://a.test/private/x":  "a page", "http://a.test/private/but": "a page", "http://a.test/public": "a page",
		"http://b.test/robots.txt": "301 http://d.test/robots.txt", "http://b.test/": "a page",
		"http://d.test/robots.txt": "User-agent: *\nDisallow: /",
		"http://c.test/robots.txt": "503", "http://c.test/": "a page",
	}
	got, sum, seen := w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{Scope: weft.ScopeAny}, Pace: weft.Pace{Retries: 1}})
	want := []string{"http://a.test/", "http://a.test/private/but", "http://a.test/public"}
	if urls := crawltest.Fetched(got); !slices.Equal(urls, want) {
		t.Errorf("fetched %q, expected %q", urls, want)
	}
	if urls := seen.URLs(); urls[0] != "http://a.test/robots.txt" || slices.Contains(urls, "http://a.test/private/x") {
		t.Errorf("requested %q", urls)
	}
	if r := got["http://a.test/private/x"]; r.ErrorKind != weft.KindRobots || !strings.Contains(r.Error, "line 5: Disallow: /private") || r.Tries != 0 {
		t.Errorf("record of a disallowed URL: %+v", r)
	}
	if r := got["http://b.test/"]; r.ErrorKind != weft.KindRobots {
		t.Errorf("record of a URL disallowed by a redirected robots.txt: %+v", r)
	}
	if r := got["http://c.test/"]; r.ErrorKind != weft.KindNoRobots || !strings.Contains(r.Error, "503") {
		t.Errorf("record of a URL whose robots.txt is unreachable: %+v", r)
	}
	if sum.Robots != 4 { // c.test twice
		t.Errorf("%d requests for robots.txt, expected 4", sum.Robots)
	}
	_, _, seen = w.Crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Reach: weft.Reach{NoRobots: true}})
	if urls := seen.URLs(); slices.Contains(urls, "http://a.test/robots.txt") || !slices.Contains(urls, "http://a.test/private/x") {
		t.Errorf("with NoRobots, requested %q", urls)
	}
}

// TestManyRobotsOnOneHost redirects the robots.txt of many hosts to one server, as operators of
// parked domains do. That server is requested as politely as for pages, and its rules apply to
// every host.
func TestManyRobotsOnOneHost(t *testing.T) {
	const hosts = 50
	w := crawltest.Web{"http://hoster.test/parked.txt": "User-agent: *\nDisallow: /private"}
	var o weft.Options
	for i := range hosts {
		host := fmt.Sprintf("http://h%d.test", i)
		w[host+"/robots.txt"], w[host+"/"], w[host+"/private"] = "302 http://hoster.test/parked.txt", crawltest.Links("/private"), "a page"
		o.Seeds = append(o.Seeds, host+"/")
	}
	o.Pace.Delay = time.Second
	got, sum, seen := w.Crawl(t, o)
	var there crawltest.Requests
	for _, v := range seen {
		if v.URL == "http://hoster.test/parked.txt" {
			there = append(there, v)
		}
	}
	if len(there) != hosts || there.Most() != 1 || there.Gap() < time.Second {
		t.Errorf("%d requests, %d at once, smallest gap %v", len(there), there.Most(), there.Gap())
	}
	if sum.Pages != hosts || sum.Robots != hosts || sum.Errors[weft.KindRobots].URLs != hosts || len(got) != 2*hosts {
		t.Errorf("%d records, summary %+v", len(got), sum)
	}
}

// TestRobotsRedirects checks that up to five redirects of robots.txt are followed, across hosts and
// with each host's delay. After more redirects, or a loop, no rules apply (RFC 9309, section
// 2.3.1.2). If a redirect leads to an unreachable host, the URL fails.
func TestRobotsRedirects(t *testing.T) {
	chain := func(n int) crawltest.Web {
		w := crawltest.Web{"http://h.test/": crawltest.Links("/private"), "http://h.test/private": "a page", "http://h.test/robots.txt": "301 http://r1.test/"}
		for i := 1; i < n; i++ {
			w[fmt.Sprintf("http://r%d.test/", i)] = fmt.Sprintf("301 http://r%d.test/", i+1)
		}
		w[fmt.Sprintf("http://r%d.test/", n)] = "User-agent: *\nDisallow: /private"
		return w
	}
	for _, c := range []struct {
		name  string
		web   crawltest.Web
		kind  string // of the seed's record
		pages int
		sent  int // requests before the first page
	}{
		{"five", chain(5), "", 1, 6},
		{"six", chain(6), "", 2, 6},
		{"a loop", crawltest.Web{"http://h.test/robots.txt": "301 http://r.test/", "http://r.test/": "301 /robots.txt", "http://r.test/robots.txt": "302 http://h.test/robots.txt", "http://h.test/": "a page"}, "", 1, 6},
		{"on one host", crawltest.Web{"http://h.test/robots.txt": "301 /1", "http://h.test/1": "301 /2", "http://h.test/2": "User-agent: *\nDisallow: /", "http://h.test/": "a page"}, "robots", 0, 3},
		{"to an unknown host", crawltest.Web{"http://h.test/robots.txt": "301 http://nowhere.test/", "http://h.test/": "a page"}, "dns", 0, 1},
		{"to a closed port", crawltest.Web{"http://h.test/robots.txt": "301 http://h.test:81/", "http://h.test/": "a page"}, "connect", 0, 3},
		{"to this machine", crawltest.Web{"http://h.test/robots.txt": "301 http://127.0.0.1/", "http://h.test/": "a page"}, "blocked-address", 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, sum, seen := c.web.Crawl(t, weft.Options{Seeds: []string{"http://h.test/"}, Pace: weft.Pace{Delay: time.Second}})
			sent := slices.Index(seen.URLs(), "http://h.test/")
			if sent < 0 {
				sent = len(seen)
			}
			if r := got["http://h.test/"]; r.ErrorKind != c.kind || sum.Pages != c.pages || sent != c.sent {
				t.Errorf("record %+v, %d pages, requested %q", r, sum.Pages, seen.URLs())
			}
			host := slices.DeleteFunc(seen, func(v crawltest.Request) bool { return !strings.HasPrefix(v.URL, "http://h.test") })
			if host.Gap() < time.Second {
				t.Errorf("h.test was requested again after %v", host.Gap())
			}
		})
	}
}

// TestLongRobots checks that the first 500 KiB of an overlong robots.txt apply, however it is
// transferred, and whatever the size limit of pages. A line cut off there does not apply: a prefix
// of a rule matches more than the rule.
func TestLongRobots(t *testing.T) {
	// file returns a robots.txt with a rule at the start, one after so many bytes, an overlong rule
	// whose every prefix would disallow /half, and a rule beyond it.
	file := func(before, endless int) (head, rest string) {
		head = "User-agent: *\nDisallow: /first\n" + strings.Repeat("# nothing\n", before/10) + "Disallow: /last\n"
		return head, "Disallow: /half" + strings.Repeat("*", endless) + "/but-not-this\nDisallow: /beyond\n"
	}
	const near = robots.MaxSize - 1000
	zip := func(level int, head, rest string, piece int) []byte {
		var b bytes.Buffer
		z, _ := gzip.NewWriterLevel(&b, level)
		_, _ = z.Write([]byte(head))
		for part := range slices.Chunk([]byte(rest), piece) {
			_, _ = z.Write(part)
			_ = z.Flush()
		}
		_ = z.Close()
		return b.Bytes()
	}
	head, rest := file(100_000, 100_000)
	padded := zip(gzip.NoCompression, head, rest, 1) // 11 bytes for each of rest
	for name, send := range map[string]func(w http.ResponseWriter){
		"plain": func(w http.ResponseWriter) {
			head, rest := file(near, 2<<20)
			w.Header().Set("Content-Length", fmt.Sprint(len(head+rest)))
			fmt.Fprint(w, head, rest)
		},
		"chunked": func(w http.ResponseWriter) {
			head, rest := file(near, 2<<20)
			for part := range slices.Chunk([]byte(head+rest), 100_000) {
				_, _ = w.Write(part)
				w.(http.Flusher).Flush()
			}
		},
		"gzip": func(w http.ResponseWriter) {
			head, rest := file(near, 2<<20)
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(zip(gzip.DefaultCompression, head, rest, 1<<20))
		},
		// The accepted compressed bytes decompress to less than the limit of robots.txt.
		"gzip, larger than its content": func(w http.ResponseWriter) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(padded)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					send(w)
					return
				}
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, crawltest.Links("/first", "/last", "/half", "/beyond"))
			}))
			defer server.Close()
			job := filepath.Join(t.TempDir(), "job")
			c, err := weft.New(weft.Options{Seeds: []string{server.URL + "/"}, Job: job, HTTP: weft.HTTP{MaxBody: 1000}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := crawltest.Records(t, job)
			for path, refused := range map[string]bool{"/": false, "/first": true, "/last": true, "/half": false, "/beyond": false} {
				r := got[server.URL+path]
				if refused && r.ErrorKind != weft.KindRobots || !refused && r.Status != 200 {
					t.Errorf("%s: status %d, error %s: %s; expected it disallowed: %t", path, r.Status, r.ErrorKind, r.Error, refused)
				}
			}
		})
	}
}

// TestBrokenBodyOfRobots: the body of a response that is no robots.txt is not needed, so it may be
// broken. Without that of a robots.txt the host stays closed.
func TestBrokenBodyOfRobots(t *testing.T) {
	for status, kind := range map[int]string{404: "", 403: "", 302: "", 200: "encoding", 503: weft.KindNoRobots} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					w.Header().Set("Content-Encoding", "gzip")
					w.Header().Set("Location", "/rules")
					w.WriteHeader(status)
				}
				fmt.Fprint(w, "User-agent: *")
			}))
			defer server.Close()
			job := filepath.Join(t.TempDir(), "job")
			c, err := weft.New(weft.Options{Seeds: []string{server.URL + "/"}, Job: job})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if r := crawltest.Records(t, job)[server.URL+"/"]; r.ErrorKind != kind {
				t.Errorf("status %d, error %s: %s; expected the error %q", r.Status, r.ErrorKind, r.Error, kind)
			}
		})
	}
}

// TestHostileRobots: a robots.txt as long as it may be, and a page with as much to compare it with,
// cost a crawl little time. The bound is generous: seconds for work of milliseconds.
func TestHostileRobots(t *testing.T) {
	const n = 1500
	letters := strings.Repeat("a", 1950)
	var file, page strings.Builder
	file.WriteString("User-agent: *\nDisallow: /a\n")
	for i := 0; file.Len() < robots.MaxSize-100; i++ {
		fmt.Fprintf(&file, "Disallow: /*%s%db\n", letters[:64+i%40], i)
	}
	for i := range n {
		fmt.Fprintf(&page, "<a href=/%s%d>", letters, i)
	}
	w := crawltest.Web{
		"http://hostile.test/robots.txt": file.String(), "http://hostile.test/": page.String(),
		"http://healthy.test/robots.txt": "User-agent: *\nDisallow: /x", "http://healthy.test/": crawltest.Links("/1"), "http://healthy.test/1": "a page",
	}
	start := process.CPU() // wall time grows with the load of the machine
	got, sum, _ := w.Crawl(t, weft.Options{Seeds: []string{"http://hostile.test/", "http://healthy.test/"}})
	if took := process.CPU() - start; took > 6*time.Second {
		t.Errorf("took %v", took)
	}
	if sum.Refused != n || sum.Pages != 3 || got["http://healthy.test/1"].Status != 200 {
		t.Errorf("%d URLs are refused and %d fetched, expected %d and 3: %v", sum.Refused, sum.Pages, n, crawltest.Fetched(got))
	}
}
