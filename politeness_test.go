package weft_test

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
	"github.com/weftcrawl/weft/internal/process"
	"github.com/weftcrawl/weft/robots"
)

// TestRobots checks that a host's robots.txt is fetched once, before anything else, and that a
// disallowed URL gets a record but no request.
func TestRobots(t *testing.T) {
	w := web{
		"http://a.test/robots.txt": "User-agent: *\nDisallow: /\n\nUser-agent: weft\nDisallow: /private\nAllow: /private/but\n",
		"http://a.test/":           a("/private/x", "/private/but", "/public", "http://b.test/", "http://c.test/"),
		"http://a.test/private/x":  "a page", "http://a.test/private/but": "a page", "http://a.test/public": "a page",
		"http://b.test/robots.txt": "301 http://d.test/robots.txt", "http://b.test/": "a page",
		"http://d.test/robots.txt": "User-agent: *\nDisallow: /",
		"http://c.test/robots.txt": "503", "http://c.test/": "a page",
	}
	got, sum, seen := w.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Scope: weft.ScopeAny, Retries: 1})
	want := []string{"http://a.test/", "http://a.test/private/but", "http://a.test/public"}
	if urls := fetched(got); !slices.Equal(urls, want) {
		t.Errorf("fetched %q, expected %q", urls, want)
	}
	if urls := seen.urls(); urls[0] != "http://a.test/robots.txt" || slices.Contains(urls, "http://a.test/private/x") {
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
	_, _, seen = w.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, NoRobots: true})
	if urls := seen.urls(); slices.Contains(urls, "http://a.test/robots.txt") || !slices.Contains(urls, "http://a.test/private/x") {
		t.Errorf("with NoRobots, requested %q", urls)
	}
}

// TestManyRobotsOnOneHost redirects the robots.txt of many hosts to one server, as operators of
// parked domains do. That server is requested as politely as for pages, and its rules apply to
// every host.
func TestManyRobotsOnOneHost(t *testing.T) {
	const hosts = 50
	w := web{"http://hoster.test/parked.txt": "User-agent: *\nDisallow: /private"}
	var o weft.Options
	for i := range hosts {
		host := fmt.Sprintf("http://h%d.test", i)
		w[host+"/robots.txt"], w[host+"/"], w[host+"/private"] = "302 http://hoster.test/parked.txt", a("/private"), "a page"
		o.Seeds = append(o.Seeds, host+"/")
	}
	o.Delay = time.Second
	got, sum, seen := w.crawl(t, o)
	var there requests
	for _, v := range seen {
		if v.url == "http://hoster.test/parked.txt" {
			there = append(there, v)
		}
	}
	if len(there) != hosts || there.most() != 1 || there.gap() < time.Second {
		t.Errorf("%d requests, %d at once, smallest gap %v", len(there), there.most(), there.gap())
	}
	if sum.Pages != hosts || sum.Robots != hosts || sum.Errors[weft.KindRobots].URLs != hosts || len(got) != 2*hosts {
		t.Errorf("%d records, summary %+v", len(got), sum)
	}
}

// TestRobotsRedirects checks that up to five redirects of robots.txt are followed, across hosts and
// with each host's delay. After more redirects, or a loop, no rules apply (RFC 9309, section
// 2.3.1.2). If a redirect leads to an unreachable host, the URL fails.
func TestRobotsRedirects(t *testing.T) {
	chain := func(n int) web {
		w := web{"http://h.test/": a("/private"), "http://h.test/private": "a page", "http://h.test/robots.txt": "301 http://r1.test/"}
		for i := 1; i < n; i++ {
			w[fmt.Sprintf("http://r%d.test/", i)] = fmt.Sprintf("301 http://r%d.test/", i+1)
		}
		w[fmt.Sprintf("http://r%d.test/", n)] = "User-agent: *\nDisallow: /private"
		return w
	}
	for _, c := range []struct {
		name  string
		web   web
		kind  string // of the seed's record
		pages int
		sent  int // requests before the first page
	}{
		{"five", chain(5), "", 1, 6},
		{"six", chain(6), "", 2, 6},
		{"a loop", web{"http://h.test/robots.txt": "301 http://r.test/", "http://r.test/": "301 /robots.txt", "http://r.test/robots.txt": "302 http://h.test/robots.txt", "http://h.test/": "a page"}, "", 1, 6},
		{"on one host", web{"http://h.test/robots.txt": "301 /1", "http://h.test/1": "301 /2", "http://h.test/2": "User-agent: *\nDisallow: /", "http://h.test/": "a page"}, "robots", 0, 3},
		{"to an unknown host", web{"http://h.test/robots.txt": "301 http://nowhere.test/", "http://h.test/": "a page"}, "dns", 0, 1},
		{"to a closed port", web{"http://h.test/robots.txt": "301 http://h.test:81/", "http://h.test/": "a page"}, "connect", 0, 3},
		{"to this machine", web{"http://h.test/robots.txt": "301 http://127.0.0.1/", "http://h.test/": "a page"}, "blocked-address", 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, sum, seen := c.web.crawl(t, weft.Options{Seeds: []string{"http://h.test/"}, Delay: time.Second})
			sent := slices.Index(seen.urls(), "http://h.test/")
			if sent < 0 {
				sent = len(seen)
			}
			if r := got["http://h.test/"]; r.ErrorKind != c.kind || sum.Pages != c.pages || sent != c.sent {
				t.Errorf("record %+v, %d pages, requested %q", r, sum.Pages, seen.urls())
			}
			host := slices.DeleteFunc(seen, func(v request) bool { return !strings.HasPrefix(v.url, "http://h.test") })
			if host.gap() < time.Second {
				t.Errorf("h.test was requested again after %v", host.gap())
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
				fmt.Fprint(w, a("/first", "/last", "/half", "/beyond"))
			}))
			defer server.Close()
			job := filepath.Join(t.TempDir(), "job")
			c, err := weft.New(weft.Options{Seeds: []string{server.URL + "/"}, Job: job, MaxBody: 1000})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := records(t, job)
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
			if r := records(t, job)[server.URL+"/"]; r.ErrorKind != kind {
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
	w := web{
		"http://hostile.test/robots.txt": file.String(), "http://hostile.test/": page.String(),
		"http://healthy.test/robots.txt": "User-agent: *\nDisallow: /x", "http://healthy.test/": a("/1"), "http://healthy.test/1": "a page",
	}
	start := process.CPU() // wall time grows with the load of the machine
	got, sum, _ := w.crawl(t, weft.Options{Seeds: []string{"http://hostile.test/", "http://healthy.test/"}})
	if took := process.CPU() - start; took > 6*time.Second {
		t.Errorf("took %v", took)
	}
	if sum.Refused != n || sum.Pages != 3 || got["http://healthy.test/1"].Status != 200 {
		t.Errorf("%d URLs are refused and %d fetched, expected %d and 3: %v", sum.Refused, sum.Pages, n, fetched(got))
	}
}

// TestDeadHostError checks that the URL of an unreachable host gets the network error, not an error
// about robots.txt.
func TestDeadHostError(t *testing.T) {
	got, _, _ := web{"http://a.test/": a("http://a.test:81/", "http://nowhere.test/")}.crawl(t,
		weft.Options{Seeds: []string{"http://a.test/"}, Scope: weft.ScopeAny, Retries: 1})
	if r := got["http://a.test:81/"]; r.ErrorKind != "connect" {
		t.Errorf("record of a URL with a closed port: %+v", r)
	}
	if r := got["http://nowhere.test/"]; r.ErrorKind != "dns" {
		t.Errorf("record of a URL with an unknown host: %+v", r)
	}
}

// flat returns a site whose home page links to n pages.
func flat(n int) web {
	w := web{}
	var links []string
	for i := range n {
		links = append(links, fmt.Sprintf("/%d", i))
		w[fmt.Sprintf("http://a.test/%d", i)] = "a page"
	}
	w["http://a.test/"] = a(links...)
	return w
}

// most returns the maximum number of requests in flight at once.
func (v requests) most() int {
	most := 0
	for _, x := range v {
		n := 0
		for _, y := range v {
			if !y.at.After(x.at) && y.end.After(x.at) {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

// gap returns the shortest time from the end of a response to the start of the next request.
func (v requests) gap() time.Duration {
	v = slices.Clone(v)
	slices.SortFunc(v, func(a, b request) int { return a.at.Compare(b.at) })
	least := time.Hour
	for i := range v[1:] {
		least = min(least, v[i+1].at.Sub(v[i].end))
	}
	return least
}

// TestPace checks the pace of a host by what the server sees.
func TestPace(t *testing.T) {
	seeds := []string{"http://a.test/"}
	t.Run("initial", func(t *testing.T) {
		if _, _, seen := flat(4).crawl(t, weft.Options{Seeds: seeds}); seen.most() != 2 {
			t.Errorf("%d requests at once initially, expected 2", seen.most())
		}
	})
	t.Run("grows while the response time holds", func(t *testing.T) {
		if _, _, seen := flat(200).crawl(t, weft.Options{Seeds: seeds}); seen.most() < 8 || seen.most() > 16 {
			t.Errorf("%d requests at once, expected 8 to 16", seen.most())
		}
	})
	t.Run("per host", func(t *testing.T) {
		if _, _, seen := flat(100).crawl(t, weft.Options{Seeds: seeds, PerHost: 3}); seen.most() != 3 {
			t.Errorf("%d requests at once, expected 3", seen.most())
		}
	})
	t.Run("delay", func(t *testing.T) {
		if _, _, seen := flat(10).crawl(t, weft.Options{Seeds: seeds, Delay: 2 * time.Second}); seen.gap() < 2*time.Second || seen.most() != 1 {
			t.Errorf("gap %v, %d requests at once", seen.gap(), seen.most())
		}
	})
	t.Run("crawl-delay", func(t *testing.T) {
		w := flat(10)
		w["http://a.test/robots.txt"] = "User-agent: *\nCrawl-delay: 3\n"
		if _, _, seen := w.crawl(t, weft.Options{Seeds: seeds, Delay: time.Second}); seen[1:].gap() < 3*time.Second {
			t.Errorf("gap %v", seen[1:].gap())
		}
	})
	t.Run("crawl-delay of ten minutes", func(t *testing.T) {
		w := flat(3)
		w["http://a.test/robots.txt"] = "User-agent: *\nCrawl-delay: 600\n"
		if _, sum, seen := w.crawl(t, weft.Options{Seeds: seeds}); sum.Recorded() != 4 || seen[1:].gap() < 10*time.Minute {
			t.Errorf("%d fetched, gap %v", sum.Recorded(), seen[1:].gap())
		}
	})
	t.Run("crawl-delay of a day", func(t *testing.T) {
		w := flat(3)
		w["http://a.test/robots.txt"] = "User-agent: *\nCrawl-delay: 86400\n"
		got, sum, seen := w.crawl(t, weft.Options{Seeds: seeds})
		r := got["http://a.test/"]
		if r.ErrorKind != weft.KindRobots || !strings.Contains(r.Error, "Crawl-delay of 24h0m0s") || len(seen) != 1 || sum.Elapsed > time.Minute {
			t.Errorf("record %+v, %d requests, after %v", r, len(seen), sum.Elapsed)
		}
	})
	t.Run("rate limit", func(t *testing.T) {
		_, sum, seen := flat(50).crawl(t, weft.Options{Seeds: seeds, RateLimit: 5})
		if least := time.Duration(len(seen)-1) * time.Second / 5; sum.Elapsed < least {
			t.Errorf("%d requests in %v, expected at most 5 per second", len(seen), sum.Elapsed)
		}
	})
	t.Run("retry-after", func(t *testing.T) {
		w := flat(10)
		w["http://a.test/5"] = "503 60"
		got, _, seen := w.crawl(t, weft.Options{Seeds: seeds, PerHost: 1, Retries: 1})
		i := slices.IndexFunc(seen, func(v request) bool { return strings.HasSuffix(v.url, "/5") })
		if i < 0 || i+1 == len(seen) || seen[i+1].at.Sub(seen[i].end) < time.Minute {
			t.Errorf("the host was requested again too early: %v", seen[i:])
		}
		if r := got["http://a.test/5"]; r.Status != 503 || r.Tries != 2 || r.Links != 0 {
			t.Errorf("record %+v", r)
		}
	})
}

// TestRetryAfterForms checks that a back-off honors Retry-After in all its forms: seconds,
// fractions of a second, and dates.
func TestRetryAfterForms(t *testing.T) {
	ask := func(field string) requests {
		w := web{"http://a.test/": "503 " + field}
		_, _, seen := w.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Retries: 1, NoRobots: true})
		if len(seen) != 2 {
			t.Fatalf("Retry-After: %s: %d requests, expected 2", field, len(seen))
		}
		return seen
	}
	began := ask("0")[0].at // on the virtual clock
	for field, least := range map[string]time.Duration{
		began.Add(90 * time.Second).UTC().Format(http.TimeFormat):  89500 * time.Millisecond,
		began.Add(90 * time.Second).UTC().Format(time.RFC850):      89500 * time.Millisecond,
		began.Add(90 * time.Second).UTC().Format(time.ANSIC):       89500 * time.Millisecond,
		began.Add(-90 * time.Second).UTC().Format(http.TimeFormat): 0,
		"7.5": 7500 * time.Millisecond, "0.3": 300 * time.Millisecond, "-5": 0, "soon": 0, "7.": 0, "1.x": 0,
	} {
		if seen := ask(field); seen.gap() < max(time.Second, least) || seen.gap() > max(least, time.Second)+time.Second {
			t.Errorf("Retry-After: %s: requested again after %v, expected about %v", field, seen.gap(), least)
		}
	}
}

// TestRetryAfterIsBounded checks that a Retry-After of any number of seconds holds up a URL for one
// hour at most.
func TestRetryAfterIsBounded(t *testing.T) {
	for _, seconds := range []string{"3601", "2147483647", "2147483648", "99999999999999999999"} {
		w := web{"http://a.test/": "503 " + seconds}
		got, sum, _ := w.crawl(t, weft.Options{Seeds: []string{"http://a.test/"}, Retries: 1, NoRobots: true})
		if r := got["http://a.test/"]; r.Status != 503 || sum.Elapsed < time.Hour || sum.Elapsed > 2*time.Hour {
			t.Errorf("Retry-After: %s: record %+v after %v", seconds, r, sum.Elapsed)
		}
	}
}
